//! An HTTP API that is mocked from its OpenAPI document: Prism checks each request against the document.

use serde_json::{Value, json};

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

/// A call of a tool and the status of its answer.
struct Call {
    tool: &'static str,
    arguments: Value,
    status: u64,
}

/// Connects what one of the public example documents of `@readme/oas-examples` describes, by hand and with a token, finds
/// its tools by `terms` and makes the calls. Prism refuses with 422 what the document does not allow.
async fn is_used(document: &str, tools: u64, terms: &str, first: &str, calls: Vec<Call>) {
    let document = project("infra/npm/node_modules/@readme/oas-examples").join(document);
    let mock = mock_api(&document).await;
    let app = TestApp::local().await;
    let mut agent = Agent::at_work(&app).await;
    let connection = json!({
        "name": "shop",
        "type": "openapi",
        "entry": { "url": mock.url(""), "document_source": std::fs::read_to_string(document).unwrap() },
        "credential": { "kind": "secret", "in": "header", "name": "Authorization", "scheme": "Bearer" },
    });
    let (_, link) = agent.add(connection).await;
    let person = Person::follows(&link).await;
    person.gives("a-token-of-a-customer").await;
    person.sees("connected").await;
    person.leaves().await;

    let found = agent.done("search", json!({ "terms": terms, "server": "shop" })).await;
    let server = &found["servers"][0];
    assert_eq!((&server["type"], &server["tool_count"]), (&json!("openapi"), &json!(tools)), "{found}");
    assert_eq!(server["tools"][0]["name"], first, "{found}");
    let made = calls.len();
    for Call { tool, arguments, status } in calls {
        let answer = agent.execute("shop", tool, arguments).await;
        assert_eq!(
            (&answer["outcome"], &answer["http"]["status"]),
            (&json!("result"), &json!(status)),
            "{tool}: {answer}"
        );
        assert!(answer["answer"].is_object() || answer["answer"].is_array(), "{tool}: {answer}");
    }
    let checked = mock.output().matches("The request passed the validation rules").count();
    assert!(checked >= made, "{}", mock.output());
}

#[tokio::test]
async fn a_pet_shop_of_3_1_is_used() {
    let order = json!({ "petId": 7, "quantity": 2, "shipDate": "2026-10-05T08:00:00Z", "status": "placed" });
    let calls = vec![
        Call { tool: "findPetsByStatus", arguments: json!({ "status": ["available", "sold"] }), status: 200 },
        Call { tool: "getOrderById", arguments: json!({ "orderId": 3 }), status: 200 },
        Call { tool: "placeOrder", arguments: json!({ "body": order }), status: 200 },
    ];
    is_used("3.1/json/petstore.json", 20, "order a pet", "placeOrder", calls).await;
}

#[tokio::test]
async fn a_pet_shop_of_3_0_is_used() {
    let calls = vec![
        Call { tool: "findPets", arguments: json!({ "tags": ["dog", "small"], "limit": 5 }), status: 200 },
        Call { tool: "addPet", arguments: json!({ "body": { "name": "Bello", "tag": "dog" } }), status: 200 },
    ];
    is_used("3.0/json/petstore-expanded.json", 4, "create a new pet", "addPet", calls).await;
}

#[tokio::test]
async fn train_trips_of_3_1_are_booked() {
    let trip = json!({
        "origin": "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e",
        "destination": "b2e783e1-c824-4d63-b37a-d8d698862f1d",
        "date": "2026-10-05T08:00:00Z",
        "bicycles": true,
    });
    let booking =
        json!({ "trip_id": "4f4e4e1c-c824-4d63-b37a-d8d698862f1d", "passenger_name": "Ada", "has_dog": false });
    let calls = vec![
        Call { tool: "get-trips", arguments: trip, status: 200 },
        Call { tool: "create-booking", arguments: json!({ "body": booking }), status: 201 },
    ];
    is_used("3.1/json/train-travel.json", 7, "available train trips", "get-trips", calls).await;
}
