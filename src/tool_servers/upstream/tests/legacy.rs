//! Servers of the older revisions over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::response::Response;
use serde_json::{Value, json};

use super::stand_in::{Seen, StandIn, answer, with_header};
use super::{arguments, context, patient, tool, woken};
use crate::tool_servers::upstream::Because;

/// An older server with a session, named anew at each `initialize`.
fn legacy(seen: &Seen, sessions: &AtomicUsize) -> Response {
    match seen.method() {
        "server/discover" => seen.error(400, -32000, Value::Null),
        "initialize" => {
            let session = format!("s{}", sessions.fetch_add(1, Ordering::SeqCst) + 1);
            let text = seen.result_text(json!({ "protocolVersion": "2025-06-18", "capabilities": {} }));
            with_header(200, "mcp-session-id", &session, &text)
        }
        "tools/list" => seen.result(json!({ "tools": [] })),
        "tools/call" => seen.result(json!({ "content": [{ "type": "text", "text": seen.header("mcp-session-id") }] })),
        _ => answer(202, "text/plain", ""),
    }
}

#[tokio::test]
async fn one_session_is_shared_and_ended() {
    let sessions = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| legacy(seen, &sessions)).await;
    let upstream = server.upstream(patient());
    let (find, none, context) = (tool("find", json!({})), arguments(json!({ "region": "x" })), context());
    let calls = futures_util::future::join_all((0..3).map(|_| upstream.call(&find, &none, &context))).await;
    for called in calls {
        assert_eq!(called.unwrap().text, "s1");
    }
    let call = server.last("tools/call").await;
    assert_eq!(call.header("mcp-protocol-version"), "2025-06-18");
    assert_eq!((call.header("mcp-method"), call.header("mcp-param-region")), ("", ""));
    let meta = json!({ "playmaker/call_id": "call-1", "playmaker/run_id": "run-1" });
    assert_eq!(call.body["params"]["_meta"], meta);
    upstream.close().await;
    let end = server.last("DELETE").await;
    assert_eq!((end.header("mcp-session-id"), end.header("authorization")), ("s1", "Bearer hunter22"));
    let initialize = server.last("initialize").await;
    assert_eq!(initialize.body["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(initialize.body["params"]["capabilities"], json!({}));
}

#[tokio::test]
async fn the_last_to_leave_ends_the_session() {
    let sessions = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| legacy(seen, &sessions)).await;
    let upstream = server.upstream(patient());
    upstream.list().await.unwrap();
    drop(upstream);
    assert_eq!(server.last("DELETE").await.header("mcp-session-id"), "s1");
}

#[tokio::test]
async fn a_session_nobody_uses_is_ended_and_the_era_is_remembered() {
    let sessions = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| legacy(seen, &sessions)).await;
    let (surroundings, clock, wake) = woken();
    let upstream = server.upstream(surroundings);
    upstream.list().await.unwrap();
    clock.advance_ms(5 * 60 * 1000);
    wake.notify_one();
    server.last("DELETE").await;
    upstream.list().await.unwrap();
    let methods = server.methods();
    assert_eq!(methods.iter().filter(|method| *method == "server/discover").count(), 1);
    assert_eq!(methods.iter().filter(|method| *method == "initialize").count(), 2);
}

#[tokio::test]
async fn a_session_the_server_forgot_is_opened_again_and_the_request_repeated() {
    for (status, code) in [(404, -32001), (400, -32000)] {
        let sessions = AtomicUsize::new(0);
        let server = StandIn::serve(move |seen| match seen.header("mcp-session-id") {
            "s1" if seen.method() == "tools/call" => seen.error(status, code, Value::Null),
            _ => legacy(seen, &sessions),
        })
        .await;
        let upstream = server.upstream(patient());
        let before = upstream.list_changes();
        let called = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
        assert_eq!(called.text, "s2");
        assert!(upstream.list_changes() > before, "the tools may be others now");
    }
}

#[tokio::test]
async fn a_server_that_forgets_every_session_is_failing() {
    let sessions = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| match seen.method() {
        "tools/call" => seen.error(404, -32001, Value::Null),
        _ => legacy(seen, &sessions),
    })
    .await;
    let upstream = server.upstream(patient());
    let trouble = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap_err();
    assert_eq!(trouble.because, Because::Failing);
    assert_eq!(server.methods().iter().filter(|method| *method == "initialize").count(), 2);
}

#[tokio::test]
async fn what_the_server_asks_on_a_stream_is_refused() {
    let sessions = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| match seen.method() {
        "tools/call" => answer(
            200,
            "text/event-stream",
            &format!(
                "data: {}\n\ndata: {}\n\n",
                json!({ "jsonrpc": "2.0", "id": "theirs", "method": "roots/list" }),
                seen.result_text(json!({ "content": [] })),
            ),
        ),
        _ => legacy(seen, &sessions),
    })
    .await;
    let upstream = server.upstream(patient());
    upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
    let refusal = server.last("POST").await;
    assert_eq!((&refusal.body["id"], &refusal.body["error"]["code"]), (&json!("theirs"), &json!(-32601)));
    assert_eq!(refusal.header("mcp-session-id"), "s1");
}

#[tokio::test]
async fn dropping_a_call_tells_the_server() {
    let sessions = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| match seen.method() {
        "tools/call" => Response::builder()
            .header("content-type", "text/event-stream")
            .body(axum::body::Body::from_stream(futures_util::stream::pending::<
                Result<axum::body::Bytes, std::io::Error>,
            >()))
            .unwrap(),
        _ => legacy(seen, &sessions),
    })
    .await;
    let upstream = server.upstream(patient());
    let (find, none, context) = (tool("find", json!({})), arguments(json!({})), context());
    let asked = tokio::select! {
        _ = upstream.call(&find, &none, &context) => panic!("the tool never answers"),
        asked = server.last("tools/call") => asked,
    };
    let cancelled = server.last("notifications/cancelled").await;
    assert_eq!(cancelled.body["params"]["requestId"], asked.body["id"]);
}

#[tokio::test]
async fn a_page_that_is_no_server_of_mcp_is_failing() {
    for (status, words) in [(404, "streamable HTTP"), (405, "streamable HTTP"), (200, "does not speak MCP")] {
        let server = StandIn::serve(move |_| answer(status, "text/html", "<html>")).await;
        let trouble = server.upstream(patient()).list().await.unwrap_err();
        assert_eq!(trouble.because, Because::Failing);
        assert!(trouble.detail.contains(words), "{trouble}");
        assert_eq!(server.methods(), ["server/discover", "initialize"]);
    }
}
