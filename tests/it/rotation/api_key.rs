//! An API key gets a new text, and whoever holds the old one has its grace to change over.

use std::sync::{Arc, Mutex};

use playmaker::identity::Role;
use serde_json::json;

use super::{Load, callers_of, holder, succeeded};
use crate::keys::{House, text};
use crate::support::app::TestApp;
use crate::support::database::on_postgres;

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// Twice in a row, on every server there is: the old text works until its grace is over, the new one at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_rotated_under_load() {
    let house = House::with(&[("RATE_CALLER", "1000000/1000000")]).await;
    let beside: Option<TestApp> = if on_postgres() { Some(house.server.beside(&[]).await) } else { None };
    let servers: Vec<&TestApp> = [Some(&house.server), beside.as_ref()].into_iter().flatten().collect();
    let servers = callers_of(&servers);
    let admin = house.member(Role::Admin).await;
    let key = admin.makes("nightly").await;
    let held = Arc::new(Mutex::new(text(&key).to_owned()));

    let load = Load::begin(|number| {
        let (held, servers) = (held.clone(), servers.clone());
        let mut turn = number;
        Box::new(move |_| {
            turn += 1;
            let caller = holder(&servers[turn % servers.len()], &held.lock().unwrap());
            Box::pin(async move { succeeded(&caller.get("/v1/orgs/north/playbooks").await) })
        })
    });
    load.round().await;
    for _ in 0..2 {
        let rotate = json!({ "id": key["id"], "grace_seconds": 3_600 });
        let rotated = house.acting(admin.person(), "north").await.does("rotate_key", rotate).await.unwrap();
        load.round().await;
        // The end of the grace comes closer, and half of the holders' time is over when they change.
        house.server.clock.advance_ms(HOUR_MS / 2);
        load.round().await;
        let old = std::mem::replace(&mut *held.lock().unwrap(), text(&rotated).to_owned());
        load.round().await;
        house.server.clock.advance_ms(HOUR_MS / 2);
        load.round().await;
        for server in servers.iter() {
            let late = holder(server, &old);
            late.get("/v1/orgs/north/playbooks").await.refused(401, "unauthenticated");
        }
    }
    assert!(load.end().await >= 9 * 4);
}
