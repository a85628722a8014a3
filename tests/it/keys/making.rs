//! Making a key: what comes back, what is kept, and what its maker may not give.

use playmaker::identity::keys::checksum_ok;
use playmaker::identity::{Permission, Permissions, Playbooks, Role};
use serde_json::json;

use super::{House, at, text, told};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

#[tokio::test]
async fn an_admin_makes_a_key_and_its_holder_works_with_it() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let input = json!({
        "name": "nightly", "permissions": ["org:write", "playbook:read"], "playbooks": ["support", "billing"],
        "usage_limit": 1_000, "usage_period": "month",
    });
    let made = admin.does("create_key", input).await.unwrap();
    let key = text(&made).to_owned();
    assert!(checksum_ok(&key) && key.starts_with("pmk_") && key.len() == 53);
    let mut view = made.clone();
    view.as_object_mut().unwrap().remove("key");
    let expected = json!({
        "id": made["id"], "name": "nightly", "org": "north", "source": "database", "status": "active",
        "display": &key[..12], "permissions": ["org:write", "playbook:read"], "playbooks": ["billing", "support"],
        "person": null, "expires_at": "2026-12-30T09:30:00.000Z", "previous_until": null,
        "usage_limit": 1_000, "usage_period": "month", "usage_count": 0, "last_used_at": null,
        "created_at": "2026-10-01T09:30:00.000Z", "created_by": admin.caller.id(), "revoked_at": null,
    });
    assert_eq!(view, expected);
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("key_") && id.len() == 26, "{id}");

    let holder = house.holds(&key);
    let playbook = json!({ "playbook": "support", "name": "Support" });
    let done = holder.post("/v1/orgs/north/playbooks", &playbook).await.done(201);
    assert_eq!(done["created_by"], id);
    holder.get("/v1/orgs/north/playbooks/secret-plans").await.refused(403, "forbidden");
    holder.get("/v1/orgs/south/playbooks").await.refused(403, "forbidden");
    let told = holder.result("/mcp", "server/discover", json!({})).await.unwrap();
    let words = format!("This connection acts as the key nightly ({id}) in the org north.");
    assert!(told["instructions"].as_str().unwrap().starts_with(&words), "{told}");

    // Its text is kept nowhere; the audit knows it by its beginning.
    assert!(!house.server.database().everything().await.contains(&key));
    let rows = house.server.audit("north").await;
    let row = rows.iter().find(|row| row.kind == "key_created").unwrap();
    assert_eq!((row.actor.id.as_str(), &row.data["display"]), (admin.caller.id(), &json!(&key[..12])));
    assert!(!row.data.to_string().contains(&playmaker::digest::sha256_hex(&key)));
}

#[tokio::test]
async fn it_is_for_people_with_a_fresh_sign_in() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let input = json!({ "name": "late", "permissions": ["org:read"] });
    house.server.clock.advance_ms(10 * 60 * 1_000 + 1);
    let refused = admin.does("create_key", input.clone()).await;
    assert_eq!(told(refused), (403, "forbidden", Some("sign_in_again")));
    let by_key = house.server.holder(&crate::support::app::FULL).post("/v1/orgs/north/keys", &input).await;
    by_key.refused(403, "forbidden");
    assert_eq!(by_key.header("www-authenticate"), "", "no wider grant helps a key");
}

