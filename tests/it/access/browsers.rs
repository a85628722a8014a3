//! Browsers: foreign origins, names that are not this machine's, and CORS (`http-api.md` 2.4, security case 63).

use super::DOORS;
use crate::support::app::{FULL, TestApp};
use crate::support::people::{Answer, Caller};

const FRIEND: &str = "https://tools.example.test";

async fn preflight(caller: &Caller, path: &str, origin: &str) -> Answer {
    let request = caller.request("OPTIONS", path).header("origin", origin);
    Answer::of(request.header("access-control-request-method", "POST")).await
}

#[tokio::test]
async fn a_foreign_origin_is_refused_before_anything_else() {
    let server = TestApp::with_keys(&[FULL]).await;
    let port = server.address().port();
    let foreign = [
        "https://evil.example.test".to_owned(),
        "null".to_owned(),
        "http://localhost".to_owned(),
        format!("https://localhost:{port}"),
        format!("http://localhost:{}", port ^ 1),
        format!("http://localhost:{port}.evil.test"),
        format!("http://localhost:{port}/"),
        String::new(),
    ];
    for origin in foreign {
        let doors = DOORS.into_iter().chain([("GET", "/health"), ("GET", "/openapi.json"), ("GET", "/nowhere")]);
        for (method, path) in doors {
            // Not even a credential is looked at.
            for caller in [server.anyone(), server.holder(&FULL)] {
                let answer = caller.with("origin", &origin).send(method, path, "{}").await;
                answer.refused(403, "origin_not_allowed");
                assert!(answer.headers.get("access-control-allow-origin").is_none(), "{origin} {path}");
                assert!(answer.headers.get("www-authenticate").is_none(), "{origin} {path}");
            }
            preflight(&server.anyone(), path, &origin).await.refused(403, "origin_not_allowed");
        }
    }
}

#[tokio::test]
async fn in_local_mode_only_a_name_of_this_machine_may_stand_in_host() {
    let server = TestApp::local().await;
    let port = server.address().port();
    for host in ["evil.example.test", "localhost.evil.test", "127.0.0.2", "0.0.0.0", "[::2]", "192.168.0.1:5555"] {
        for (method, path) in DOORS.into_iter().chain([("GET", "/health"), ("GET", "/")]) {
            let answer = server.anyone().with("host", host).send(method, path, "{}").await;
            answer.refused(403, "origin_not_allowed");
        }
    }
    for host in [format!("localhost:{port}"), "LocalHost".to_owned(), "127.0.0.1:1".to_owned(), "[::1]".to_owned()] {
        server.anyone().with("host", &host).get("/v1/orgs/local/playbooks").await.done(200);
    }
    // A server of keys may stand behind any name.
    let keys = TestApp::with_keys(&[FULL]).await;
    keys.holder(&FULL).with("host", "playmaker.example.test").get("/v1/orgs/north/playbooks").await.done(200);
}

#[tokio::test]
async fn an_allowed_origin_may_read_the_answer() {
    let server = TestApp::with(&[("ALLOWED_ORIGINS", FRIEND)]).await;
    for origin in [FRIEND.to_owned(), server.origin()] {
        let page = server.anyone().with("origin", &origin);
        // A refusal can be read as well as a success.
        for (path, status) in [("/v1/orgs/local/playbooks", 200), ("/v1/orgs/south/playbooks", 403), ("/nowhere", 404)]
        {
            let answer = page.get(path).await;
            assert_eq!(answer.status, status, "{}", answer.text);
            assert_eq!(answer.header("access-control-allow-origin"), origin);
            assert_eq!(answer.header("access-control-expose-headers"), "x-request-id");
            assert!(answer.header("vary").contains("Origin"), "{:?}", answer.headers);
            assert!(answer.headers.get("access-control-allow-credentials").is_none());
        }
        let answer = page.send("POST", "/mcp", "{}").await;
        assert_eq!(answer.header("access-control-expose-headers"), "x-request-id, www-authenticate");
    }
}

#[tokio::test]
async fn a_preflight_is_answered_before_any_credential_is_asked_for() {
    let server = TestApp::with_keys(&[FULL]).await;
    let answer = preflight(&server.anyone(), "/v1/orgs/north/playbooks", &server.origin()).await;
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    assert_eq!(answer.header("access-control-allow-origin"), server.origin());
    assert_eq!(answer.header("access-control-allow-methods"), "GET, HEAD, POST, PUT, DELETE");
    assert_eq!(answer.header("access-control-allow-headers"), "authorization, content-type, idempotency-key");
    for path in ["/mcp", "/mcp/", "/orgs/north/mcp", "/orgs/north/playbooks/support/mcp"] {
        let answer = preflight(&server.anyone(), path, &server.origin()).await;
        assert_eq!(answer.status, 204);
        assert_eq!(answer.header("access-control-allow-methods"), "POST, OPTIONS");
        assert_eq!(
            answer.header("access-control-allow-headers"),
            "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id"
        );
    }
}
