//! How keys end, and that nobody can tell from an answer how one did.

use playmaker::identity::keys::revoke_of_person;
use playmaker::identity::{Changed as Forget, Role};
use playmaker::ledger::{Actor, Changed};
use serde_json::{Value, json};

use super::{House, text, told};
use crate::support::people::Answer;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const NOBODYS: &str = "pmk_00000000000000000000000000000000000000000004MNA7O";
const DISABLE: &str = "UPDATE people SET status = $2 WHERE id = $1";
const DEMOTE: &str = "UPDATE memberships SET role = $2 WHERE person = $1";
const LEAVE: &str = "DELETE FROM memberships WHERE person = $1 AND org = $2";
const CONDEMN: &str = "UPDATE orgs SET status = $2 WHERE id = $1";

/// A refusal without what differs between any two answers.
fn bare(answer: &Answer) -> (u16, Value, Vec<(String, String)>) {
    let changing = ["x-request-id", "date"];
    let headers = answer.headers.iter().filter(|(name, _)| !changing.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status, answer.refused(401, "unauthenticated"), headers.collect())
}

/// Security case 10.
#[tokio::test]
async fn an_unknown_a_revoked_an_expired_and_a_disabled_persons_key_are_answered_alike() {
    let house = House::open().await;
    let (admin, member) = (house.member(Role::Admin).await, house.member(Role::Member).await);
    let (revoked, rotated) = (admin.makes("revoked").await, admin.makes("rotated").await);
    let until = json!({ "name": "brief", "permissions": ["org:read"], "expires_at": "2026-10-01T09:31:00Z" });
    let (expired, personal) = (admin.does("create_key", until).await.unwrap(), member.makes("mine").await);
    for made in [&revoked, &rotated, &expired, &personal] {
        house.reads(text(made)).await.done(200);
    }
    admin.does("revoke_key", json!({ "id": revoked["id"] })).await.unwrap();
    admin.does("rotate_key", json!({ "id": rotated["id"], "grace_seconds": 0 })).await.unwrap();
    house.server.clock.advance_ms(60_000);
    house.sets(DISABLE, [member.person(), "disabled"], Forget::Person(member.person())).await;

    let unknown = bare(&house.reads(NOBODYS).await);
    let misspelt = format!("{}x", &NOBODYS[..52]);
    for other in [text(&revoked), text(&rotated), text(&expired), text(&personal), &misspelt] {
        assert_eq!(bare(&house.reads(other).await), unknown);
    }
    // Another org's path is refused before anything is looked up there.
    let good = admin.makes("good").await;
    let holder = house.holds(text(&good));
    let there = holder.get("/v1/orgs/south/playbooks").await.refused(403, "forbidden");
    assert_eq!(holder.get("/v1/orgs/nowhere/playbooks").await.refused(403, "forbidden"), there);

    house.sets(DISABLE, [member.person(), "active"], Forget::Person(member.person())).await;
    house.reads(text(&personal)).await.done(200);
}

#[tokio::test]
async fn revoking_is_for_good_and_again_is_the_same() {
    let house = House::open().await;
    let (admin, member) = (house.member(Role::Admin).await, house.member(Role::Member).await);
    let key = admin.makes("nightly").await;
    let revoke = json!({ "id": key["id"] });
    assert_eq!(told(member.does("revoke_key", revoke.clone()).await).0, 404);
    let first = admin.does("revoke_key", revoke.clone()).await.unwrap();
    assert_eq!((&first["status"], &first["revoked_at"]), (&json!("revoked"), &json!("2026-10-01T09:30:00.000Z")));
    house.server.clock.advance_ms(1_000);
    assert_eq!(admin.does("revoke_key", revoke).await.unwrap(), first);
    assert_eq!(house.audit_of(&key).await, ["key_created", "key_revoked"]);
    let configured = admin.does("revoke_key", json!({ "id": "build-bot" })).await;
    assert_eq!(told(configured), (409, "conflict", Some("configured")));
    // An admin ends another's personal key too.
    let personal = member.makes("mine").await;
    admin.does("revoke_key", json!({ "id": personal["id"] })).await.unwrap();
    house.reads(text(&personal)).await.refused(401, "unauthenticated");
}

