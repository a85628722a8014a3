//! An HTTP API that is mocked from its OpenAPI document: Prism checks each request against the document.

use serde_json::json;

use super::agent::Agent;
use super::page::Person;
use crate::support::app::TestApp;
use crate::support::services::{lending_api, mock_api, project};

#[tokio::test]
async fn a_library_is_read_and_written() {
    let library = mock_api(&lending_api()).await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let connection = json!({
        "name": "library",
        "type": "openapi",
        "entry": { "url": library.url(""), "document_source": std::fs::read_to_string(lending_api()).unwrap() },
        "credential": { "kind": "secret", "in": "header", "name": "X-Library-Key" },
    });
    let (_, link) = agent.add(connection).await;
    let person = Person::follows(&link).await;
    person.gives("a-reader's-key").await;
    person.sees("connected").await;
    person.leaves().await;

    let found = agent.done("search", json!({ "terms": "lend a book", "server": "library" })).await;
    assert_eq!(found["servers"][0]["tool_count"], 4, "{found}");
    let books = agent.execute("library", "listBooks", json!({ "title": "salt & road", "limit": 5 })).await;
    assert_eq!(books["answer"]["books"][0]["title"], "The Salt Road", "{books}");
    let book = agent.execute("library", "getBook", json!({ "book": "b-1" })).await;
    assert_eq!(book["answer"], json!({ "id": "b-1", "title": "The Salt Road", "copies": 2 }));
    let loan =
        agent.execute("library", "lendBook", json!({ "book": "b-1", "body": { "reader": "Ada", "days": 14 } })).await;
    assert_eq!((&loan["http"]["status"], &loan["answer"]["due"]), (&json!(201), &json!("2031-02-14")), "{loan}");
    let returned = agent.execute("library", "returnBook", json!({ "loan": "l-7" })).await;
    assert_eq!((&returned["outcome"], &returned["http"]["status"]), (&json!("result"), &json!(204)), "{returned}");
    // What the document forbids is found before anything is sent.
    let (words, problem) =
        agent.not_executed("library", "lendBook", json!({ "book": "1", "body": { "reader": "", "days": 90 } })).await;
    let pointers: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|issue| issue["pointer"].clone()).collect();
    assert_eq!(pointers, ["/arguments/book", "/arguments/body/reader", "/arguments/body/days"], "{words}");
}

/// Calendly's public API, by the document that ships with its provider.
#[tokio::test]
async fn a_public_api_takes_what_its_document_says() {
    let document = project("src/connections/documents/calendly.yaml");
    let mock = mock_api(&document).await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let connection = json!({
        "name": "meetings",
        "type": "openapi",
        "entry": { "url": mock.url(""), "document_source": std::fs::read_to_string(document).unwrap() },
        "credential": { "kind": "secret", "in": "header", "name": "Authorization", "scheme": "Bearer" },
    });
    let (_, link) = agent.add(connection).await;
    let person = Person::follows(&link).await;
    person.gives("a token of the person's own").await;
    person.sees("connected").await;
    person.leaves().await;

    // Prism answers 422 to a request that its document does not allow.
    let owner = "https://api.calendly.com/users/A1";
    let times = json!({
        "event_type": "https://api.calendly.com/event_types/E1",
        "start_time": "2026-10-05T08:00:00Z",
        "end_time": "2026-10-06T08:00:00+00:00",
    });
    let link = json!({ "max_event_count": 1, "owner": owner, "owner_type": "EventType" });
    for (tool, arguments) in [
        ("get_current_user", json!({})),
        ("list_event_types", json!({ "user": owner, "count": 5 })),
        ("list_available_times", times),
        ("get_scheduled_event", json!({ "uuid": "E-1" })),
        ("create_scheduling_link", json!({ "body": link })),
    ] {
        let answer = agent.execute("meetings", tool, arguments).await;
        let status = answer["http"]["status"].as_u64().unwrap();
        assert!((200..300).contains(&status) && answer["outcome"] == "result", "{tool}: {answer}");
    }
}
