//! Whoever calls learns whom they act as.

use playmaker::identity::{Playbooks, Role};
use serde_json::{Value, json};

use super::{House, text};
use crate::support::app::{FULL, TestApp};

const EVERYTHING: [&str; 4] = ["org:read", "org:write", "playbook:read", "playbook:write"];

#[tokio::test]
async fn a_key_learns_what_it_may_and_what_it_has_used() {
    let house = House::open().await;
    let configured = house.server.holder(&FULL).get("/v1/me").await.done(200);
    let expected = json!({
        "id": "build-bot", "kind": "key", "name": "build-bot", "org": "north", "role": null, "scopes": EVERYTHING,
        "permissions": EVERYTHING, "playbooks": "*", "person": null, "usage": null, "orgs": null,
    });
    assert_eq!(configured, expected);

    let viewer = house.member_of("north", Role::Viewer, Playbooks::Only(vec!["support".into()])).await;
    let input = json!({
        "name": "mine", "permissions": ["playbook:read"], "usage_limit": 10, "usage_period": "month",
    });
    let made = viewer.does("create_key", input).await.unwrap();
    let own = house.holds(text(&made)).get("/v1/me").await.done(200);
    assert_eq!((&own["name"], &own["person"]), (&json!("mine"), &json!(viewer.caller.id())));
    assert_eq!((&own["permissions"], &own["playbooks"]), (&json!(["playbook:read"]), &json!(["support"])));
    let usage = json!({ "limit": 10, "used": 0, "period": "month", "resets_at": "2026-11-01T00:00:00.000Z" });
    assert_eq!(own["usage"], usage);
}

#[tokio::test]
async fn a_person_learns_their_role_and_their_orgs() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let me = admin.does("get_me", json!({})).await.unwrap();
    let of = |field: &str| me[field].clone();
    assert_eq!([of("id"), of("kind"), of("role")], [json!(admin.caller.id()), json!("person"), json!("admin")]);
    assert_eq!(of("permissions"), json!(["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"]));
    assert_eq!(of("orgs"), json!([{ "id": "north", "name": "NORTH", "status": "active", "role": "admin" }]));
}

#[tokio::test]
async fn the_local_developer_too() {
    let server = TestApp::local().await;
    let me = server.anyone().get("/v1/me").await.done(200);
    assert_eq!((&me["id"], &me["kind"], &me["org"]), (&json!("local"), &json!("local"), &json!("local")));
    assert_eq!((&me["permissions"], &me["orgs"]), (&json!(EVERYTHING), &Value::Null));
    TestApp::with_keys(&[FULL]).await.anyone().get("/v1/me").await.refused(401, "unauthenticated");
}
