//! The reference MCP server with every kind of tool: added by an agent over HTTP, and set up by the operator over stdio.

use serde_json::{Value, json};

use super::agent::Agent;
use super::page::Person;
use crate::support::app::TestApp;
use crate::support::services::{everything, everything_over_stdio};

#[tokio::test]
async fn over_http_as_a_connection_without_credential() {
    let server = everything().await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let (id, link) =
        agent.add(json!({ "name": "everything", "type": "mcp", "entry": { "url": server.url("/mcp") } })).await;
    let person = Person::follows(&link).await;
    assert!(person.page().await.contains("None: the server is used without signing in"));
    person.presses("button.primary").await;
    person.sees("connected").await;
    person.leaves().await;

    uses_everything(&mut agent).await;
    agent.done("remove_connection", json!({ "id": id })).await;
    let (_, problem) = agent.not_executed("everything", "echo", json!({ "message": "gone" })).await;
    assert_eq!(problem["because"], "tool_server_not_configured");
}

#[tokio::test]
async fn over_http_that_does_not_answer() {
    let server = everything().await;
    let url = server.url("/mcp");
    drop(server);
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let (id, link) = agent.add(json!({ "name": "everything", "type": "mcp", "entry": { "url": url } })).await;
    let person = Person::without_script(&link).await;
    person.presses("button.primary").await;
    person.sees("provider_error").await;
    person.browser().picture("approval-unreachable").await;
    let page = person.page().await;
    assert!(page.contains("That did not work, and nothing is connected yet.") && page.contains("Try again"), "{page}");
    let connection = app.anyone().get(&format!("/v1/orgs/local/connections/{id}")).await.done(200);
    assert_eq!(connection["status"], "pending");
}

#[tokio::test]
async fn over_stdio_as_a_server_of_the_operator() {
    let (command, args) = everything_over_stdio();
    let servers = json!({ "everything": { "org": "local", "command": command, "args": args } });
    let app = TestApp::with(&[("TOOL_SERVERS", &servers.to_string())]).await;
    let mut agent = Agent::at_work(&app).await;
    uses_everything(&mut agent).await;
}

async fn uses_everything(agent: &mut Agent) {
    let (words, found) = agent.told("search", json!({ "terms": "sum of two numbers" })).await;
    assert_eq!(found["servers"][0]["tools"][0]["name"], "get-sum", "{words}");
    let shown = agent
        .done("introspect", json!({ "playbook": super::agent::PLAYBOOK, "server": "everything", "tool": "get-sum" }))
        .await;
    assert_eq!(shown["input_schema"]["required"], json!(["a", "b"]), "{shown}");

    let echo = agent.execute("everything", "echo", json!({ "message": "ahoy" })).await;
    assert_eq!((&echo["text"], &echo["answer"]), (&json!("Echo: ahoy"), &json!("Echo: ahoy")));
    let sum = agent.execute("everything", "get-sum", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(sum["text"], "The sum of 2 and 3 is 5.");
    let weather = agent.execute("everything", "get-structured-content", json!({ "location": "Chicago" })).await;
    assert_eq!(weather["answer"]["conditions"], "Light rain / drizzle", "{weather}");
    let image = agent.execute("everything", "get-tiny-image", json!({})).await;
    assert!(text(&image).contains("[image/png, ") && !text(&image).contains("iVBOR"), "{image}");
    let links = agent.execute("everything", "get-resource-links", json!({ "count": 2 })).await;
    assert_eq!(text(&links).matches("[link: ").count(), 2, "{links}");
    let resource =
        agent.execute("everything", "get-resource-reference", json!({ "resourceType": "Text", "resourceId": 1 })).await;
    assert!(text(&resource).contains("Resource 1"), "{resource}");
    let (words, problem) = agent.not_executed("everything", "get-sum", json!({ "a": "two", "b": 3 })).await;
    assert_eq!(problem["errors"][0]["pointer"], "/arguments/a", "{words}");
    let (words, problem) = agent.not_executed("everything", "get-product", json!({})).await;
    assert_eq!(problem["because"], "tool_not_listed", "{words}");
}

fn text(answer: &Value) -> &str {
    answer["text"].as_str().unwrap()
}
