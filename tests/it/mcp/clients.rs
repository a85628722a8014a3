//! What known clients send on a server without sign-in, written down by hand in `fixtures/clients`, and what they need to
//! be answered to go on.
//!
//! A script is a list of requests in order. Of an answer it names the status, some headers, and members of the message,
//! which may have others beside them.

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::server::Server;
use super::talk::{Answer, client, event};
use crate::support::services::project;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    #[serde(default = "post")]
    method: String,
    #[serde(default = "endpoint")]
    path: String,
    headers: Map<String, Value>,
    body: Option<Value>,
    status: u16,
    #[serde(default)]
    answered_with: Map<String, Value>,
    message: Option<Value>,
}

fn post() -> String {
    "POST".to_owned()
}

fn endpoint() -> String {
    "/mcp".to_owned()
}

async fn replay(name: &str) {
    let text = std::fs::read_to_string(project("tests/it/fixtures/clients").join(name)).unwrap();
    let script: Vec<Exchange> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let server = Server::start().await;
    let http = client();
    for (at, exchange) in script.into_iter().enumerate() {
        let method = Method::from_bytes(exchange.method.as_bytes()).unwrap();
        let mut request = http.request(method, server.url(&exchange.path));
        for (header, value) in &exchange.headers {
            request = request.header(header, value.as_str().unwrap());
        }
        if let Some(body) = exchange.body {
            request = request.body(body.to_string());
        }
        let answer = Answer::of(request).await;
        let place = format!("{name}, request {at}: {}", answer.text);
        assert_eq!(answer.status, exchange.status, "{place}");
        assert_eq!(answer.header("mcp-session-id"), "", "{place}");
        for (header, value) in &exchange.answered_with {
            assert_eq!(answer.header(header), value.as_str().unwrap(), "{place}");
        }
        if let Some(expected) = exchange.message {
            assert_eq!(answer.header("content-type"), "text/event-stream", "{place}");
            let found = event(&answer.text);
            assert!(holds(&found, &expected), "{place}\nexpected {expected}");
        }
    }
}

/// Whether `found` has every member of `expected`; lists are equal.
fn holds(found: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(members) => {
            members.iter().all(|(name, value)| found.get(name).is_some_and(|found| holds(found, value)))
        }
        _ => found == expected,
    }
}

#[tokio::test]
async fn claude_code_goes_on_without_a_stream_of_its_own() {
    replay("claude-code.json").await;
}

#[tokio::test]
async fn claude_ai_and_claude_desktop_probe_before_they_speak() {
    replay("claude-ai.json").await;
}

#[tokio::test]
async fn chatgpt_brings_members_of_its_own() {
    replay("chatgpt.json").await;
}

#[tokio::test]
async fn codex_names_the_stream_first() {
    replay("codex.json").await;
}

#[tokio::test]
async fn cursor_falls_back_to_nothing() {
    replay("cursor.json").await;
}

#[tokio::test]
async fn vs_code_asks_for_all_there_is() {
    replay("vs-code.json").await;
}
