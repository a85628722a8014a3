//! A stream while its answer takes time: its heartbeats, and what a client that leaves brings about.

use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Server, Slow};
use super::talk::{HEARTBEAT, MODERN, REVISIONS, Talk, event};

/// A slow call, in the playbook that [`ready`] makes.
pub fn slow_call() -> Value {
    json!({ "playbook": "orders", "server": "reports", "tool": "report" })
}

/// A client of `revision` whose playbook may call the slow service.
pub async fn ready(server: &Server, revision: &'static str) -> Talk {
    let talk = Talk::at(server.url("/mcp"), revision);
    talk.call("create_playbook", json!({ "playbook": "orders", "name": "Orders" })).await;
    talk
}

/// The kinds of the history, oldest first, with the fact of the last.
pub async fn history(talk: &Talk) -> (Vec<String>, Value) {
    let listed = talk.call("list_playbook_events", json!({ "playbook": "orders", "order": "asc" })).await;
    let events = listed["structuredContent"]["events"].as_array().unwrap();
    let kinds = events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    (kinds, events.last().map(|event| event["data"].clone()).unwrap_or_default())
}

#[tokio::test]
async fn a_slow_call_keeps_its_stream_alive_until_it_answers() {
    let mut slow = Slow::start().await;
    let server = Server::beside(&slow, Duration::from_millis(20)).await;
    let ready = ready(&server, MODERN).await;
    for revision in REVISIONS {
        let talk = Talk::at(server.url("/mcp"), revision);
        let mut stream = talk.open("execute", slow_call()).await;
        slow.arrived().await;
        for _ in 0..2 {
            assert_eq!(stream.chunk().await.unwrap().unwrap(), HEARTBEAT, "{revision}");
        }
        slow.answer();
        let answer = event(&stream.text().await.unwrap());
        assert_eq!(answer["result"]["structuredContent"]["answer"], json!({ "total": 42 }), "{answer}");
        slow.left().await;
    }
    let (kinds, _) = history(&ready).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool_execute_answered").count(), REVISIONS.len());
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_call_in_every_revision() {
    let mut slow = Slow::start().await;
    let server = Server::beside(&slow, Duration::from_secs(5)).await;
    let watcher = ready(&server, MODERN).await;
    for (before, revision) in REVISIONS.into_iter().enumerate() {
        let talk = Talk::at(server.url("/mcp"), revision);
        let stream = talk.open("execute", slow_call()).await;
        slow.arrived().await;
        drop(stream);
        // The call was cut there too, not left to run.
        slow.left().await;
        let recorded = async {
            loop {
                let (kinds, last) = history(&watcher).await;
                if kinds.len() == 2 * (before + 1) {
                    return (kinds, last);
                }
            }
        };
        let (kinds, last) = tokio::time::timeout(Duration::from_secs(10), recorded).await.expect("the end is recorded");
        assert_eq!(kinds[2 * before..], ["tool_execute_started", "tool_execute_failed"], "{revision}");
        assert_eq!(last["because"], "cancelled", "{last}");
    }
}

/// Security case 67.
#[tokio::test]
async fn a_caller_has_so_many_streams_open_and_no_more() {
    let mut slow = Slow::start().await;
    let server = Server::with(&slow, Duration::from_secs(5), &[("STREAMS_CALLER", "3")]).await;
    let talk = ready(&server, MODERN).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(talk.open("execute", slow_call()).await);
        slow.arrived().await;
    }
    let list = || talk.message(Some(9), "tools/list", json!({})).send();
    let refused = list().await.unwrap();
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "5");
    assert_eq!(refused.headers()["content-type"], "application/problem+json");
    let problem: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!(problem["reason"], "too_many_requests");

    // One that ends makes room, however it ends.
    slow.answer();
    slow.left().await;
    let answered = futures_util::future::select_all(open.into_iter().map(|stream| Box::pin(stream.text())));
    let (text, _, rest) = answered.await;
    assert!(event(&text.unwrap())["result"].is_object());
    let again = talk.open("execute", slow_call()).await;
    slow.arrived().await;
    assert_eq!(list().await.unwrap().status(), 429);
    drop((again, rest));
    crate::support::eventually("the streams are closed", async || {
        list().await.ok().filter(|answer| answer.status() == 200)
    })
    .await;
}
