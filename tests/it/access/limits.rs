//! How much anybody may ask (`identity.md` 12), on a server whose clock stands still unless the test moves it.

use serde_json::json;

use crate::support::app::{FULL, READER, TestApp};
use crate::support::people::{Answer, Caller};

const PLAYBOOKS: &str = "/v1/orgs/north/playbooks";

/// 429 as every limit answers it: the same words, and when to come again.
fn refused(answer: &Answer, retry_after: &str) {
    let problem = answer.refused(429, "too_many_requests");
    assert_eq!(answer.header("retry-after"), retry_after);
    let members: Vec<&String> = problem.as_object().unwrap().keys().collect();
    assert_eq!(members, ["type", "title", "status", "detail", "reason"], "it tells nothing of what is counted");
    assert_eq!(problem["detail"], "There were too many requests lately. Send this one again later.");
}

#[tokio::test]
async fn a_caller_has_its_own_rate_over_http_and_mcp_together() {
    let server = TestApp::with_keys(&[FULL, READER]).await;
    let (full, reader) = (server.holder(&FULL), server.holder(&READER));
    for _ in 0..100 {
        full.get(PLAYBOOKS).await.done(200);
        full.result("/mcp", "tools/list", json!({})).await.unwrap();
    }
    refused(&full.get(PLAYBOOKS).await, "1");
    // On MCP before anything is handled: no stream, and no JSON-RPC error.
    refused(&full.ask("/mcp", "tools/list", json!({})).await, "1");
    reader.get(PLAYBOOKS).await.done(200);

    server.clock.advance_ms(20);
    full.get(PLAYBOOKS).await.done(200);
    refused(&full.get(PLAYBOOKS).await, "1");
}

