//! Rotating and changing a key.

use playmaker::identity::{Permission, Permissions, Playbooks, Role};
use serde_json::json;

use super::{House, at, text, told};

const HOUR_MS: i64 = 60 * 60 * 1_000;

#[tokio::test]
async fn the_text_before_works_until_its_grace_is_over() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let first = admin.makes("nightly").await;
    house.reads(text(&first)).await.done(200);
    let second = admin.does("rotate_key", json!({ "id": first["id"] })).await.unwrap();
    assert_eq!((&second["id"], &second["status"]), (&first["id"], &json!("rotating")));
    assert_eq!(second["previous_until"], "2026-10-02T09:30:00.000Z");
    assert_ne!(second["display"], first["display"]);
    for made in [&first, &second] {
        house.reads(text(made)).await.done(200);
    }
    house.server.clock.advance_ms(24 * HOUR_MS - 1);
    house.reads(text(&first)).await.done(200);
    house.server.clock.advance_ms(1);
    house.reads(text(&first)).await.refused(401, "unauthenticated");
    house.reads(text(&second)).await.done(200);
    let listed = admin.does("list_keys", json!({ "status": "active" })).await.unwrap();
    assert!(listed["keys"].as_array().unwrap().iter().any(|key| key["id"] == first["id"]), "{listed}");
    assert_eq!(house.audit_of(&first).await, ["key_created", "key_rotated"]);
}

#[tokio::test]
async fn rotating_again_ends_the_oldest_at_once_and_a_grace_of_nothing_the_one_before() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let first = admin.makes("nightly").await;
    let rotate = |grace: i64| json!({ "id": first["id"], "grace_seconds": grace });
    let second = admin.does("rotate_key", rotate(604_800)).await.unwrap();
    let third = admin.does("rotate_key", rotate(3_600)).await.unwrap();
    house.reads(text(&first)).await.refused(401, "unauthenticated");
    house.reads(text(&second)).await.done(200);
    house.reads(text(&third)).await.done(200);
    let fourth = admin.does("rotate_key", rotate(0)).await.unwrap();
    assert_eq!(fourth["status"], "active");
    house.reads(text(&third)).await.refused(401, "unauthenticated");
    house.reads(text(&fourth)).await.done(200);
    for grace in [-1, 604_801] {
        assert_eq!(at(admin.does("rotate_key", rotate(grace)).await), "/grace_seconds");
    }
}

#[tokio::test]
async fn what_cannot_be_rotated_says_why() {
    let house = House::open().await;
    let (admin, member) = (house.member(Role::Admin).await, house.member(Role::Member).await);
    let south = house.member_of("south", Role::Admin, Playbooks::All).await;
    let rotate = |id: &serde_json::Value| json!({ "id": id });
    assert_eq!(
        told(admin.does("rotate_key", json!({ "id": "build-bot" })).await),
        (409, "conflict", Some("configured"))
    );

    let key = admin.makes("nightly").await;
    // To another org, and to who sees only their own, it is as one that never was.
    let unknown = json!({ "id": "key_0123456789ABCDEFGHIJKL" });
    let never = south.does("rotate_key", unknown).await.unwrap_err().document();
    for stranger in [&south, &member] {
        assert_eq!(stranger.does("rotate_key", rotate(&key["id"])).await.unwrap_err().document(), never);
    }
    let own = member.does("rotate_key", json!({ "id": "build-bot" })).await.unwrap_err().document();
    assert_eq!(own, never);

    // Who got the text of a personal key could act as its person.
    let personal = member.makes("mine").await;
    assert_eq!(told(admin.does("rotate_key", rotate(&personal["id"])).await), (403, "forbidden", None));
    member.does("rotate_key", rotate(&personal["id"])).await.unwrap();
    // And who holds less than a key would have more with it.
    let wide = json!({ "name": "wide", "permissions": ["playbook:write"] });
    let wide = admin.does("create_key", wide).await.unwrap();
    let few = admin.with_scopes(Permissions::of(&[Permission::OrgAdmin]));
    assert_eq!(told(few.does("rotate_key", rotate(&wide["id"])).await), (403, "forbidden", None));

    admin.does("revoke_key", rotate(&key["id"])).await.unwrap();
    assert_eq!(told(admin.does("rotate_key", rotate(&key["id"])).await), (409, "conflict", Some("revoked")));
    house.server.clock.advance_ms(90 * 24 * HOUR_MS);
    let later = house.acting(admin.person(), "north").await;
    assert_eq!(told(later.does("rotate_key", rotate(&wide["id"])).await), (409, "conflict", Some("expired")));
}

#[tokio::test]
async fn a_key_is_renamed_limited_and_ended_earlier_but_never_later() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let (key, other) = (admin.makes("nightly").await, admin.makes("hourly").await);
    let change = |mut fields: serde_json::Value| {
        fields["id"] = key["id"].clone();
        fields
    };
    let changed = admin.does("update_key", change(json!({ "name": "weekly", "usage_limit": 50 }))).await.unwrap();
    assert_eq!((&changed["name"], &changed["usage_period"]), (&json!("weekly"), &json!("total")));
    let changed = admin.does("update_key", change(json!({ "usage_period": "day" }))).await.unwrap();
    assert_eq!((&changed["usage_limit"], &changed["usage_period"]), (&json!(50), &json!("day")));
    let end = "2026-11-01T00:00:00.000Z";
    let changed = admin.does("update_key", change(json!({ "expires_at": end }))).await.unwrap();
    assert_eq!(changed["expires_at"], end);
    for bad in ["2026-11-01T00:00:01Z", "2026-10-01T09:30:00Z"] {
        assert_eq!(at(admin.does("update_key", change(json!({ "expires_at": bad }))).await), "/expires_at");
    }
    let taken = change(json!({ "name": other["name"] }));
    assert_eq!(told(admin.does("update_key", taken).await), (409, "conflict", Some("taken")));
    let configured = json!({ "id": "build-bot", "name": "other-bot" });
    assert_eq!(told(admin.does("update_key", configured).await), (409, "conflict", Some("configured")));
    let period = json!({ "id": other["id"], "usage_period": "day" });
    assert_eq!(at(admin.does("update_key", period).await), "/usage_period");
    // What changes nothing is no row of the audit.
    admin.does("update_key", change(json!({}))).await.unwrap();
    assert_eq!(house.audit_of(&key).await, ["key_created", "key_updated", "key_updated", "key_updated"]);
    house.reads(text(&key)).await.done(200);
    house.server.clock.advance_ms(31 * 24 * HOUR_MS);
    house.reads(text(&key)).await.refused(401, "unauthenticated");
}
