//! The link a person approves by: each state of it times each way to use or misuse it (`connections.md` 9).

use serde_json::{Value, json};

use super::{CONNECTIONS, Page, open, secret};
use crate::support::app::{FULL, TestApp};
use crate::support::people::Answer;
use crate::support::upstream::Upstream;

const KEY: &str = "the-key-of-the-desk";
const GONE: &str = "This link no longer works. Ask your agent for a new one.";

fn gone(answer: &Answer) {
    assert_eq!(answer.refused(404, "not_found")["detail"], GONE);
}

#[tokio::test]
async fn a_living_link_is_read_any_number_of_times_and_approved_once() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let page = Page::of(&server, &open(&upstream)).await;
    let read = page.read().await.done(200);
    assert_eq!((&read["state"], &read["purpose"], &read["org"]), (&json!("ready"), &json!("connect"), &json!("local")));
    assert_eq!((&read["adder"], &read["signed_in_as"]), (&json!("ada"), &json!("ada")));
    assert_eq!(read["connection"]["host"], "127.0.0.1");
    assert_eq!(page.read().await.done(200), read);

    let connected = page.approve().await.done(200);
    assert_eq!((&connected["status"], &connected["because"]), (&json!("connected"), &Value::Null));
    assert_eq!(page.approve().await.done(200), connected, "a double click is harmless");
    assert_eq!(page.state().await, "connected");
    gone(&page.cancel().await);
    let listed = server.anyone().call("/mcp", "list_connections", &json!({})).await.done();
    assert_eq!(listed["connections"], json!([connected]));
}

/// Security case 28.
#[tokio::test]
async fn a_credential_is_given_once_and_only_where_one_is_taken() {
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let page = Page::of(&server, &secret(&upstream)).await;
    assert_eq!(page.read().await.done(200)["way"]["fields"][0]["name"], "value");
    page.approve().await.refused(409, "conflict");

    for (body, pointer) in [
        (json!({}), "/value"),
        (json!({ "value": "  " }), "/value"),
        (json!({ "value": "two\nlines" }), "/value"),
        (json!({ "value": "schlüssel" }), "/value"),
        (json!({ "value": 5 }), "/value"),
        (json!({ "values": { "value": KEY } }), "/values"),
        (json!({ "value": KEY, "connection": "conn_1" }), "/connection"),
    ] {
        assert_eq!(page.command("credential", &body).await.invalid_at(), [pointer], "{body}");
    }
    page.give(&"x".repeat(8_193)).await.refused(413, "content_too_large");
    assert_eq!(upstream.requests(), 0, "what cannot be a credential is not tried");

    assert_eq!(page.give("not-the-key").await.invalid_at(), ["/value"]);
    assert_eq!(page.state().await, "provider_error");
    let connected = page.give(&format!("  {KEY}\n")).await.done(200);
    assert_eq!(connected["status"], "connected");
    assert!(!connected.to_string().contains(KEY));
    assert_eq!(page.give(KEY).await.done(200), connected, "the same again is harmless");
    page.give("another-one").await.refused(409, "conflict");

    let open_server = Upstream::open().await;
    let mut body = open(&open_server);
    body["name"] = json!("other");
    Page::of(&server, &body).await.give(KEY).await.refused(409, "conflict");
}

#[tokio::test]
async fn ten_refused_credentials_end_a_link() {
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let page = Page::of(&server, &secret(&upstream)).await;
    for _ in 0..10 {
        assert_eq!(page.give("not-the-key").await.invalid_at(), ["/value"]);
    }
    gone(&page.give(KEY).await);
    assert_eq!(page.state().await, "expired");
    let audit = server.audit_of("local", &page.connection).await;
    assert_eq!(audit.iter().filter(|kind| *kind == "connection_attempt_failed").count(), 10, "{audit:?}");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_leaves_the_link_alive() {
    let server = TestApp::local().await;
    let port = crate::support::services::free_port();
    let body = json!({ "name": "desk", "type": "mcp", "entry": { "url": format!("http://127.0.0.1:{port}/mcp") } });
    let page = Page::of(&server, &body).await;
    let refused = page.approve().await;
    refused.refused(503, "unavailable");
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(page.state().await, "provider_error");
    assert_eq!(page.cancel().await.done(200)["status"], "removed");
}

/// Brings a link into a state by what people do.
async fn brought_to(server: &TestApp, state: &str, page: &Page) {
    match state {
        "connected" => drop(page.approve().await.done(200)),
        "expired" => server.clock.advance_ms(10 * 60 * 1_000),
        "cancelled" => drop(page.cancel().await.done(200)),
        "removed" => drop(server.anyone().delete(&format!("{CONNECTIONS}/{}", page.connection)).await.done(200)),
        _ => {}
    }
    assert_eq!(page.state().await, state);
}

/// Security case 17.
#[tokio::test]
async fn an_ended_link_tells_its_adder_how_and_does_nothing() {
    for state in ["expired", "cancelled", "removed"] {
        let server = TestApp::local().await;
        let upstream = Upstream::open().await;
        let page = Page::of(&server, &open(&upstream)).await;
        brought_to(&server, state, &page).await;
        let before = server.audit_of("local", &page.connection).await;
        gone(&page.approve().await);
        gone(&page.give(KEY).await);
        let cancelled = page.cancel().await;
        assert!([200, 404].contains(&cancelled.status), "{}", cancelled.text);
        assert_eq!(page.state().await, state);
        assert_eq!(server.audit_of("local", &page.connection).await, before, "{state}");
        assert_eq!(upstream.requests(), 0);
        // A day later nobody is told anything.
        server.clock.advance_ms(25 * 60 * 60 * 1_000);
        gone(&page.read().await);
    }
}

#[tokio::test]
async fn a_link_that_never_was_is_answered_as_one_that_ended() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let mut page = Page::of(&server, &open(&upstream)).await;
    for link in ["link_0000000000000000000000000000000", "x", "conn_0"] {
        page.link = link.to_owned();
        gone(&page.read().await);
        page.approve().await.refused(403, "forbidden");
    }
}

