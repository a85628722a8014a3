//! Requests as bytes on a socket: what is plain is answered, what two readers could read differently ends the connection.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::app::{FULL, TestApp};

/// Sends `pieces` one after the other and reads until the server closes the connection.
async fn sent(server: &TestApp, pieces: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in pieces {
        stream.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    read(stream).await
}

async fn read(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    match closed {
        Ok(Ok(_)) => answer,
        other => panic!("the connection is not closed: {other:?}: {answer}"),
    }
}

/// The one answer of a connection: its status, and its body as JSON.
fn only(answer: &str) -> (u16, Value) {
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: application/problem+json"), "{head}");
    assert!(head.contains("x-request-id: ") && head.contains("x-content-type-options: nosniff"), "{head}");
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

/// Security case 64.
#[tokio::test]
async fn a_request_whose_end_is_in_doubt_is_refused_and_the_connection_closed() {
    let server = TestApp::local().await;
    let head = |rest: &str| format!("POST /v1/orgs/local/playbooks HTTP/1.1\r\nHost: localhost\r\n{rest}\r\n");
    let corpus: [(u16, &str, String); 23] = [
        (400, "one length, twice", head("Content-Length: 2\r\nContent-Length: 2\r\n")),
        (400, "two lengths", head("Content-Length: 2\r\nContent-Length: 3\r\n")),
        (400, "a list of lengths", head("Content-Length: 2, 2\r\n")),
        (400, "a length with a sign", head("Content-Length: +2\r\n")),
        (400, "a length in hexadecimal", head("Content-Length: 0x2\r\n")),
        (400, "an empty length", head("Content-Length: \r\n")),
        (400, "a length beside chunks", head("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n")),
        (400, "chunks beside a length", head("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n")),
        (400, "chunks twice", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
        (400, "another coding", head("Transfer-Encoding: gzip, chunked\r\n")),
        (400, "a coding after the chunks", head("Transfer-Encoding: chunked, identity\r\n")),
        (400, "nearly chunks", head("Transfer-Encoding: xchunked\r\n")),
        (400, "space before the colon", head("Content-Length : 2\r\n")),
        (400, "a folded line", head("X-Folded: a\r\n b\r\n")),
        (400, "a first line folded", "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n".to_owned()),
        (400, "a bare carriage return", head("X-Bare: a\rContent-Length: 2\r\n")),
        (400, "two hosts", head("Host: elsewhere.test\r\n")),
        (400, "a bare line feed", head("X-Bare: a\nContent-Length: 2\r\n")),
        (400, "NUL", head("X-Nul: a\0b\r\n")),
        (400, "another version", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".to_owned()),
        (400, "HTTP/2 in the clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        (431, "a giant line", head(&format!("X-Giant: {}\r\n", "x".repeat(300_000)))),
        (431, "a hundred and one lines", head(&(0..100).map(|n| format!("X-{n}: y\r\n")).collect::<String>())),
    ];
    for (status, what, text) in corpus {
        // What follows would be read as a request of its own by whoever took the end to be elsewhere.
        let smuggled = format!("{text}GET /v1/guides/terminology HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let problem = only(&sent(&server, &[smuggled.as_bytes()]).await);
        assert_eq!((problem.0, problem.1["status"].as_u64()), (status, Some(status.into())), "{what}");
        assert_eq!(problem.1["reason"], "bad_request", "{what}");
        // The same when it comes in two parts.
        let (one, other) = smuggled.as_bytes().split_at(smuggled.len() / 2);
        assert_eq!(only(&sent(&server, &[one, other]).await), problem, "{what}");
    }
    server.anyone().get("/health").await.done(200);
}

/// Security case 64.
#[tokio::test]
async fn what_came_before_a_refused_request_is_answered_first() {
    let server = TestApp::local().await;
    let good = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let bad = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}";
    let answer = sent(&server, &[format!("{good}{good}{bad}{good}").as_bytes()]).await;
    let statuses: Vec<&str> = answer.match_indices("HTTP/1.1 ").map(|(at, _)| &answer[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "200", "400"], "{answer}");
}

/// Security case 64.
#[tokio::test]
async fn chunks_that_are_none_end_the_connection() {
    let server = TestApp::local().await;
    let head = "POST /v1/orgs/local/playbooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    for chunks in
        ["2\n{}\r\n0\r\n\r\n", "+2\r\n{}\r\n0\r\n\r\n", "2\r\n{}}0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n", "\r\n\r\n"]
    {
        let answer = sent(&server, &[head.as_bytes(), chunks.as_bytes(), b"GET /health HTTP/1.1\r\n\r\n"]).await;
        assert_eq!(only(&answer).0, 400, "{chunks:?}");
    }
}

#[tokio::test]
async fn plain_requests_of_one_connection_are_answered_however_they_are_cut() {
    let server = TestApp::local().await;
    let body = r#"{"playbook":"no","name":"N"}"#;
    let head = "POST /v1/orgs/local/playbooks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let whole = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let (one, other) = body.split_at(9);
    let chunked = format!(
        "{head}transfer-encoding: chunked\r\n\r\n9\r\n{one}\r\n{:x};a=b\r\n{other}\r\n0\r\nx: y\r\n\r\n",
        other.len()
    );
    let last = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let all = format!("{whole}\r\n{chunked}{whole}{chunked}{last}");
    for size in [all.len(), 200, 7, 1] {
        let pieces: Vec<&[u8]> = all.as_bytes().chunks(size).collect();
        let answer = sent(&server, &pieces).await;
        let statuses: Vec<&str> = answer.match_indices("HTTP/1.1 ").map(|(at, _)| &answer[at + 9..at + 12]).collect();
        assert_eq!(statuses, ["422", "422", "422", "422", "200"], "{size}: {answer}");
    }
}

#[tokio::test]
async fn what_is_plain_and_leads_nowhere_is_told_so() {
    let server = TestApp::local().await;
    let last = "Host: localhost\r\nConnection: close\r\n";
    let corpus = [
        // A target in absolute form names another host than the header does.
        (403, format!("GET http://evil.example/v1/orgs/local/playbooks HTTP/1.1\r\n{last}\r\n")),
        (404, format!("GET /v1/orgs/%ff/playbooks HTTP/1.1\r\n{last}\r\n")),
        (404, format!("GET /connect/%ff HTTP/1.1\r\n{last}\r\n")),
    ];
    for (status, text) in corpus {
        assert_eq!(only(&sent(&server, &[text.as_bytes()]).await).0, status, "{text}");
    }
}

/// Security case 67.
#[tokio::test]
async fn a_body_without_a_good_credential_is_not_waited_for() {
    let server = TestApp::with_keys(&[FULL]).await;
    for (path, length) in [("/v1/orgs/north/playbooks", 1_048_576), ("/mcp", 1_048_576), ("/mcp", 9_000_000_000_u64)] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a-key-nobody-ever-made-here\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        // Nothing of the body is ever sent.
        assert_eq!(only(&sent(&server, &[head.as_bytes()]).await).0, 401, "{path}");
        // All of it comes at once: the answer is not lost for that.
        let body = vec![b' '; 1_048_576];
        assert_eq!(only(&sent(&server, &[head.as_bytes(), &body]).await).0, 401, "{path}");
    }
}

/// Security case 67.
#[tokio::test]
async fn a_body_that_is_told_to_be_too_large_is_not_waited_for() {
    let server = TestApp::local().await;
    for path in ["/v1/orgs/local/playbooks", "/mcp"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\n\r\n"
        );
        assert_eq!(only(&sent(&server, &[head.as_bytes()]).await).0, 413, "{path}");
        let body = vec![b' '; 1_048_577];
        assert_eq!(only(&sent(&server, &[head.as_bytes(), &body]).await).0, 413, "{path}");
    }
}
