//! What clients meet while the server stops.

use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;

use super::server::{Server, Slow};
use super::streams::{history, ready, slow_call};
use super::talk::{MODERN, REVISIONS, Talk, event};

#[tokio::test]
async fn a_request_in_hand_is_told_that_it_may_have_taken_effect() {
    for revision in REVISIONS {
        let mut slow = Slow::start().await;
        let server = Server::beside(&slow, Duration::from_secs(5)).await;
        let talk = ready(&server, revision).await;
        let stream = talk.open("execute", slow_call()).await;
        slow.arrived().await;
        server.app.close().await;
        let told = event(&stream.text().await.unwrap());
        let expected = json!({
            "code": -32603,
            "message": "Playmaker stopped while it handled this request, so it may or may not have taken effect",
            "data": { "reason": "stopping" },
        });
        assert_eq!((&told["id"], &told["error"]), (&json!(7), &expected), "{revision}");

        let next = server.again().await;
        let (kinds, last) = history(&Talk::at(next.url("/mcp"), revision)).await;
        assert_eq!(kinds, ["tool_execute_started", "tool_execute_failed"], "{revision}");
        assert_eq!(last["because"], "cancelled");
    }
}

#[tokio::test]
async fn a_request_that_comes_meanwhile_is_asked_to_come_again() {
    let server = Server::start().await;
    let (finish, finished) = oneshot::channel::<()>();
    server.app.lifecycle.spawn(async move {
        let _ = finished.await;
    });
    server.app.lifecycle.stop();
    let closing = tokio::spawn({
        let app = server.app.clone();
        async move { app.close().await }
    });
    for revision in REVISIONS {
        let talk = Talk::at(server.url("/mcp"), revision);
        for _ in 0..2 {
            let answer = talk.ask("tools/list", json!({})).await;
            answer.problem(503, "unavailable");
            assert_eq!((answer.header("retry-after"), answer.header("connection")), ("5", "close"), "{revision}");
        }
    }
    finish.send(()).unwrap();
    closing.await.unwrap();
    let talk = Talk::at(server.url("/mcp"), MODERN);
    assert!(talk.message(Some(7), "tools/list", json!({})).send().await.is_err(), "nobody listens any more");
}
