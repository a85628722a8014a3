//! The grant of a connection that is removed ends at its provider (`connections.md` 12).

use serde_json::{Value, json};

use super::Scene;
use super::renewing::{HOUR, MINUTE};

impl Scene {
    async fn removed(&self) {
        let path = format!("/v1/orgs/local/connections/{}", self.connection);
        self.server.anyone().delete(&path).await.done(200);
    }

    async fn sweeps(&self) {
        self.server.app.connections.sweep_revocations().await.unwrap();
    }
}

#[tokio::test]
async fn both_tokens_are_revoked_and_that_is_told() {
    let scene = Scene::connected(|_| {}).await;
    let given = scene.simulator.given();
    assert!(given.iter().all(|token| scene.simulator.lives(token)));
    scene.removed().await;
    assert!(scene.simulator.revoked().is_empty(), "a removal does not wait for the provider");
    scene.sweeps().await;
    let revoked = scene.simulator.revoked();
    assert!(revoked[0].starts_with("sim-refresh") && revoked[1].starts_with("sim-access"), "{revoked:?}");
    assert!(!given.iter().any(|token| scene.simulator.lives(token)));
    let rows = scene.audit().await;
    assert_eq!(rows[rows.len() - 2..], ["connection_removed", "connection_revoked"]);
    assert_eq!(scene.last_row().await.1, json!({ "endpoint": "127.0.0.1", "code": null }));
    scene.sweeps().await;
    assert_eq!(scene.simulator.revoked().len(), 2, "once");
    let everything = scene.server.database().everything().await;
    assert!(!given.iter().any(|token| everything.contains(token)), "nothing in clear");
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_tried_five_times_within_the_hour() {
    let scene = Scene::connected(|_| {}).await;
    scene.simulator.set(|quirks| quirks.revoke_status = 503);
    scene.removed().await;
    let mut tries = Vec::new();
    for minute in 0..120 {
        let before = scene.simulator.revoked().len();
        scene.sweeps().await;
        if scene.simulator.revoked().len() > before {
            tries.push(minute);
        }
        scene.server.clock.advance_ms(MINUTE);
    }
    assert_eq!(tries, [0, 1, 6, 21, 56]);
    let row = scene.last_row().await;
    assert_eq!(row, ("connection_revoke_failed".into(), json!({ "endpoint": "127.0.0.1", "code": "http_503" })));
}

/// Security case 92: removing one of two that stand on the same grant leaves the other working.
#[tokio::test]
async fn a_grant_that_another_connection_stands_on_is_not_ended() {
    let scene = Scene::connected(|file| file["ways"][0]["revoke"] = json!({ "ends": "grant" })).await;
    let again = json!({ "provider": "sim", "name": "sim-too" });
    let added = scene.server.anyone().post("/v1/orgs/local/connections", &again).await.done(201);
    let other = Scene {
        connection: added["id"].as_str().unwrap().to_owned(),
        link: added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(),
        ..scene
    };
    let trip = other.leaves().await;
    let path = other.simulator.allows(&trip.address);
    other.back(&trip, &path).await.done(200);
    other.removed().await;
    other.sweeps().await;
    assert!(other.simulator.revoked().is_empty());
    let row = other.last_row().await;
    assert_eq!(row, ("connection_revoke_skipped".into(), json!({ "endpoint": "127.0.0.1", "code": "shared_grant" })));
    other.server.clock.advance_ms(2 * HOUR);
    other.works().await;
    let first: Value = other.server.anyone().get("/v1/orgs/local/connections").await.done(200);
    let last = Scene { connection: first["connections"][0]["id"].as_str().unwrap().to_owned(), ..other };
    last.removed().await;
    last.sweeps().await;
    assert!(!last.simulator.revoked().is_empty(), "the last one ends it");
}

/// Security case 98: tokens that come for a connection that is gone are ended, and nothing is told of a renewal.
#[tokio::test]
async fn a_removal_during_a_renewal_ends_the_new_tokens_too() {
    use crate::support::eventually;
    use crate::support::simulator::Fault;
    let scene = Scene::connected(|_| {}).await;
    scene.meets([Fault::Hang]);
    scene.server.clock.advance_ms(59 * MINUTE);
    scene.works().await;
    eventually("the request", async || (scene.simulator.held() == 1).then_some(())).await;
    scene.removed().await;
    scene.simulator.release();
    eventually("both grants are left to be ended", async || {
        scene.sweeps().await;
        (scene.simulator.revoked().len() >= 4).then_some(())
    })
    .await;
    assert!(!scene.simulator.given().iter().any(|token| scene.simulator.lives(token)));
    let rows = scene.rows().await;
    assert_eq!(rows, ["connection_removed", "connection_revoked", "connection_revoked"]);
}
