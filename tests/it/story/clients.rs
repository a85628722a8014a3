//! The whole story, once for each official client.

use serde_json::json;

use super::agent::{Agent, PLAYBOOK};
use super::harbour::{Harbour, KEY};
use super::page::Person;
use crate::support::app::{ACCOUNT, TestApp};
use crate::support::peers::Official;

#[tokio::test]
async fn typescript_sdk() {
    tell(Official::TypescriptSdk).await;
}

#[tokio::test]
async fn typescript_client() {
    tell(Official::TypescriptClient).await;
}

#[tokio::test]
async fn python() {
    tell(Official::Python).await;
}

#[tokio::test]
async fn rmcp() {
    tell(Official::Rmcp).await;
}

const DESK: &str = "harbour-desk";

async fn tell(client: Official) {
    let harbour = Harbour::open().await;
    let offered = harbour.offered();
    let app = TestApp::with(&offered.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
    let mut agent = Agent::connect(client, &app).await;

    finds_its_way(&mut agent).await;
    let (words, added) = agent.told("add_connection", json!({ "provider": DESK })).await;
    let link = added["connect"]["url"].as_str().unwrap();
    assert!(words.contains(&format!("[Approve the Harbour desk connection]({link})")), "{words}");
    let (words, problem) = agent.not_executed(DESK, "list_berths", json!({})).await;
    assert_eq!(problem["because"], "connection_pending", "{words}");
    assert!(words.contains("Nobody has approved the Harbour desk connection."), "{words}");

    approves(link).await;
    works(&mut agent).await;
    let sent = harbour.seen();
    assert!(sent.iter().all(|request| request.contains("authorization: Bearer")), "{sent:?}");

    let id = added["id"].as_str().unwrap();
    let removed = agent.done("remove_connection", json!({ "id": id })).await;
    assert_eq!((&removed["status"], removed["removed_by"]["name"].as_str()), (&json!("removed"), Some(ACCOUNT)));
    let (words, problem) = agent.not_executed(DESK, "list_berths", json!({})).await;
    assert_eq!(
        (&problem["status"], &problem["because"]),
        (&json!(503), &json!("tool_server_not_configured")),
        "{words}"
    );
    assert!(words.contains("This playbook has no tool server “harbour-desk”."), "{words}");
    assert!(harbour.seen().is_empty(), "nothing was sent after the removal");
    let everything = app.database().everything().await;
    assert!(!everything.contains(KEY) && !everything.contains(link.rsplit('/').next().unwrap()));
    agent.close().await;
}

/// It looks around, makes a playbook and finds what a person could connect.
async fn finds_its_way(agent: &mut Agent) {
    let tools = agent.tools().await;
    for needed in
        ["create_playbook", "search", "add_connection", "execute", "list_playbook_events", "remove_connection"]
    {
        assert!(tools.iter().any(|tool| tool == needed), "{needed} is not among {tools:?}");
    }
    let (words, made) = agent.told("create_playbook", json!({ "playbook": PLAYBOOK, "name": "Moorings" })).await;
    assert_eq!(made["status"], "active");
    assert!(words.contains("“Moorings”"), "{words}");
    let (words, found) = agent.told("search", json!({ "terms": "free berths of the harbour" })).await;
    assert_eq!((&found["servers"], &found["providers"][0]["name"]), (&json!([]), &json!(DESK)), "{words}");
    assert!(words.contains("A person can connect “Harbour desk”"), "{words}");
}

/// The person first mistypes the key.
async fn approves(link: &str) {
    let person = Person::follows(link).await;
    assert_eq!(person.heading().await, format!("{ACCOUNT} asked an agent to connect Harbour desk to local"));
    person.gives("another-pier-key").await;
    assert_eq!(person.reads_fault().await, "Harbour desk does not take this credential");
    person.gives(KEY).await;
    person.sees("connected").await;
    assert_eq!(person.heading().await, "Harbour desk is connected as North pier");
    person.leaves().await;
}

/// It reads, it books, it is told what the desk refuses, and all of that is in the history.
async fn works(agent: &mut Agent) {
    let found = agent.done("search", json!({ "terms": "berth", "playbook": PLAYBOOK })).await;
    assert_eq!(found["servers"][0]["tools"].as_array().unwrap().len(), 2, "{found}");
    let berths = agent.execute(DESK, "list_berths", json!({})).await;
    assert_eq!((&berths["outcome"], &berths["http"]["status"]), (&json!("result"), &json!(200)));
    assert_eq!(berths["answer"], json!({ "berths": [{ "number": 4, "metres": 12 }] }));
    let booked = agent.execute(DESK, "book_berth", json!({ "body": { "berth": 4 } })).await;
    assert_eq!(booked["answer"]["booking"], "b-1", "{booked}");
    let refused = agent.execute(DESK, "book_berth", json!({ "body": { "berth": 5 } })).await;
    assert_eq!(refused["outcome"], "tool_error");
    assert!(refused["text"].as_str().unwrap().contains("That berth is taken."), "{refused}");

    let events = agent.history().await;
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let call = ["tool_execute_started", "tool_execute_answered"];
    assert_eq!(kinds, [call; 3].concat());
    assert_eq!(events[0]["data"]["call_id"], berths["call_id"]);
    assert_eq!(
        (&events[2]["data"]["tool"], &events[2]["data"]["arguments"]),
        (&json!("book_berth"), &json!({ "body": { "berth": 4 } }))
    );
    assert_eq!(events[3]["metadata"]["causation_id"], events[2]["id"]);
}
