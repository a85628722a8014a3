//! From a text to its caller: what is asked of the database, and how soon servers agree.

use std::sync::Arc;

use playmaker::config::ApiKey;
use playmaker::digest::sha256;
use playmaker::identity::{Identity, Permission, Playbooks, Role};
use playmaker::ids::{Ids, SystemEntropy};
use serde_json::json;

use super::{House, text};
use crate::support::database::on_postgres;

impl House {
    /// Callers as another server on the same database knows them.
    fn another(&self, configured: &[ApiKey]) -> Identity {
        let (ledger, clock) = (self.app().ledger.clone(), self.server.clock.clone());
        Identity::new(ledger, clock, Ids::new(Arc::new(SystemEntropy)), None, configured)
    }
}

/// Security case 12.
#[tokio::test]
async fn a_text_that_cannot_be_a_key_is_told_without_the_database() {
    let house = House::open().await;
    let identity = &house.app().identity;
    house.app().ledger.store().close().await;
    let good = format!("pmk_{}4MNA7O", "0".repeat(43));
    for text in [good.replace("4MNA", "4MNB"), good.replace("pmk_", "pmx_"), good.to_uppercase(), "x".repeat(300)] {
        assert!(identity.stored_key_caller(&text).await.unwrap().is_none(), "{text}");
        let answer = house.reads(&text).await;
        answer.refused(401, "unauthenticated");
    }
    assert_eq!(identity.stored_key_caller(&good).await.unwrap_err().status(), 503, "this one is asked for");
    house.reads(&good).await.refused(503, "unavailable");
}

/// Security case 11.
#[tokio::test]
async fn what_one_server_revokes_another_refuses_within_five_seconds() {
    let house = House::open().await;
    let (one, other) = (&house.app().identity, house.another(&[]));
    let admin = house.member(Role::Admin).await;
    let (key, rotated) = (admin.makes("nightly").await, admin.makes("hourly").await);
    let good = async |identity: &Identity, made| identity.stored_key_caller(text(made)).await.unwrap().is_some();
    for made in [&key, &rotated] {
        assert!(good(one, made).await && good(&other, made).await);
    }
    house.server.clock.advance_ms(1);
    admin.does("revoke_key", json!({ "id": key["id"] })).await.unwrap();
    let second = admin.does("rotate_key", json!({ "id": rotated["id"], "grace_seconds": 0 })).await.unwrap();
    assert!(!good(one, &key).await && !good(one, &rotated).await, "at once here");
    assert!(good(one, &second).await && good(&other, &second).await, "a new text works everywhere at once");
    house.server.clock.advance_ms(4_998);
    assert!(good(&other, &key).await, "a row of five seconds is still believed");
    house.server.clock.advance_ms(1);
    assert!(!good(&other, &key).await && !good(&other, &rotated).await);
}

/// Security case 11.
#[tokio::test]
async fn the_same_over_http_on_two_servers() {
    if !on_postgres() {
        return;
    }
    let house = House::open().await;
    let other = house.server.beside(&[]).await;
    let admin = house.member(Role::Admin).await;
    let key = admin.makes("nightly").await;
    let there = crate::support::people::Caller::new(other.url(""), Some(text(&key)));
    there.get("/v1/orgs/north/playbooks").await.done(200);
    admin.does("revoke_key", json!({ "id": key["id"] })).await.unwrap();
    house.server.clock.advance_ms(5_000);
    there.get("/v1/orgs/north/playbooks").await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn a_key_stands_in_the_configuration_or_in_the_database_and_not_in_both() {
    let house = House::open().await;
    let key = house.member(Role::Admin).await.makes("nightly").await;
    let entry = |sha256| ApiKey {
        id: "twin".into(),
        org: "north".into(),
        permissions: vec![Permission::OrgRead],
        playbooks: Playbooks::All,
        sha256,
        expires_at_ms: None,
        usage_limit: None,
    };
    house.another(&[entry(sha256("another-key-altogether"))]).check_configured_keys().await.unwrap();
    let digest = sha256(text(&key));
    let refused = house.another(&[entry(digest)]).check_configured_keys().await.unwrap_err();
    assert!(refused.detail().contains("twin") && !refused.detail().contains(&playmaker::digest::hex(digest)));
}

#[tokio::test]
async fn when_a_key_was_used_is_written_later_and_at_the_stop() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let (key, other) = (admin.makes("nightly").await, admin.makes("hourly").await);
    let last_used = async |id: &serde_json::Value| {
        let key = house.app().identity.key("north", id.as_str().unwrap()).await.unwrap().unwrap();
        key.last_used_at_ms.map(playmaker::clock::iso)
    };
    house.reads(text(&key)).await.done(200);
    house.server.clock.advance_ms(30_000);
    house.reads(text(&key)).await.done(200);
    assert_eq!(last_used(&key["id"]).await, None, "no request writes");
    house.app().identity.write_key_uses().await.unwrap();
    assert_eq!(last_used(&key["id"]).await.as_deref(), Some("2026-10-01T09:30:30.000Z"));
    assert_eq!(last_used(&other["id"]).await, None);

    house.reads(text(&other)).await.done(200);
    house.app().close().await;
    let next = house.server.beside(&[]).await;
    let key = next.app.identity.key("north", other["id"].as_str().unwrap()).await.unwrap().unwrap();
    assert_eq!(key.last_used_at_ms.map(playmaker::clock::iso).as_deref(), Some("2026-10-01T09:30:30.000Z"));
}

#[tokio::test]
async fn where_nobody_may_call_no_key_of_the_database_does_and_in_local_mode_it_must_be_good() {
    let house = House::open().await;
    // The servers below have the machine's own time.
    let forever = json!({ "name": "nightly", "permissions": ["org:read"], "expires_at": "never" });
    let key = house.member(Role::Admin).await.does("create_key", forever).await.unwrap();
    house.app().close().await;
    // What stays of the settings: the database and its keys.
    let (url, first) = (house.server.database().url().to_owned(), crate::support::app::FIRST_KEY);
    for (host, status) in [("0.0.0.0", 401), ("127.0.0.1", 200)] {
        let environment = [("DATABASE_URL", url.as_str()), ("SECRETS_KEYS", first), ("HOST", host)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = playmaker::config::load(&environment.into(), |_| Err(std::io::ErrorKind::NotFound.into()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = playmaker::server::Server::start_on(
            listener,
            settings.unwrap_or_else(|refusal| panic!("{refusal}")),
            &playmaker::config::Environment::new(),
            playmaker::telemetry::SecretRegistry::new(),
        )
        .await
        .unwrap();
        let address = server.address();
        let lifecycle = playmaker::lifecycle::Lifecycle::default();
        let running = tokio::spawn({
            let lifecycle = lifecycle.clone();
            async move { server.run(&lifecycle).await }
        });
        let holder = crate::support::people::Caller::new(format!("http://{address}"), Some(text(&key)));
        assert_eq!(holder.get("/v1/orgs/north/playbooks").await.status, status, "{host}");
        lifecycle.stop();
        running.await.unwrap();
    }
}