/// Security case 75.
#[tokio::test]
async fn a_personal_key_never_does_more_than_its_person_may_now() {
    let house = House::open().await;
    let member = house.member(Role::Member).await;
    let input = json!({ "name": "mine", "permissions": ["org:write"] });
    let made = member.does("create_key", input).await.unwrap();
    let holder = house.holds(text(&made));
    let playbook = |id: &str| json!({ "playbook": id, "name": "Support" });
    holder.post("/v1/orgs/north/playbooks", &playbook("support")).await.done(201);
    let changed = Forget::Membership("north", member.person());
    house.sets(DEMOTE, [member.person(), "viewer"], changed).await;
    holder.post("/v1/orgs/north/playbooks", &playbook("billing")).await.refused(403, "forbidden");
    holder.get("/v1/orgs/north/playbooks").await.done(200);
    house.sets(DEMOTE, [member.person(), "member"], changed).await;
    holder.post("/v1/orgs/north/playbooks", &playbook("billing")).await.done(201);
    house.sets(LEAVE, [member.person(), "north"], changed).await;
    holder.get("/v1/orgs/north/playbooks").await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn who_leaves_an_org_leaves_no_key_behind() {
    let house = House::open().await;
    let (admin, member) = (house.member(Role::Admin).await, house.member(Role::Member).await);
    let (own, other) = (member.makes("mine").await, admin.makes("ours").await);
    let person = member.person().to_owned();
    let now = house.app().clock.now_ms();
    let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            let events =
                revoke_of_person(connection, "north", &person, now, &Actor::system(), "member_removed").await?;
            Ok(Changed::of((), events))
        })
    });
    house.app().ledger.commit("north", work).await.unwrap();
    assert_eq!(house.audit_of(&own).await, ["key_created", "key_revoked"]);
    assert_eq!(house.audit_of(&other).await, ["key_created"]);
    house.server.clock.advance_ms(5_000);
    house.reads(text(&own)).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn whoever_holds_a_key_may_end_it() {
    let house = House::open().await;
    let key = house.member(Role::Admin).await.makes("leaked").await;
    let identity = &house.app().identity;
    for text in ["no key at all", NOBODYS, crate::support::app::FULL.text] {
        identity.revoke_key_of_text(text).await.unwrap();
    }
    house.reads(text(&key)).await.done(200);
    identity.revoke_key_of_text(text(&key)).await.unwrap();
    house.reads(text(&key)).await.refused(401, "unauthenticated");
    house.server.holder(&crate::support::app::FULL).get("/v1/orgs/north/playbooks").await.done(200);
    let rows = house.server.audit("north").await;
    assert_eq!(rows.last().map(|row| row.actor.id.as_str()), key["id"].as_str());
}

#[tokio::test]
async fn keys_of_an_org_that_is_being_deleted_are_refused_until_its_owner_undoes_it() {
    let house = House::open().await;
    let key = house.member(Role::Admin).await.makes("nightly").await;
    let changed = Forget::Org("north");
    house.sets(CONDEMN, ["north", "deleting"], changed).await;
    for text in [text(&key), crate::support::app::FULL.text] {
        let answer = house.reads(text).await;
        answer.refused(403, "forbidden");
        assert_eq!(answer.header("www-authenticate"), "");
    }
    house.sets(CONDEMN, ["north", "active"], changed).await;
    house.reads(text(&key)).await.done(200);
    house.sets(CONDEMN, ["north", "deleted"], changed).await;
    house.reads(text(&key)).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn an_end_is_told_once_and_after_three_months_the_key_is_forgotten() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    let (key, revoked) = (admin.makes("nightly").await, admin.makes("revoked").await);
    admin.does("revoke_key", json!({ "id": revoked["id"] })).await.unwrap();
    house.server.clock.advance_ms(90 * DAY_MS);
    let identity = house.app().identity.clone();
    for _ in 0..2 {
        identity.sweep_keys(true).await.unwrap();
    }
    assert_eq!(house.audit_of(&key).await, ["key_created", "key_expired"]);
    let kept = async || {
        let listed = house.acting(admin.person(), "north").await.does("list_keys", json!({})).await.unwrap();
        let keys = listed["keys"].as_array().unwrap().iter();
        keys.map(|key| key["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kept().await, ["active", "expired"], "the configured one, and the one that ended just now");
    house.server.clock.advance_ms(90 * DAY_MS);
    identity.sweep_keys(true).await.unwrap();
    assert_eq!(kept().await, ["active"]);
}
