//! What answers without a caller, and paths and methods there are not (`http-api.md` 1.4 and 16).

use serde_json::json;

use crate::support::app::{FULL, TestApp};
use crate::support::people::Answer;

#[tokio::test]
async fn the_open_routes_answer_anybody() {
    let server = TestApp::with_keys(&[FULL]).await;
    for path in ["/health", "/ready"] {
        assert_eq!(server.anyone().get(path).await.done(200), json!({ "status": "ok" }));
        let head = Answer::of(server.anyone().request("HEAD", path)).await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        // A credential that is no good does no harm where none is needed.
        server.anyone().with("authorization", "Bearer nothing").get(path).await.done(200);
    }
    server.anyone().get("/openapi.json").await.done(200);
    let docs = server.anyone().get("/docs").await;
    assert!(docs.status == 200 && docs.text.contains("/mcp"), "{}", docs.text);
}

#[tokio::test]
async fn a_server_that_stops_is_alive_no_more_and_takes_nothing() {
    let server = TestApp::local().await;
    // A connection that is open already, since no new one is accepted.
    server.anyone().get("/health").await.done(200);
    let caller = server.anyone();
    caller.get("/health").await.done(200);
    server.app.lifecycle.stop();
    for path in ["/ready", "/v1/orgs/local/playbooks"] {
        if let Ok(response) = caller.request("GET", path).send().await {
            assert_eq!(response.status(), 503);
            assert_eq!(response.headers()["retry-after"], "5");
        }
    }
}

#[tokio::test]
async fn unknown_paths_are_not_found_and_known_ones_name_their_methods() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    for path in [
        "/nowhere",
        "/v1",
        "/v1/",
        "/v1/orgs/local/playbooks/",
        "/health/",
        "/mcp/mcp",
        "//",
        "/v2/orgs/local/playbooks",
    ] {
        developer.get(path).await.refused(404, "not_found");
    }
    let known = [
        ("DELETE", "/v1/orgs/local/playbooks", "GET, HEAD, POST"),
        ("GET", "/v1/orgs/local", "PUT"),
        ("PATCH", "/v1/orgs/local/playbooks/support", "GET, HEAD, PUT"),
        ("GET", "/v1/orgs/local/playbooks/support/retire", "POST"),
        ("POST", "/v1/orgs/local/connections/conn_0", "DELETE, GET, HEAD"),
        ("POST", "/v1/guides/terminology", "GET, HEAD"),
        ("GET", "/v1/links/link_0/approve", "POST"),
        ("POST", "/health", "GET, HEAD"),
        ("DELETE", "/ready", "GET, HEAD"),
        ("PUT", "/openapi.json", "GET, HEAD"),
        ("GET", "/mcp", "OPTIONS, POST"),
        ("DELETE", "/orgs/local/mcp", "OPTIONS, POST"),
    ];
    for (method, path, allow) in known {
        let answer = developer.send(method, path, "{}").await;
        answer.refused(405, "method_not_allowed");
        let mut methods: Vec<&str> = answer.header("allow").split(", ").collect();
        methods.sort_unstable();
        assert_eq!(methods.join(", "), allow, "{method} {path}");
    }
}

#[tokio::test]
async fn the_first_page_is_for_browsers_alone() {
    for (server, status) in
        [(TestApp::local().await, 200), (TestApp::with_keys(&[FULL]).await, 200), (TestApp::closed().await, 200)]
    {
        let page = server.anyone().with("accept", "text/html,application/xhtml+xml").get("/").await;
        assert_eq!(page.status, status);
        assert!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
        let policy = page.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(rule), "{rule}: {policy}");
        }
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(page.header(name), value, "{name}");
        }
        assert!(
            !page.text.contains("src=\"http") && !page.text.contains("href=\"//"),
            "nothing is loaded from elsewhere"
        );
        assert!(page.text.contains(&server.origin()), "the page says where agents connect");
        assert!([401, 404].contains(&server.anyone().with("accept", "application/json").get("/").await.status));
        assert!([401, 404].contains(&server.anyone().send("POST", "/", "{}").await.status));
    }
}
