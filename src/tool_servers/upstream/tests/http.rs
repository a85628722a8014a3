//! Modern servers (2026-07-28) over HTTP, and how the transport's failures are told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::stand_in::{StandIn, answer, upstream, with_header};
use super::{arguments, context, hurried, patient, tool};
use crate::tool_servers::upstream::Because;

fn text(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

#[tokio::test]
async fn a_modern_server_is_asked_with_everything_in_each_request() {
    let server = StandIn::serve(|seen| match seen.method() {
        "tools/call" => with_header(200, "x-request-id", "their-7", &seen.result_text(text("found"))),
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(hurried().0);
    let listing = upstream.list().await.unwrap();
    assert_eq!(listing.tools[0].name, "find");
    let called =
        upstream.call(&tool("find", json!({})), &arguments(json!({ "region": "Zürich" })), &context()).await.unwrap();
    assert_eq!((called.text.as_str(), called.server_request_id.as_deref()), ("found", Some("their-7")));
    assert_eq!(server.methods(), ["server/discover", "tools/list", "tools/call"]);
    let call = server.last("tools/call").await;
    assert_eq!(call.body["id"], json!(called.jsonrpc_id));
    assert_eq!(call.header("mcp-protocol-version"), "2026-07-28");
    assert_eq!((call.header("mcp-method"), call.header("mcp-name")), ("tools/call", "find"));
    assert_eq!(call.header("mcp-param-region"), "=?base64?WsO8cmljaA==?=");
    assert_eq!(call.header("accept"), "application/json, text/event-stream");
    assert_eq!(call.header("authorization"), "Bearer hunter22");
    let meta = &call.body["params"]["_meta"];
    assert_eq!(meta["playmaker/call_id"], "call-1");
    assert_eq!(meta["playmaker/run_id"], "run-1");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "playmaker");
}

#[tokio::test]
async fn messages_before_the_answer_are_passed_over_but_for_changes_of_the_list() {
    let server = StandIn::serve(|seen| match seen.method() {
        "tools/call" => answer(
            200,
            "text/event-stream",
            &format!(
                ": hello\n\nid: 1\ndata:\n\ndata: {}\n\ndata: {}\n\ndata: {}\n\n",
                json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} }),
                json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
                seen.result_text(text("at last")),
            ),
        ),
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(hurried().0);
    let before = upstream.list().await.unwrap().as_of_change;
    let called = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
    assert_eq!(called.text, "at last");
    assert_eq!(upstream.list_changes(), before + 1);
}

#[tokio::test]
async fn a_server_of_the_future_is_failing_and_both_lists_are_told() {
    let server = StandIn::serve(|seen| seen.error(400, -32022, json!({ "supported": ["2031-01-01"] }))).await;
    let trouble = server.upstream(hurried().0).list().await.unwrap_err();
    assert_eq!(trouble.because, Because::Failing);
    assert!(trouble.detail.contains("2031-01-01") && trouble.detail.contains("2025-11-25"), "{trouble}");
    assert_eq!(server.methods(), ["server/discover"]);
}

#[tokio::test]
async fn a_modern_server_that_forgets_its_era_is_asked_once_more() {
    let turned = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| match (seen.method(), turned.load(Ordering::SeqCst)) {
        ("tools/call", 0) => {
            turned.store(1, Ordering::SeqCst);
            seen.error(400, -32000, Value::Null)
        }
        ("tools/call", _) => seen.result(text("the old way")),
        ("server/discover", 1) => seen.error(200, -32601, Value::Null),
        ("initialize", _) => seen.result(json!({ "protocolVersion": "2025-06-18" })),
        ("notifications/initialized", _) => answer(202, "text/plain", ""),
        _ => seen.modern(),
    })
    .await;
    let called =
        server.upstream(hurried().0).call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
    assert_eq!(called.text, "the old way");
    assert_eq!(
        server.methods(),
        ["server/discover", "tools/call", "server/discover", "initialize", "notifications/initialized", "tools/call",]
    );
}

#[tokio::test]
async fn a_busy_server_is_waited_for_up_to_ten_seconds() {
    let busy = AtomicUsize::new(0);
    let server = StandIn::serve(move |seen| match seen.method() {
        "tools/call" if busy.fetch_add(1, Ordering::SeqCst) < 3 => answer(429, "text/plain", ""),
        "tools/call" => seen.result(text("now")),
        _ => seen.modern(),
    })
    .await;
    let (surroundings, clock) = hurried();
    let start = crate::clock::Clock::now_ms(&*clock);
    let upstream = server.upstream(surroundings);
    let called = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
    assert_eq!(called.text, "now");
    assert_eq!(crate::clock::Clock::now_ms(&*clock) - start, 7_000, "1, 2 and 4 seconds");
}

#[tokio::test]
async fn a_server_that_asks_for_a_longer_wait_is_rate_limited() {
    for (asked, expected) in [("60", 60), ("Thu, 01 Oct 2026 09:30:20 GMT", 20)] {
        let server = StandIn::serve(move |seen| match seen.method() {
            "tools/call" => with_header(429, "retry-after", asked, ""),
            _ => seen.modern(),
        })
        .await;
        let upstream = server.upstream(hurried().0);
        let trouble = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap_err();
        let retry_after = Some(Duration::from_secs(expected));
        assert_eq!((trouble.because, trouble.sent), (Because::RateLimited { retry_after }, true));
    }
}