#[tokio::test]
async fn live_calls_have_a_rate_of_their_own() {
    let server = TestApp::with_keys(&[FULL]).await;
    let full = server.holder(&FULL);
    full.post(PLAYBOOKS, &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let path = "/v1/orgs/north/playbooks/support/tool-servers/nowhere/tools/none/execute";
    let call =
        || json!({ "name": "execute", "arguments": { "playbook": "support", "server": "nowhere", "tool": "none" } });
    for _ in 0..20 {
        full.post(path, &json!({})).await.refused(503, "unavailable");
        full.result("/mcp", "tools/call", call()).await.unwrap();
    }
    refused(&full.post(path, &json!({})).await, "1");
    refused(&full.ask("/mcp", "tools/call", call()).await, "1");
    // Anything else goes on.
    full.result("/mcp", "tools/call", json!({ "name": "list_playbooks", "arguments": {} })).await.unwrap();
    server.clock.advance_ms(100);
    full.post(path, &json!({})).await.refused(503, "unavailable");
    refused(&full.post(path, &json!({})).await, "1");
}

#[tokio::test]
async fn whoever_has_no_good_credential_shares_the_rate_of_an_address() {
    let server = TestApp::with_keys(&[FULL]).await;
    let anyone = server.anyone();
    let guesser = Caller::new(server.url(""), Some("a-key-nobody-ever-made-here"));
    for _ in 0..12 {
        anyone.get("/openapi.json").await.done(200);
        anyone.get(PLAYBOOKS).await.refused(401, "unauthenticated");
        anyone.send("PATCH", PLAYBOOKS, "{}").await.refused(405, "method_not_allowed");
        guesser.get("/nowhere").await.refused(404, "not_found");
        guesser.get(PLAYBOOKS).await.refused(401, "unauthenticated");
    }
    for path in ["/openapi.json", PLAYBOOKS, "/nowhere", "/", "/static/studio.css", "/connect/anything"] {
        refused(&anyone.get(path).await, "1");
        refused(&guesser.get(path).await, "1");
    }
    // Balancers are not held up, and neither is who may call.
    anyone.get("/health").await.done(200);
    anyone.get("/ready").await.done(200);
    server.holder(&FULL).get(PLAYBOOKS).await.done(200);

    server.clock.advance_ms(200);
    anyone.get("/openapi.json").await.done(200);
    refused(&anyone.get("/openapi.json").await, "1");
}

#[tokio::test]
async fn the_address_is_what_trusted_proxies_tell() {
    let keys = json!([FULL.entry()]).to_string();
    let settings = [("API_KEYS", keys.as_str()), ("RATE_ANONYMOUS", "1/2")];
    let untrusting = TestApp::with(&settings).await;
    let behind = |server: &TestApp, client: &str| server.anyone().with("x-forwarded-for", client);
    for client in ["192.0.2.1", "192.0.2.2"] {
        behind(&untrusting, client).get("/openapi.json").await.done(200);
    }
    refused(&behind(&untrusting, "192.0.2.3").get("/openapi.json").await, "1");

    let server = TestApp::with(&[settings[0], settings[1], ("TRUSTED_PROXIES", "10.0.0.0/8,127.0.0.1")]).await;
    for client in ["192.0.2.1", "192.0.2.2, 10.0.0.1", "2001:db8:0:1::1", "2001:db8:0:2::1"] {
        for _ in 0..2 {
            behind(&server, client).get("/openapi.json").await.done(200);
        }
        refused(&behind(&server, client).get("/openapi.json").await, "1");
    }
    // Another address of the same IPv6 customer; and what a client writes before its proxy does is nobody's word.
    refused(&behind(&server, "2001:db8:0:1:2::7").get("/openapi.json").await, "1");
    refused(&behind(&server, "203.0.113.9, 192.0.2.1").get("/openapi.json").await, "1");
}

/// Security case 10.
#[tokio::test]
async fn an_address_that_fails_too_often_waits_ten_minutes() {
    let server = TestApp::with_keys(&[FULL]).await;
    let guess = async |number: usize| {
        Caller::new(server.url(""), Some(&format!("a-key-nobody-ever-made-{number}"))).get(PLAYBOOKS).await
    };
    for number in 0..30 {
        guess(number).await.refused(401, "unauthenticated");
    }
    refused(&guess(30).await, "600");
    refused(&guess(0).await, "600");
    let token = Caller::new(server.url(""), Some("eyJhbGciOiJub25lIn0.e30.c2lnbmF0dXJl"));
    refused(&token.get(PLAYBOOKS).await, "600");
    // A good credential from there still passes, and another org is none of its business as before.
    server.holder(&FULL).get(PLAYBOOKS).await.done(200);
    server.holder(&FULL).get("/v1/orgs/south/playbooks").await.refused(403, "forbidden");

    server.clock.advance_ms(599_000);
    refused(&guess(31).await, "1");
    server.clock.advance_ms(1000);
    guess(32).await.refused(401, "unauthenticated");
}

/// Security case 18.
#[tokio::test]
async fn guessing_links_ends_after_thirty() {
    let server = TestApp::with_keys(&[FULL]).await;
    let anyone = server.anyone();
    let guess = |number: usize| format!("/connect/link_{number:032}");
    let first = anyone.get(&guess(0)).await;
    for number in 1..30 {
        let page = anyone.get(&guess(number)).await;
        assert_eq!((page.status, &page.text), (404, &first.text), "one answer for all that are unknown");
    }
    let page = anyone.get(&guess(30)).await;
    assert_eq!((page.status, page.header("retry-after")), (429, "2"));
    assert!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
    let form =
        server.anyone().with("origin", &server.origin()).send("POST", &format!("{}/approve", guess(31)), "").await;
    assert_eq!(form.status, 429);
    refused(&anyone.get("/v1/links/link_0").await, "2");
    refused(&anyone.send("POST", "/v1/links/link_0/approve", "{}").await, "2");
    // Other pages are open as before.
    anyone.get("/openapi.json").await.done(200);

    server.clock.advance_ms(2000);
    assert_eq!(anyone.get(&guess(32)).await.status, 404);
    assert_eq!(anyone.get(&guess(33)).await.status, 429);
}

#[tokio::test]
async fn the_local_developer_has_no_rate() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    for _ in 0..250 {
        developer.get("/v1/orgs/local/playbooks").await.done(200);
    }
    for number in 0..40 {
        assert_eq!(developer.get(&format!("/connect/link_{number:032}")).await.status, 404);
    }
    let wrong = server.holder(&FULL);
    for _ in 0..70 {
        wrong.get("/v1/orgs/local/playbooks").await.refused(401, "unauthenticated");
    }
}