#[tokio::test]
async fn nobody_gives_more_than_they_hold() {
    let house = House::open().await;
    let only = Playbooks::Only(vec!["support".into()]);
    let (viewer, member) = (house.member(Role::Viewer).await, house.member(Role::Member).await);
    let narrowed = house.member_of("north", Role::Member, only).await;
    let key = |permissions: &[&str]| json!({ "name": "mine", "permissions": permissions });

    // Without administration a key is one's own, and asking for another kind is refused.
    let made = member.does("create_key", key(&["playbook:write"])).await.unwrap();
    assert_eq!(made["person"], member.caller.id());
    let org_key = json!({ "name": "ours", "permissions": ["org:read"], "personal": false });
    let refused = member.does("create_key", org_key).await.unwrap_err();
    assert_eq!((refused.status(), refused.challenge_of()), (403, None));

    assert_eq!(told(viewer.does("create_key", key(&["playbook:write"])).await), (403, "forbidden", None));
    let reading = json!({ "name": "reading", "permissions": ["playbook:read"] });
    viewer.does("create_key", reading).await.unwrap();

    // Who is narrowed to playbooks makes keys for these.
    let inside = json!({ "name": "inside", "permissions": ["playbook:read"] });
    let made = narrowed.does("create_key", inside).await.unwrap();
    assert_eq!(made["playbooks"], json!(["support"]));
    for playbooks in [json!("*"), json!(["support", "billing"])] {
        let wider = json!({ "name": "wider", "permissions": ["playbook:read"], "playbooks": playbooks });
        assert_eq!(told(narrowed.does("create_key", wider).await), (403, "forbidden", None));
    }

    // An admin who let a client have less has less to give, and manages only their own.
    let admin = house.member(Role::Admin).await;
    let few = admin.with_scopes(Permissions::of(&[Permission::OrgRead]));
    assert_eq!(few.makes("through-a-client").await["person"], admin.caller.id());
    let write = json!({ "name": "more", "permissions": ["org:write"] });
    assert_eq!(told(few.does("create_key", write).await), (403, "forbidden", None));
    // No key manages the org, whoever makes it.
    let managing = admin.does("create_key", json!({ "name": "manager", "permissions": ["org:admin"] })).await;
    assert_eq!(at(managing), "/permissions/0");
}

#[tokio::test]
async fn a_name_is_for_one_key_that_works() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let first = admin.makes("nightly").await;
    let again = json!({ "name": "nightly", "permissions": ["org:read"] });
    assert_eq!(told(admin.does("create_key", again.clone()).await), (409, "conflict", Some("taken")));
    // Keys of the configuration are called by their ids.
    let configured = json!({ "name": "build-bot", "permissions": ["org:read"] });
    assert_eq!(told(admin.does("create_key", configured).await), (409, "conflict", Some("taken")));
    admin.does("revoke_key", json!({ "id": first["id"] })).await.unwrap();
    admin.does("create_key", again.clone()).await.unwrap();
    // Another org has names of its own.
    house.member_of("south", Role::Admin, Playbooks::All).await.does("create_key", again).await.unwrap();
}

#[tokio::test]
async fn an_org_has_200_keys_that_work() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let made = (0..200).map(|number| {
        let admin = admin.clone();
        async move { admin.makes(&format!("key-{number}")).await }
    });
    let made = futures_util::future::join_all(made).await;
    let one_more = json!({ "name": "one-more", "permissions": ["org:read"] });
    assert_eq!(told(admin.does("create_key", one_more.clone()).await), (409, "conflict", Some("keys_full")));
    admin.does("revoke_key", json!({ "id": made[7]["id"] })).await.unwrap();
    admin.does("create_key", one_more).await.unwrap();
}

#[tokio::test]
async fn a_key_ends_in_90_days_or_when_its_maker_says_or_the_operator() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let until = |end: &str| json!({ "name": "x", "permissions": ["org:read"], "expires_at": end });
    for bad in ["2026-10-01T09:30:00Z", "2020-01-01T00:00:00Z", "tomorrow", "2027-01-01T00:00:00"] {
        assert_eq!(at(admin.does("create_key", until(bad)).await), "/expires_at", "{bad}");
    }
    let made = admin.does("create_key", until("2030-01-01T00:00:00+01:00")).await.unwrap();
    assert_eq!(made["expires_at"], "2029-12-31T23:00:00.000Z");
    let mut forever = until("never");
    forever["name"] = json!("forever");
    assert!(admin.does("create_key", forever.clone()).await.unwrap()["expires_at"].is_null());
    let period = json!({ "name": "y", "permissions": ["org:read"], "usage_period": "day" });
    assert_eq!(at(admin.does("create_key", period).await), "/usage_period");

    let strict = House::with(&[("KEY_MAX_AGE", "P30D")]).await;
    let admin = strict.member(Role::Admin).await;
    let end = admin.makes("nightly").await["expires_at"].as_str().unwrap().to_owned();
    let days = (playmaker::clock::parse_iso(&end).unwrap() - strict.app().clock.now_ms()) / DAY_MS;
    assert_eq!(days, 30);
    for long in [forever, until("2026-10-31T09:30:01Z")] {
        assert_eq!(at(admin.does("create_key", long).await), "/expires_at");
    }
    admin.does("create_key", until("2026-10-31T09:30:00Z")).await.unwrap();
}
