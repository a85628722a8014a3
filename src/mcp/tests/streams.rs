//! The answer stream (`mcp.md` 2.5 and 2.6).

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Post, Probe};
use crate::http::serve_mcp;
use crate::limits::Bodies;
use crate::mcp::{STALLED_AFTER, Stopping, TakenWithin};

/// So short that a test need not wait, so long that work which is ready comes first.
const SHORT: Duration = Duration::from_millis(1);

fn waiting() -> Post {
    Post::legacy("tools/call", json!({ "name": "wait" }))
}

async fn frame(body: &mut Body) -> Option<Bytes> {
    Some(body.frame().await?.unwrap().into_data().unwrap())
}

#[tokio::test]
async fn an_answer_that_needs_no_waiting_is_one_frame() {
    let post = Post::legacy("tools/list", json!({}));
    let response = post.open(Probe::default(), &Stopping::new(), SHORT).await;
    let mut body = response.into_body();
    assert!(body.size_hint().exact().is_some(), "the length is known, so nothing is chunked");
    let event = frame(&mut body).await.unwrap();
    assert!(event.starts_with(b"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,"));
    assert!(event.ends_with(b"}\n\n"));
    assert_eq!(event.iter().filter(|byte| **byte == b'\n').count(), 3);
    assert_eq!(frame(&mut body).await, None);
}

#[tokio::test]
async fn a_call_that_waits_opens_its_stream_at_once_and_beats_until_the_answer() {
    let probe = Probe::default();
    let response = waiting().open(probe.clone(), &Stopping::new(), SHORT).await;
    assert_eq!(response.status(), 200);
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")]
    {
        assert_eq!(response.headers()[name], value);
    }
    let mut body = response.into_body();
    for _ in 0..3 {
        assert_eq!(frame(&mut body).await.unwrap(), ": heartbeat\n\n");
    }
    probe.released.notify_one();
    assert!(frame(&mut body).await.unwrap().starts_with(b"event: message\n"));
    assert!(body.is_end_stream());
    assert_eq!(frame(&mut body).await, None);
}

#[tokio::test]
async fn the_product_beats_every_five_seconds() {
    assert_eq!(crate::mcp::HEARTBEAT, Duration::from_secs(5));
    assert_eq!(STALLED_AFTER, Duration::from_secs(30));
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_call() {
    let probe = Probe::default();
    let response = waiting().open(probe.clone(), &Stopping::new(), SHORT).await;
    let mut body = response.into_body();
    assert!(frame(&mut body).await.is_some());
    assert!(!probe.dropped.load(Ordering::SeqCst));
    drop(body);
    assert!(probe.dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_connection_that_breaks_cancels_the_call_it_carries() {
    let probe = Probe::default();
    let service = probe.clone();
    let endpoint = move |request: axum::extract::Request| {
        let service = service.clone();
        async move { serve_mcp(service, request, &Bodies::default(), &Stopping::new(), Duration::from_secs(3600)).await }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(axum::serve(listener, axum::Router::new().fallback(endpoint)).into_future());
    let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "wait" } }).to_string();
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    client.write_all(request.as_bytes()).await.unwrap();
    // The head of the answer comes before the call ends.
    let mut head = [0; 15];
    client.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    drop(client);
    probe.gone.notified().await;
    server.abort();
}

#[tokio::test]
async fn a_stop_ends_the_stream_with_its_error_and_drops_the_work() {
    let (probe, stopping) = (Probe::default(), Stopping::new());
    let response = waiting().open(probe.clone(), &stopping, Duration::from_secs(3600)).await;
    stopping.stop();
    let text = response.into_body().collect().await.unwrap().to_bytes();
    let message = serde_json::from_slice::<serde_json::Value>(&text["event: message\ndata: ".len()..]).unwrap();
    let words = "Playmaker stopped while it handled this request, so it may or may not have taken effect";
    let expected = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "error": { "code": -32603, "message": words, "data": { "reason": "stopping" } },
    });
    assert_eq!(message, expected);
    assert!(probe.dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn what_was_finished_before_the_stop_is_still_answered() {
    let (probe, stopping) = (Probe::default(), Stopping::new());
    let response = waiting().open(probe.clone(), &stopping, SHORT).await;
    probe.released.notify_one();
    stopping.stop();
    let text = response.into_body().collect().await.unwrap().to_bytes();
    assert!(text.windows(7).any(|window| window == b"Waited."));
}

#[tokio::test]
async fn a_handler_that_breaks_is_an_error_the_client_reads() {
    let answered = Post::legacy("tools/call", json!({ "name": "panic" })).send().await;
    assert_eq!(answered.refusal(), (200, -32603));
    assert!(!answered.text.contains("the handler broke"));
}

#[tokio::test]
async fn a_reader_that_takes_nothing_loses_its_connection() {
    let (ours, _theirs) = tokio::io::duplex(16);
    let mut connection = TakenWithin::new(ours, SHORT);
    connection.write_all(&[0; 16]).await.unwrap();
    let stalled = connection.write_all(&[0; 16]).await.unwrap_err();
    assert_eq!(stalled.kind(), std::io::ErrorKind::TimedOut);
}
