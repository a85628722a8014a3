//! Which check comes first (`mcp.md` 2.1, 2.3 and 2.4).

use std::time::Duration;

use axum::body::Body;
use http::Request;
use serde_json::json;

use super::{Post, Probe};
use crate::http::serve_mcp;
use crate::limits::Bodies;
use crate::mcp::Stopping;

#[tokio::test]
async fn both_kinds_of_answer_must_be_acceptable() {
    let table = [
        ("application/json, text/event-stream", 200),
        ("text/event-stream;q=0.5,application/json;q=0.1", 200),
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("APPLICATION/JSON, Text/Event-Stream; charset=utf-8", 200),
        ("application/json, */*;q=0.1", 200),
        ("application/json; q=many, text/event-stream; q=-1", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("text/html", 406),
        ("application/json;q=0, */*", 406),
        ("application/json, text/event-stream; Q=0.000", 406),
        ("*/*;q=0", 406),
        ("application/json, text/*;q=0, */*", 406),
        ("application/jsonp, text/event-stream", 406),
    ];
    for (accept, status) in table {
        let post = Post::legacy("ping", json!({})).without("accept").with("accept", accept);
        assert_eq!(post.send().await.status, status, "{accept}");
    }
    let post = || Post::legacy("ping", json!({})).without("accept");
    assert_eq!(post().send().await.status, 200, "no Accept takes everything");
    let two = post().with("accept", "application/json").with("accept", "text/event-stream");
    assert_eq!(two.send().await.status, 200, "two lines count as one");
    let refused = post().with("accept", "text/html").send().await;
    assert_eq!(refused.message()["reason"], "not_acceptable");
}

#[tokio::test]
async fn the_first_of_several_faults_is_told() {
    // Each row mends the first fault of the row before.
    let broken = || Post::raw("[").without("accept").without("content-type");
    let (accept, kind) = (("accept", "*/*"), ("content-type", "application/json"));
    assert_eq!(broken().with("accept", "text/html").send().await.status, 406);
    assert_eq!(broken().with(accept.0, accept.1).send().await.status, 415);
    let sent = broken().with(accept.0, accept.1).with(kind.0, kind.1).send().await;
    assert_eq!(sent.refusal(), (400, -32700));
    // Shape, then revision, then method, then the parameters of a handled request.
    let shape = r#"{"jsonrpc":"1.0","id":1,"method":"nothing"}"#;
    let shape = Post::raw(shape).with("mcp-protocol-version", "1999-01-01");
    assert_eq!(shape.send().await.refusal(), (400, -32600));
    let revision = Post::legacy("nothing", json!({})).with("mcp-protocol-version", "1999-01-01");
    assert_eq!(revision.send().await.refusal(), (400, -32022));
    let method = Post::legacy("nothing", json!({}));
    assert_eq!(method.send().await.refusal(), (200, -32601));
    let handled = Post::legacy("tools/call", json!({ "name": 7 })).send().await;
    assert_eq!((handled.refusal(), handled.kind.as_str()), ((200, -32602), "text/event-stream"));
}

#[tokio::test]
async fn only_post_is_served() {
    for method in ["GET", "DELETE", "PUT", "PATCH", "HEAD"] {
        let request = Request::builder().method(method).body(Body::empty()).unwrap();
        let response =
            serve_mcp(Probe::default(), request, &Bodies::default(), &Stopping::new(), Duration::from_secs(5)).await;
        assert_eq!(response.status(), 405, "{method}");
        assert_eq!(response.headers()["allow"], "POST, OPTIONS");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
    }
    assert_eq!(Post::legacy("ping", json!({})).send().await.allow, None);
}

#[tokio::test]
async fn a_body_too_long_for_its_word_is_refused_while_it_comes() {
    let request = Request::post("/mcp")
        .header("content-type", "application/json")
        .body(Body::from(vec![b' '; 1_048_577]))
        .unwrap();
    let response =
        serve_mcp(Probe::default(), request, &Bodies::default(), &Stopping::new(), Duration::from_secs(5)).await;
    assert_eq!(response.status(), 413);
}

#[tokio::test]
async fn a_notification_is_taken_and_not_answered() {
    for method in ["notifications/initialized", "notifications/cancelled", "notifications/of/no/kind"] {
        let body = json!({ "jsonrpc": "2.0", "method": method }).to_string();
        for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
            let answered = Post::raw(body.clone()).with("mcp-protocol-version", revision).send().await;
            assert_eq!((answered.status, answered.text.as_str()), (202, ""), "{method} {revision}");
        }
        let unknown = Post::raw(body.clone()).with("mcp-protocol-version", "2024-01-01").send().await;
        assert_eq!(unknown.refusal(), (400, -32022));
        let unknown = Post::raw(body).with("mcp-protocol-version", "2026-07-28").with("mcp-method", "ping");
        assert_eq!(unknown.send().await.refusal(), (400, -32020));
    }
}