#[tokio::test]
async fn a_gateway_failure_is_tried_again_for_read_only_tools_alone() {
    for (hints, calls) in [(json!({}), 1), (json!({ "idempotentHint": true }), 1), (json!({ "readOnlyHint": true }), 2)]
    {
        let server = StandIn::serve(|seen| match seen.method() {
            "tools/call" => answer(503, "text/plain", "<html>"),
            _ => seen.modern(),
        })
        .await;
        let upstream = server.upstream(hurried().0);
        let trouble = upstream.call(&tool("find", hints), &arguments(json!({})), &context()).await.unwrap_err();
        assert_eq!((trouble.because, trouble.sent), (Because::Failing, true));
        assert_eq!(server.methods().iter().filter(|method| *method == "tools/call").count(), calls);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_repeated_only_where_that_does_no_harm() {
    for (hints, calls) in [(json!({}), 1), (json!({ "idempotentHint": true }), 2)] {
        let server = StandIn::serve(|seen| match seen.method() {
            "tools/call" => answer(200, "text/event-stream", ": nothing more\n\n"),
            _ => seen.modern(),
        })
        .await;
        let upstream = server.upstream(hurried().0);
        let trouble = upstream.call(&tool("find", hints), &arguments(json!({})), &context()).await.unwrap_err();
        assert!(trouble.sent && trouble.jsonrpc_id.is_some(), "{trouble}");
        assert_eq!(server.methods().iter().filter(|method| *method == "tools/call").count(), calls);
    }
}

#[tokio::test]
async fn a_refused_credential_and_refused_rights_are_told_apart() {
    let server = StandIn::serve(|_| answer(401, "text/plain", "")).await;
    let trouble = server.upstream(hurried().0).list().await.unwrap_err();
    assert_eq!(trouble.because, Because::KeyRefused);
    assert_eq!(server.methods(), ["server/discover"]);

    let server = StandIn::serve(|seen| match seen.method() {
        "tools/call" => with_header(403, "www-authenticate", "Bearer error=\"insufficient_scope\"", ""),
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(hurried().0);
    let called = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
    assert!(called.is_error && called.text.contains("rights"), "{}", called.text);
}

#[tokio::test]
async fn what_is_forbidden_is_told_by_the_status_and_not_by_words() {
    for (status, forbidden) in [(403, true), (500, false)] {
        let server = StandIn::serve(move |_| answer(status, "text/plain", "status 403")).await;
        let trouble = server.upstream(hurried().0).list().await.unwrap_err();
        assert_eq!((trouble.status, trouble.is_forbidden()), (Some(status), forbidden));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable_and_then_left_alone() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let (surroundings, clock) = hurried();
    let upstream = upstream(&address, surroundings);
    for _ in 0..5 {
        let trouble = upstream.list().await.unwrap_err();
        assert_eq!((trouble.because, trouble.sent), (Because::Unreachable, false));
    }
    let server = StandIn::serve(super::stand_in::Seen::modern).await;
    assert!(upstream.list().await.is_err());
    clock.advance_ms(30_000);
    assert!(upstream.list().await.is_err(), "the probe finds nobody either");
    assert!(server.all().is_empty());
}

#[tokio::test]
async fn an_answer_over_its_bound_is_failing() {
    let server = StandIn::serve(|seen| match seen.method() {
        "tools/call" => answer(200, "application/json", &" ".repeat(17 << 20)),
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(hurried().0);
    let trouble = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap_err();
    assert_eq!((trouble.because, trouble.sent), (Because::Failing, true));
}

#[tokio::test]
async fn a_tool_that_asks_only_for_a_repetition_is_repeated_three_times_at_most() {
    let server = StandIn::serve(|seen| match seen.method() {
        "tools/call" => seen.result(json!({ "resultType": "input_required", "requestState": "s1" })),
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(hurried().0);
    let called = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap();
    assert!(called.is_error);
    let calls: Vec<_> = server.all().into_iter().filter(|seen| seen.method() == "tools/call").collect();
    assert_eq!(calls.len(), 4);
    assert_eq!(calls[3].body["params"]["requestState"], "s1");
}

#[tokio::test]
async fn the_words_of_a_server_are_scrubbed() {
    let server = StandIn::serve(|seen| match seen.method() {
        "tools/call" => seen.error(200, -32603, Value::Null),
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(hurried().0);
    let trouble = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await.unwrap_err();
    assert_eq!(trouble.detail, "refused by [secret]");
}

#[tokio::test]
async fn dropping_a_call_closes_its_stream() {
    let closed = CancellationToken::new();
    let token = closed.clone();
    let server = StandIn::serve(move |seen| match seen.method() {
        "tools/call" => {
            let guard = token.clone().drop_guard();
            let silence = futures_util::stream::once(async move {
                let _guard = guard;
                std::future::pending::<Result<axum::body::Bytes, std::io::Error>>().await
            });
            axum::response::Response::builder()
                .header("content-type", "text/event-stream")
                .body(axum::body::Body::from_stream(silence))
                .unwrap()
        }
        _ => seen.modern(),
    })
    .await;
    let upstream = server.upstream(patient());
    let (find, none, context) = (tool("find", json!({})), arguments(json!({})), context());
    tokio::select! {
        _ = upstream.call(&find, &none, &context) => panic!("the tool never answers"),
        _ = server.last("tools/call") => {}
    }
    closed.cancelled().await;
}