#[tokio::test]
async fn nothing_but_the_persons_own_page_uses_a_link() {
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    for (body, commands) in [
        (open(&upstream), [("approve", json!({})), ("cancel", json!({}))]),
        (secret(&upstream), [("credential", json!({ "value": KEY })), ("cancel", json!({}))]),
    ] {
        let mut body = body;
        body["name"] = json!(format!("desk-{}", commands[0].0));
        let page = Page::of(&server, &body).await;
        let csrf = page.csrf().await;
        let (own, link) = (server.origin(), page.link.clone());
        for (command, input) in &commands {
            let path = format!("/v1/links/{link}/{command}");
            let post = async |headers: &[(&'static str, &str)]| {
                let caller = headers.iter().fold(server.anyone(), |caller, (name, value)| caller.with(name, value));
                caller.post(&path, input).await
            };
            let token = ("x-playmaker-csrf", csrf.as_str());
            let origin = ("origin", own.as_str());
            // A bearer credential, good or not, is an agent's.
            let answer = post(&[token, origin, ("authorization", "Bearer anything-at-all-here")]).await;
            answer.refused(403, "forbidden");
            assert!(answer.headers.get("www-authenticate").is_none());
            post(&[token, ("origin", "https://evil.example.test")]).await.refused(403, "origin_not_allowed");
            post(&[token, ("origin", "null")]).await.refused(403, "origin_not_allowed");
            post(&[token]).await.refused(403, "origin_not_allowed");
            for site in ["cross-site", "same-site", "none"] {
                post(&[token, origin, ("sec-fetch-site", site)]).await.refused(403, "origin_not_allowed");
            }
            post(&[origin]).await.refused(403, "forbidden");
            for wrong in ["", "x", &csrf[1..], &format!("{csrf}x"), &csrf.to_lowercase()] {
                post(&[("x-playmaker-csrf", wrong), origin]).await.refused(403, "forbidden");
            }
        }
        let read = server.anyone().with("authorization", "Bearer anything-at-all-here");
        read.get(&format!("/v1/links/{link}")).await.refused(403, "forbidden");
        assert_eq!(page.state().await, "ready", "nothing changed");
        assert_eq!(server.audit_of("local", &page.connection).await, ["connection_added"]);
    }
    assert_eq!(upstream.requests(), 0);
}

#[tokio::test]
async fn the_token_of_one_link_opens_no_other() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let page = Page::of(&server, &open(&upstream)).await;
    let mut body = open(&upstream);
    body["name"] = json!("other");
    let other = Page::of(&server, &body).await;
    let browser = page.browser.clone().with("x-playmaker-csrf", &other.csrf().await);
    browser.post(&format!("/v1/links/{}/approve", page.link), &json!({})).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_server_of_keys_has_nobody_to_open_a_link() {
    let server = TestApp::with_keys(&[FULL]).await;
    let path = "/v1/links/link_00000000000000000000000000000000";
    server.anyone().get(path).await.refused(401, "unauthenticated");
    server.holder(&FULL).get(path).await.refused(403, "forbidden");
    let approve = server.anyone().with("origin", &server.origin());
    approve.post(&format!("{path}/approve"), &json!({})).await.refused(401, "unauthenticated");
}

/// Security case 30.
#[tokio::test]
async fn of_two_clicks_at_once_one_approves_and_both_are_told() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let page = Page::of(&server, &open(&upstream)).await;
    let (one, other) = tokio::join!(page.approve(), page.approve());
    assert_eq!(one.done(200)["connected_at"], other.done(200)["connected_at"]);
    let (cancelled, approved) = {
        let mut body = open(&upstream);
        body["name"] = json!("other");
        let page = Page::of(&server, &body).await;
        let (cancelled, approved) = tokio::join!(page.cancel(), page.approve());
        let audit = server.audit_of("local", &page.connection).await;
        assert_eq!(audit.len(), 2, "{audit:?}");
        (cancelled, approved)
    };
    assert!((cancelled.status == 200) != (approved.status == 200), "{} {}", cancelled.text, approved.text);
    assert_eq!(server.audit_of("local", &page.connection).await, ["connection_added", "connection_connected"]);
}
