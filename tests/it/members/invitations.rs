//! Ways into an org, each for one address and once.

use playmaker::identity::Role;
use playmaker::identity::invitations::LIFE_MS;
use serde_json::{Value, json};

use super::people::{Somebody, acme, org};
use crate::support::app::TestApp;

const NOT_FOUND: (u16, &str, Option<&str>) = (404, "not_found", None);

async fn invite(by: &Somebody, email: &str) -> Value {
    by.does("invite_member", json!({ "email": email, "role": "member" })).await.unwrap()
}

fn code(invitation: &Value) -> Value {
    let link = invitation["link"].as_str().unwrap();
    json!({ "code": link.strip_prefix("https://pm.example/invitations#").unwrap() })
}

#[tokio::test]
async fn who_has_the_code_and_the_address_joins_once() {
    let (server, ada) = acme().await;
    let asked = json!({ "email": "Bob@Acme.test", "role": "member", "playbooks": ["billing"] });
    let invitation = ada.does("invite_member", asked).await.unwrap();
    assert_eq!(invitation["email"], "bob@acme.test");
    assert_eq!(
        (&invitation["status"], &invitation["created_by"], &invitation["expires_at"]),
        (&json!("open"), &json!(ada.caller_id()), &json!("2026-10-08T09:30:00.000Z"))
    );
    let bob = Somebody::new(&server, "bob").await;
    let membership = bob.does("accept_invitation", code(&invitation)).await.unwrap();
    let joined = json!({
        "org": "acme", "person": bob.caller_id(), "role": "member", "playbooks": ["billing"],
        "created_at": "2026-10-01T09:30:00.000Z",
    });
    assert_eq!(membership, joined);
    // No mail is sent here: the code proved the address.
    let person = server.app.identity.person(&bob.id).await.unwrap().unwrap();
    assert_eq!(person.email_verified_at_ms, Some(server.app.identity.now_ms()));
    assert_eq!(bob.refused("accept_invitation", code(&invitation)).await, NOT_FOUND);
    assert!(bob.clone().acting_in("acme").caller().await.unwrap().reaches("billing"));

    let revoke = json!({ "id": invitation["id"] });
    assert_eq!(ada.refused("revoke_invitation", revoke).await, (409, "conflict", None));
    let again = json!({ "email": "bob@acme.test", "role": "viewer" });
    assert_eq!(ada.refused("invite_member", again).await, (409, "conflict", Some("taken")));
    let told: Vec<String> =
        ada.reads_audit(json!({})).await.iter().map(|row| row["action"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, ["member_joined", "member_invited"]);
    let kept = server.database().everything().await;
    assert!(!kept.contains(code(&invitation)["code"].as_str().unwrap()), "the code is kept nowhere");
}

#[tokio::test]
async fn somebody_elses_invitation_changes_nothing_and_tells_the_address_in_part() {
    let (server, ada) = acme().await;
    let invitation = invite(&ada, "bob@acme.test").await;
    let eve = Somebody::new(&server, "eve").await;
    let problem = eve.does("accept_invitation", code(&invitation)).await.unwrap_err();
    assert_eq!((problem.status(), problem.kind_word()), (403, Some("not_yours")));
    assert!(problem.detail().contains("b•••@acme.test") && !problem.detail().contains("bob@"), "{problem}");
    let bob = Somebody::new(&server, "bob").await;
    bob.does("accept_invitation", code(&invitation)).await.unwrap();
}

#[tokio::test]
async fn a_newer_invitation_ends_the_one_before_it() {
    let (server, ada) = acme().await;
    let (first, second) = (invite(&ada, "bob@acme.test").await, invite(&ada, "bob@acme.test").await);
    let bob = Somebody::new(&server, "bob").await;
    assert_eq!(bob.refused("accept_invitation", code(&first)).await, NOT_FOUND);
    let listed = ada.does("list_invitations", json!({})).await.unwrap();
    let of = |id: &Value| {
        let found = listed["invitations"].as_array().unwrap().iter().find(|one| one["id"] == *id);
        found.unwrap()["status"].clone()
    };
    assert_eq!((of(&first["id"]), of(&second["id"])), (json!("revoked"), json!("open")));
    assert!(!listed.to_string().contains("link"));
    bob.does("accept_invitation", code(&second)).await.unwrap();
    let rows = ada.reads_audit(json!({ "action": "member_invited" })).await;
    assert_eq!(rows[0]["changes"]["replaces"], first["id"]);
}

#[tokio::test]
async fn an_invitation_ends_by_itself_and_by_its_makers() {
    let (server, ada) = acme().await;
    let (old, taken_back) = (invite(&ada, "bob@acme.test").await, invite(&ada, "carol@acme.test").await);
    for _ in 0..2 {
        let ended = ada.does("revoke_invitation", json!({ "id": taken_back["id"] })).await.unwrap();
        assert_eq!(ended["status"], "revoked");
    }
    let carol = Somebody::new(&server, "carol").await;
    assert_eq!(carol.refused("accept_invitation", code(&taken_back)).await, NOT_FOUND);
    server.clock.advance_ms(LIFE_MS);
    let bob = Somebody::new(&server, "bob").await;
    assert_eq!(bob.refused("accept_invitation", code(&old)).await, NOT_FOUND);
    let expired = ada.does("list_invitations", json!({ "status": "expired" })).await.unwrap();
    assert_eq!((expired["invitations"].as_array().unwrap().len(), &expired["invitations"][0]["id"]), (1, &old["id"]));
    let none = ada.does("list_invitations", json!({ "status": "open" })).await.unwrap();
    assert_eq!(none["invitations"], json!([]));
    bob.does("accept_invitation", code(&invite(&ada, "bob@acme.test").await)).await.unwrap();
    let unknown = json!({ "id": "inv_0123456789012345678901" });
    assert_eq!(ada.refused("revoke_invitation", unknown).await, NOT_FOUND);
    for bad in ["x", "0123456789012345678901234567", &"é".repeat(27)] {
        assert_eq!(carol.refused("accept_invitation", json!({ "code": bad })).await, NOT_FOUND);
    }
}

/// Security case 75.
#[tokio::test]
async fn an_admin_invites_no_owner_and_takes_none_back() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Admin).await;
    let owner = json!({ "email": "carol@acme.test", "role": "owner" });
    let forbidden = (403, "forbidden", None);
    assert_eq!(bob.refused("invite_member", owner.clone()).await, forbidden);
    let made = ada.does("invite_member", owner).await.unwrap();
    assert_eq!(bob.refused("revoke_invitation", json!({ "id": made["id"] })).await, forbidden);
    let narrowed = json!({ "email": "carol@acme.test", "role": "admin", "playbooks": ["billing"] });
    assert_eq!(ada.refused("invite_member", narrowed).await, (422, "invalid_input", None));
    let bad = ada.does("invite_member", json!({ "email": "carol", "role": "viewer" })).await.unwrap_err();
    assert_eq!(bad.issues()[0].pointer, "/email");
}

