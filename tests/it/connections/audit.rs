//! The audit: exactly one row for each change of a connection, and none for a look (`connections.md` 2.2 and 18).

use serde_json::{Value, json};

use super::{CONNECTIONS, Page, open, secret};
use crate::support::app::{ACCOUNT, TestApp};
use crate::support::eventually;
use crate::support::upstream::Upstream;

const KEY: &str = "the-key-of-the-desk";

#[tokio::test]
async fn each_change_is_told_once_with_its_facts_and_who_made_it() {
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let page = Page::of(&server, &secret(&upstream)).await;
    page.give("not-the-key").await.refused(422, "invalid_input");
    page.give(KEY).await.done(200);
    page.give(KEY).await.done(200);
    let path = format!("{CONNECTIONS}/{}", page.connection);
    for _ in 0..3 {
        server.anyone().get(&path).await.done(200);
        page.read().await.done(200);
    }
    server.anyone().delete(&path).await.done(200);
    server.anyone().delete(&path).await.done(200);

    let rows = server.audit("local").await;
    let told: Vec<(&str, &Value)> = rows.iter().map(|row| (row.kind.as_str(), &row.data)).collect();
    let expected = [
        (
            "connection_added",
            json!({
                "provider": null, "type": "mcp", "host": "127.0.0.1", "kind": "secret",
                "link_expires_at": "2026-10-01T09:40:00.000Z",
            }),
        ),
        ("connection_attempt_failed", json!({ "stage": "verification", "code": "credential_refused" })),
        ("connection_connected", json!({ "how": "secret", "account": null, "scopes": null, "version": 1 })),
        ("connection_removed", json!({})),
    ];
    assert_eq!(told, expected.iter().map(|(kind, data)| (*kind, data)).collect::<Vec<_>>());
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(
            (row.actor.kind.as_str(), row.actor.id.as_str(), row.actor.name.as_str()),
            ("local", "local", ACCOUNT)
        );
        assert_eq!(row.stream, format!("connections/{}", page.connection));
        assert_eq!(row.stream_position, i64::try_from(index).unwrap() + 1);
    }
}

#[tokio::test]
async fn a_refusal_on_the_page_and_a_link_that_ended_are_told_once() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let page = Page::of(&server, &open(&upstream)).await;
    page.cancel().await.done(200);
    page.cancel().await.done(200);
    assert_eq!(server.audit_of("local", &page.connection).await, ["connection_added", "connection_cancelled"]);

    let page = Page::of(&server, &open(&upstream)).await;
    server.clock.advance_ms(10 * 60 * 1_000);
    for _ in 0..3 {
        assert_eq!(page.state().await, "expired");
    }
    server.app.connections.sweep_links(playmaker::clock::Clock::now_ms(&*server.clock)).await.unwrap();
    let expired = ["connection_added", "connection_link_expired"];
    assert_eq!(server.audit_of("local", &page.connection).await, expired);

    // Nobody approved it for seven days: the server itself takes it away.
    server.clock.advance_ms(7 * 24 * 60 * 60 * 1_000);
    for _ in 0..2 {
        server.app.connections.sweep_links(playmaker::clock::Clock::now_ms(&*server.clock)).await.unwrap();
    }
    let rows = server.audit("local").await;
    let last = rows.last().unwrap();
    assert_eq!((last.kind.as_str(), &last.data["cause"]), ("connection_removed", &json!("never_approved")));
    assert_eq!(last.actor.kind, "system");
    assert_eq!(server.audit_of("local", &page.connection).await.len(), 3);
}

#[tokio::test]
async fn what_the_operator_forbids_and_allows_again_is_told_once_each() {
    let first = TestApp::local().await;
    let upstream = Upstream::open().await;
    let page = Page::of(&first, &open(&upstream)).await;
    page.approve().await.done(200);
    first.app.close().await;

    let path = format!("{CONNECTIONS}/{}", page.connection);
    let narrower = first.beside(&[("CONNECTIONS_BY_HAND", "false")]).await;
    for _ in 0..3 {
        let seen = narrower.anyone().get(&path).await.done(200);
        assert_eq!((&seen["status"], &seen["because"]), (&json!("connected"), &json!("connection_not_allowed")));
    }
    let told = ["connection_added", "connection_connected", "connection_not_allowed"];
    assert_eq!(narrower.audit_of("local", &page.connection).await, told);
    narrower.app.close().await;

    let wider = first.beside(&[]).await;
    eventually("that it is told", async || {
        let told = wider.audit_of("local", &page.connection).await;
        (told.last().unwrap() == "connection_allowed").then_some(())
    })
    .await;
    assert_eq!(wider.anyone().get(&path).await.done(200)["because"], Value::Null);
    assert_eq!(wider.audit_of("local", &page.connection).await.len(), 4);
}

#[tokio::test]
async fn a_variable_that_is_gone_breaks_a_reference_until_it_is_back() {
    let set = [("CONNECTIONS_VARIABLES", "local:DESK_*"), ("DESK_KEY", KEY)];
    let first = TestApp::with(&set).await;
    let upstream = Upstream::behind(KEY).await;
    let mut body = open(&upstream);
    body["credential"] = json!({
        "kind": "reference", "variable": "DESK_KEY", "name": "Authorization", "in": "header", "scheme": "Bearer",
    });
    let page = Page::of(&first, &body).await;
    page.give(KEY).await.refused(409, "conflict");
    assert_eq!(page.approve().await.done(200)["status"], "connected");
    assert!(upstream.credentials().contains(&format!("Bearer {KEY}")));
    first.app.close().await;

    let path = format!("{CONNECTIONS}/{}", page.connection);
    let without = first.beside(&[("DESK_KEY", "")]).await;
    let seen = without.anyone().get(&path).await.done(200);
    assert_eq!(seen["because"], "connection_broken");
    assert!(!seen["detail"].to_string().contains("DESK_KEY"), "{seen}");
    without.app.close().await;

    let again = first.beside(&[]).await;
    assert_eq!(again.anyone().get(&path).await.done(200)["because"], Value::Null);
    let rows = again.audit("local").await;
    let told: Vec<&str> = rows.iter().map(|row| row.kind.as_str()).collect();
    let expected = ["connection_added", "connection_connected", "connection_broken", "connection_recovered"];
    assert_eq!(told, expected);
    assert_eq!(rows[2].data["cause"], "variable_unset");
}
