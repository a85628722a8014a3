//! How a request's fields arrive: bodies, queries, paths, and what is refused of them (`http-api.md` 1.2 and 1.3).

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::people::Answer;

const PLAYBOOKS: &str = "/v1/orgs/local/playbooks";

fn nested(levels: usize) -> String {
    format!(r#"{{"playbook":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels))
}

#[tokio::test]
async fn a_body_is_plain_json_in_utf_8() {
    let server = TestApp::local().await;
    let body = r#"{"playbook":"support","name":"Support"}"#;
    let post = async |headers: &[(&str, &str)]| {
        let request = headers
            .iter()
            .fold(server.anyone().request("POST", PLAYBOOKS), |request, (name, value)| request.header(*name, *value));
        Answer::of(request.body(body)).await
    };
    let odd: [&[(&str, &str)]; 8] = [
        &[],
        &[("content-type", "text/plain")],
        &[("content-type", "application/json; charset=iso-8859-1")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/problem+json")],
        &[("content-type", "application/json"), ("content-type", "application/json")],
        &[("content-type", "application/json"), ("content-encoding", "gzip")],
        &[("content-type", "application/json"), ("content-encoding", "identity, br")],
    ];
    for headers in odd {
        post(headers).await.refused(415, "unsupported_media_type");
    }
    let good = [("content-type", "Application/JSON; charset=\"UTF-8\""), ("content-encoding", "identity")];
    post(&good).await.done(201);
}

#[tokio::test]
async fn a_body_is_one_object_of_at_most_a_mebibyte() {
    let server = TestApp::local().await;
    for text in ["", "nothing", "[]", "null", "1", r#""text""#, r#"{"playbook":"support""#, "{}{}", "\u{feff}{}"] {
        server.anyone().send("POST", PLAYBOOKS, text).await.refused(400, "bad_request");
    }
    server.anyone().send("POST", PLAYBOOKS, b"{\"name\":\"\xff\"}".to_vec()).await.refused(400, "bad_request");

    let of_size = |bytes: usize| {
        let frame = r#"{"playbook":"support","name":""}"#.len();
        json!({ "playbook": "support", "name": "x".repeat(bytes - frame) }).to_string()
    };
    let largest = server.anyone().send("POST", PLAYBOOKS, of_size(1_048_576)).await;
    assert_eq!(largest.invalid_at(), ["/name"]);
    server.anyone().send("POST", PLAYBOOKS, of_size(1_048_577)).await.refused(413, "content_too_large");
}

#[tokio::test]
async fn deep_nesting_is_refused_in_words() {
    let server = TestApp::local().await;
    for levels in [5, 600] {
        let mut pointers = server.anyone().send("POST", PLAYBOOKS, nested(levels)).await.invalid_at();
        pointers.sort();
        assert_eq!(pointers, ["/name", "/playbook"]);
    }
    for levels in [700, 100_000] {
        assert_eq!(server.anyone().send("POST", PLAYBOOKS, nested(levels)).await.invalid_at(), [""]);
    }
}

#[tokio::test]
async fn a_field_comes_from_one_place_and_is_given_once() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    developer.post(PLAYBOOKS, &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let both = json!({ "playbook": "support", "name": "Other", "description": "" });
    developer.put("/v1/orgs/local/playbooks/support", &both).await.refused(400, "bad_request");
    developer.post("/v1/orgs/local/playbooks?name=Other", &json!({})).await.refused(400, "bad_request");
    developer
        .send("POST", PLAYBOOKS, r#"{"playbook":"one-id","playbook":"another","name":"N"}"#)
        .await
        .refused(400, "bad_request");
    developer
        .get("/v1/orgs/local/playbooks?include_retired=true&include_retired=true")
        .await
        .refused(400, "bad_request");
    developer.send("POST", "/v1/orgs/local/playbooks/support/retire?now=true", "{}").await.refused(400, "bad_request");
    developer
        .delete("/v1/orgs/local/connections/conn_0123456789ABCDEFGHIJKL?really=true")
        .await
        .refused(400, "bad_request");
    let with_body = developer.send("DELETE", "/v1/orgs/local/connections/conn_0123456789ABCDEFGHIJKL", "{}").await;
    with_body.refused(400, "bad_request");
}

#[tokio::test]
async fn every_fault_is_told_at_once_and_only_the_first_hundred() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    let answer = developer.post(PLAYBOOKS, &json!({ "playbook": "No", "name": "", "descripton": 1, "a/b~c": 2 })).await;
    let mut pointers = answer.invalid_at();
    pointers.sort();
    assert_eq!(pointers, ["/a~1b~0c", "/descripton", "/name", "/playbook"]);
    for issue in answer.json()["errors"].as_array().unwrap() {
        let members: Vec<&String> = issue.as_object().unwrap().keys().collect();
        assert_eq!(members, ["detail", "pointer"]);
    }
    let many: serde_json::Map<_, _> = (0..300).map(|n| (format!("field{n}"), json!(n))).collect();
    assert_eq!(developer.post(PLAYBOOKS, &many.into()).await.invalid_at().len(), 100);

    assert_eq!(developer.get("/v1/orgs/local/playbooks?retired=true").await.invalid_at(), ["/retired"]);
    assert_eq!(
        developer.get("/v1/orgs/local/playbooks?include_retired=perhaps").await.invalid_at(),
        ["/include_retired"]
    );
    developer.get("/v1/orgs/local/playbooks?include_retired=true").await.done(200);
}

#[tokio::test]
async fn what_the_parser_reads_and_nobody_should_is_refused() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = TestApp::local().await;
    let last = "Host: localhost\r\nConnection: close\r\n";
    let corpus = [
        (
            400,
            format!(
                "POST /v1/orgs/local/playbooks HTTP/1.1\r\n{last}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
            ),
        ),
        // A target in absolute form names another host than the header does.
        (403, format!("GET http://evil.example/v1/orgs/local/playbooks HTTP/1.1\r\n{last}\r\n")),
        (404, format!("GET /v1/orgs/%ff/playbooks HTTP/1.1\r\n{last}\r\n")),
        (404, format!("GET /connect/%ff HTTP/1.1\r\n{last}\r\n")),
    ];
    for (status, text) in corpus {
        let mut stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{text}: {answer}");
        assert!(answer.contains("content-type: application/problem+json"), "{text}: {answer}");
    }
}

#[tokio::test]
async fn what_the_parser_cannot_read_is_refused_and_the_connection_closed() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = TestApp::local().await;
    let head = |rest: &str| format!("POST /v1/orgs/local/playbooks HTTP/1.1\r\nHost: localhost\r\n{rest}\r\n");
    let corpus = [
        head("Content-Length: 2\r\nContent-Length: 3\r\n"),
        head("Content-Length: +2\r\n"),
        head("Content-Length : 2\r\n"),
        head("X-Folded: a\r\n b\r\n"),
        head("X-Nul: a\0b\r\n"),
        head("Transfer-Encoding: gzip, chunked, identity\r\n"),
        head(&format!("X-Giant: {}\r\n", "x".repeat(300_000))),
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
    ];
    for text in corpus {
        let mut stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        // The server may have closed before the last byte is written.
        let _ = stream.write_all(text.as_bytes()).await;
        let mut answer = Vec::new();
        let limit = std::time::Duration::from_secs(5);
        let read = tokio::time::timeout(limit, stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        assert!(read.is_ok(), "the connection stays open after {text:.120?}: {answer:.80}");
        assert!(["400", "431", "505", ""].contains(&status.as_str()), "{text:.120?}: {answer:.80}");
    }
    server.anyone().get("/health").await.done(200);
}