/// Security case 75: who is taken out, or may do less from now on, has left no door open.
#[tokio::test]
async fn an_invitation_ends_with_the_right_of_whoever_made_it() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Owner).await;
    let invites = async |email: &str, role: &str| {
        bob.does("invite_member", json!({ "email": email, "role": role })).await.unwrap()
    };
    let (owner, member) = (invites("zed@evil.test", "owner").await, invites("carol@acme.test", "member").await);
    let others = invite(&ada, "dan@acme.test").await;
    let status = async |invitation: &Value| {
        let listed = ada.does("list_invitations", json!({})).await.unwrap();
        let found = listed["invitations"].as_array().unwrap().iter().find(|one| one["id"] == invitation["id"]).cloned();
        found.unwrap()["status"].clone()
    };
    ada.does("change_role", json!({ "person": bob.caller_id(), "role": "admin" })).await.unwrap();
    assert_eq!(
        (status(&owner).await, status(&member).await),
        (json!("revoked"), json!("open")),
        "an admin makes no owner"
    );
    let carol = Somebody::new(&server, "carol").await;
    ada.does("remove_member", json!({ "person": bob.caller_id() })).await.unwrap();
    assert_eq!((status(&member).await, status(&others).await), (json!("revoked"), json!("open")));
    assert_eq!(carol.refused("accept_invitation", code(&member)).await, NOT_FOUND);
    Somebody::new(&server, "dan").await.does("accept_invitation", code(&others)).await.unwrap();
    let rows = ada.reads_audit(json!({ "action": "invitation_revoked" })).await;
    let told: Vec<(&Value, &Value)> = rows.iter().map(|row| (&row["actor"], &row["changes"]["cause"])).collect();
    let (by, cause) = (json!(ada.caller_id()), json!("inviter_may_no_more"));
    assert_eq!(told, [(&by, &cause), (&by, &cause)]);
}

/// Security case 1: another org's invitation is as one that was never made.
#[tokio::test]
async fn an_invitation_of_another_org_is_not_there() {
    let (server, ada) = acme().await;
    org(&server, "other").await;
    let eve = Somebody::new(&server, "eve").await.joins("other", Role::Owner).await;
    let invitation = invite(&ada, "bob@acme.test").await;
    let foreign = eve.does("revoke_invitation", json!({ "id": invitation["id"] })).await.unwrap_err();
    let unknown = eve.does("revoke_invitation", json!({ "id": "inv_0123456789012345678901" })).await.unwrap_err();
    assert_eq!(foreign.document(), unknown.document());
    assert_eq!(eve.does("list_invitations", json!({})).await.unwrap()["invitations"], json!([]));
}

async fn many(server: &TestApp, ada: &Somebody, count: usize) {
    for index in 0..count {
        invite(ada, &format!("guest-{index}@acme.test")).await;
    }
    assert_eq!(server.app.identity.invitations("acme", None, None, 1_000).await.unwrap().len(), count);
}

#[tokio::test]
async fn a_hundred_are_open_at_once_and_a_hundred_made_in_a_day() {
    let (server, ada) = acme().await;
    many(&server, &ada, 100).await;
    let one_more = json!({ "email": "last@acme.test", "role": "viewer" });
    assert_eq!(ada.refused("invite_member", one_more.clone()).await, (409, "conflict", Some("invitations_full")));
    let listed = ada.does("list_invitations", json!({ "limit": 1 })).await.unwrap();
    ada.does("revoke_invitation", json!({ "id": listed["invitations"][0]["id"] })).await.unwrap();
    let problem = ada.does("invite_member", one_more.clone()).await.unwrap_err();
    assert_eq!((problem.status(), problem.retry_after_s().is_some()), (429, true));
    server.clock.advance_ms(24 * 60 * 60 * 1_000);
    ada.does("invite_member", one_more).await.unwrap();
}

#[tokio::test]
async fn one_code_lets_one_in_however_often_it_is_sent_at_once() {
    let (server, ada) = acme().await;
    let invitation = invite(&ada, "bob@acme.test").await;
    let bob = Somebody::new(&server, "bob").await;
    let sent = (0..8).map(|_| bob.does("accept_invitation", code(&invitation)));
    let done = futures_util::future::join_all(sent).await;
    assert_eq!(done.iter().filter(|one| one.is_ok()).count(), 1);
}
