//! A credential arrives in the one place its service looks, written as the service wants it, and nowhere else.
//!
//! The services here are given by hand, with the address of their document.

use serde_json::{Value, json};

use super::agent::{Agent, PLAYBOOK};
use super::harbour::{Harbour, KEY, Place};
use super::page::Person;
use crate::support::app::TestApp;
use crate::support::upstream::Upstream;

#[tokio::test]
async fn in_a_header_after_a_word() {
    let place = Place::Header("authorization", Some("Bearer"));
    arrives(place, json!({ "in": "header", "name": "Authorization", "scheme": "Bearer" })).await;
}

#[tokio::test]
async fn in_a_header_alone() {
    arrives(Place::Header("x-desk-key", None), json!({ "in": "header", "name": "X-Desk-Key" })).await;
}

#[tokio::test]
async fn in_the_query() {
    arrives(Place::Query("desk_key"), json!({ "in": "query", "name": "desk_key" })).await;
}

#[tokio::test]
async fn in_a_cookie() {
    arrives(Place::Cookie("desk"), json!({ "in": "cookie", "name": "desk" })).await;
}

async fn arrives(place: Place, mut credential: Value) {
    let harbour = Harbour::wanting(place).await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    credential["kind"] = "secret".into();
    let entry = json!({ "document": harbour.url("/document") });
    let connection = json!({ "name": "desk", "type": "openapi", "entry": entry, "credential": credential });
    let (_, link) = agent.add(connection).await;
    let person = Person::follows(&link).await;
    person.gives(KEY).await;
    person.sees("connected").await;
    person.leaves().await;

    let read = agent.execute("desk", "list_berths", json!({})).await;
    assert_eq!(read["http"]["status"], 200, "{read}");
    let written = agent.execute("desk", "book_berth", json!({ "body": { "berth": 4 } })).await;
    assert_eq!((&written["http"]["status"], &written["answer"]["booking"]), (&json!(201), &json!("b-1")));
    let seen = harbour.seen();
    assert_eq!(seen.iter().filter(|request| request.matches(KEY).count() == 1).count(), 2, "{seen:?}");
    let history = json!(agent.history().await).to_string();
    assert!(!history.contains(KEY) && !read.to_string().contains(KEY), "the key is told to nobody");
}

#[tokio::test]
async fn a_key_the_service_no_longer_takes_is_told_in_words() {
    let harbour = Harbour::wanting(Place::Query("desk_key")).await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let entry = json!({ "document": harbour.url("/document") });
    let credential = json!({ "kind": "secret", "in": "query", "name": "desk_key" });
    let (_, link) =
        agent.add(json!({ "name": "desk", "type": "openapi", "entry": entry, "credential": credential })).await;
    // Nothing of a document says how to try a key, so a service given by hand finds out at the first call.
    let person = Person::follows(&link).await;
    person.gives("some-old-key").await;
    person.sees("connected").await;
    person.leaves().await;
    let (words, problem) = agent.not_executed("desk", "list_berths", json!({})).await;
    assert_eq!(
        (&problem["kind"], &problem["because"]),
        (&json!("tool_server_failed"), &json!("key_refused")),
        "{words}"
    );
    assert!(!problem.to_string().contains("some-old-key") && !words.contains("some-old-key"));
}

#[tokio::test]
async fn a_variable_of_the_server_is_approved_and_sent() {
    let harbour = Harbour::open().await;
    let app = TestApp::with(&[("CONNECTIONS_VARIABLES", "DESK_*"), ("DESK_KEY", KEY)]).await;
    let mut agent = Agent::at_work(&app).await;
    let entry = json!({ "document": harbour.url("/document"), "allowed": ["list_berths"], "playbooks": [PLAYBOOK] });
    let credential = json!({
        "kind": "reference",
        "variable": "DESK_KEY",
        "in": "header",
        "name": "Authorization",
        "scheme": "Bearer",
    });
    let connection = json!({ "name": "desk", "type": "openapi", "entry": entry, "credential": credential });
    let (_, link) = agent.add(connection).await;
    let person = Person::follows(&link).await;
    let page = person.page().await;
    for words in ["The one behind DESK_KEY", "list_berths", "Moorings", "You give nothing yourself."] {
        assert!(page.contains(words), "{words}: {page}");
    }
    person.browser().picture("approval-reference").await;
    person.presses("button.primary").await;
    person.sees("connected").await;
    person.leaves().await;
    let berths = agent.execute("desk", "list_berths", json!({})).await;
    assert_eq!(berths["http"]["status"], 200, "{berths}");
    let (words, problem) = agent.not_executed("desk", "book_berth", json!({ "body": { "berth": 4 } })).await;
    assert_eq!(problem["because"], "tool_not_allowed", "{words}");
}

#[tokio::test]
async fn an_mcp_server_tells_a_wrong_key_from_the_right_one() {
    let server = Upstream::behind(KEY).await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let credential = json!({ "kind": "secret", "in": "header", "name": "Authorization", "scheme": "Bearer" });
    let connection =
        json!({ "name": "desk", "type": "mcp", "entry": { "url": server.url() }, "credential": credential });
    let (_, link) = agent.add(connection).await;
    let person = Person::follows(&link).await;
    person.gives("not-the-key").await;
    assert_eq!(person.reads_fault().await, "desk does not take this credential");
    person.gives(KEY).await;
    person.sees("connected").await;
    assert_eq!(person.heading().await, "desk is connected");
    person.leaves().await;

    // This server repeats its key in whatever it answers; the agent reads none of it.
    let found = agent.done("search", json!({ "terms": "look up a word", "server": "desk" })).await;
    let answer = agent.execute("desk", "look_up", json!({ "word": "fender" })).await;
    assert_eq!(answer["outcome"], "result", "{answer}");
    assert!(answer["text"].as_str().unwrap().contains("fender"), "{answer}");
    let told = format!("{found}{answer}{}", json!(agent.history().await));
    assert!(!told.contains(KEY), "{told}");
    assert!(server.credentials().contains(&format!("Bearer {KEY}")), "it was sent all the same");
}
