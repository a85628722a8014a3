//! Changing what members may do, and taking them out.

use playmaker::identity::{By, Permission, Permissions, Playbooks, Role};
use serde_json::{Value, json};

use super::people::{Somebody, acme, told};

const FORBIDDEN: (u16, &str, Option<&str>) = (403, "forbidden", None);
const LAST_OWNER: (u16, &str, Option<&str>) = (409, "conflict", Some("last_owner"));

fn actions(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["action"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn members_are_listed_for_those_who_manage_the_org() {
    let (server, ada) = acme().await;
    server.clock.advance_ms(1);
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Viewer).await;
    server.clock.advance_ms(1);
    let only = Playbooks::Only(vec!["billing".into()]);
    Somebody::new(&server, "carol").await.joins_at("acme", Role::Member, only).await;

    let page = ada.does("list_members", json!({ "limit": 2 })).await.unwrap();
    assert_eq!(page["has_more"], true);
    let bob_listed = json!({
        "person": bob.caller_id(), "name": "bob", "email": "bob@acme.test", "role": "viewer", "playbooks": "*",
        "auth_methods": [], "created_at": "2026-10-01T09:30:00.001Z", "last_seen_at": null,
    });
    assert_eq!(page["members"][1], bob_listed);
    let rest = ada.does("list_members", json!({ "limit": 2, "cursor": page["next_cursor"] })).await.unwrap();
    assert_eq!((rest["has_more"].as_bool(), rest["next_cursor"].as_str()), (Some(false), None));
    assert_eq!((&rest["members"][0]["name"], &rest["members"][0]["playbooks"]), (&json!("carol"), &json!(["billing"])));

    let found = ada.does("list_members", json!({ "q": "CAR" })).await.unwrap();
    assert_eq!(found["members"].as_array().unwrap().len(), 1);
    let found = ada.does("list_members", json!({ "role": "viewer" })).await.unwrap();
    assert_eq!(found["members"].as_array().unwrap().len(), 1);
    let found = ada.does("list_members", json!({ "q": "_" })).await.unwrap();
    assert_eq!(found["members"], json!([]));
    let other = ada.does("list_members", json!({ "q": "car", "cursor": page["next_cursor"] })).await.unwrap_err();
    assert_eq!((other.status(), other.issues()[0].pointer.as_str()), (422, "/cursor"));
    for operation in ["list_members", "list_invitations", "list_audit"] {
        assert_eq!(bob.refused(operation, json!({})).await, FORBIDDEN);
    }
}

#[tokio::test]
async fn a_role_changes_at_once_and_is_told_once() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Viewer).await;
    assert!(!bob.caller().await.unwrap().may(Permission::PlaybookWrite));
    let asked = json!({ "person": bob.caller_id(), "role": "member", "playbooks": ["billing"] });
    for _ in 0..2 {
        let member = ada.does("change_role", asked.clone()).await.unwrap();
        assert_eq!((&member["role"], &member["playbooks"]), (&json!("member"), &json!(["billing"])));
    }
    let caller = bob.caller().await.unwrap();
    assert!(caller.may(Permission::PlaybookWrite) && caller.reaches("billing") && !caller.reaches("support"));

    let rows = ada.reads_audit(json!({})).await;
    assert_eq!(actions(&rows), ["member_role_changed"]);
    let told = json!({
        "role": { "before": "viewer", "after": "member" },
        "playbooks": { "before": "*", "after": ["billing"] },
    });
    assert_eq!(rows[0]["changes"], told);
    assert_eq!(rows[0]["target"], json!({ "type": "member", "id": bob.caller_id(), "name": "bob" }));

    // An admin reaches every playbook, whatever the membership was narrowed to.
    let admin = ada.does("change_role", json!({ "person": bob.caller_id(), "role": "admin" })).await.unwrap();
    assert_eq!(admin["playbooks"], "*");
    let narrowed = json!({ "person": bob.caller_id(), "playbooks": ["billing"] });
    assert_eq!(ada.refused("change_role", narrowed).await, (422, "invalid_input", None));
}

/// Security case 75.
#[tokio::test]
async fn nobody_grants_more_than_they_hold() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Admin).await;
    let carol = Somebody::new(&server, "carol").await.joins("acme", Role::Member).await;
    let change = |person: &Somebody, role: &str| json!({ "person": person.caller_id(), "role": role });
    assert_eq!(bob.refused("change_role", change(&bob, "owner")).await, FORBIDDEN);
    assert_eq!(bob.refused("change_role", change(&carol, "owner")).await, FORBIDDEN);
    assert_eq!(bob.refused("change_role", change(&ada, "admin")).await, FORBIDDEN);
    assert_eq!(bob.refused("remove_member", json!({ "person": ada.caller_id() })).await, FORBIDDEN);
    assert_eq!(carol.refused("change_role", change(&carol, "admin")).await, FORBIDDEN);
    assert_eq!(carol.refused("remove_member", json!({ "person": bob.caller_id() })).await, FORBIDDEN);
    let nobody = json!({ "person": "person:user_0123456789012345678901", "role": "member" });
    assert_eq!(ada.refused("change_role", nobody).await, (404, "not_found", None));

    bob.does("change_role", change(&carol, "admin")).await.unwrap();
    carol.does("change_role", change(&bob, "viewer")).await.unwrap();
    carol.does("change_role", change(&carol, "member")).await.unwrap();
    ada.does("change_role", change(&carol, "owner")).await.unwrap();
}

#[tokio::test]
async fn the_last_owner_stays_one() {
    let (server, ada) = acme().await;
    let leave = json!({ "person": ada.caller_id() });
    assert_eq!(ada.refused("change_role", json!({ "person": ada.caller_id(), "role": "admin" })).await, LAST_OWNER);
    assert_eq!(ada.refused("remove_member", leave.clone()).await, LAST_OWNER);
    // An owner whose account is stopped keeps no org going.
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Owner).await;
    assert!(server.app.identity.disable_person(&bob.id).await.unwrap());
    assert_eq!(ada.refused("remove_member", leave.clone()).await, LAST_OWNER);
    assert!(server.app.identity.enable_person(&bob.id).await.unwrap());

    // Two owners who take each other out at once: one of them stays.
    let (first, second) = tokio::join!(
        ada.does("remove_member", json!({ "person": bob.caller_id() })),
        bob.does("remove_member", json!({ "person": ada.caller_id() })),
    );
    assert_eq!(usize::from(first.is_ok()) + usize::from(second.is_ok()), 1, "{first:?} {second:?}");
}

#[tokio::test]
async fn who_is_taken_out_is_out_at_once_and_on_other_servers_in_five_seconds() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Member).await;
    let beside = crate::support::database::on_postgres();
    let other = if beside { Some(server.beside(&[]).await) } else { None };
    if let Some(other) = &other {
        assert!(bob.clone().on(other).caller().await.is_some());
    }
    assert!(bob.caller().await.is_some());
    let asked = json!({ "name": "own", "permissions": ["playbook:read"], "personal": true });
    let key = bob.does("create_key", asked).await.unwrap();
    let bearer = format!("Bearer {}", key["key"].as_str().unwrap());
    server.anyone().with("authorization", &bearer).get("/v1/me").await.done(200);
    let removed = ada.does("remove_member", json!({ "person": bob.caller_id() })).await.unwrap();
    assert_eq!(
        (&removed["removed"], &removed["name"], &removed["role"]),
        (&json!(true), &json!("bob"), &json!("member"))
    );
    assert!(bob.caller().await.is_none());
    // The key they held for themselves ended in the same commit.
    assert_eq!(server.anyone().with("authorization", &bearer).get("/v1/me").await.status, 401);
    server.clock.advance_ms(5_000);
    if let Some(other) = &other {
        assert!(bob.clone().on(other).caller().await.is_none());
    }
    assert_eq!(ada.refused("remove_member", json!({ "person": bob.caller_id() })).await, (404, "not_found", None));
    assert_eq!(actions(&ada.reads_audit(json!({})).await), ["key_revoked", "member_removed", "key_created"]);
}

#[tokio::test]
async fn anybody_may_leave() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Viewer).await;
    bob.does("remove_member", json!({ "person": bob.caller_id() })).await.unwrap();
    assert!(bob.caller().await.is_none());
    let rows = ada.reads_audit(json!({})).await;
    assert_eq!((actions(&rows), &rows[0]["actor"]), (vec!["member_left"], &json!(bob.caller_id())));
}

#[tokio::test]
async fn changes_of_members_need_a_fresh_sign_in() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Viewer).await;
    server.clock.advance_ms(10 * 60 * 1_000 + 1);
    let again = (403, "forbidden", Some("sign_in_again"));
    assert_eq!(ada.refused("change_role", json!({ "person": bob.caller_id(), "role": "member" })).await, again);
    assert_eq!(ada.refused("remove_member", json!({ "person": bob.caller_id() })).await, again);
    assert_eq!(ada.refused("delete_org", json!({ "confirm": "acme" })).await, again);
    ada.clone().signed_in_again().does("remove_member", json!({ "person": bob.caller_id() })).await.unwrap();
}

#[tokio::test]
async fn a_token_without_administration_asks_for_it_only_where_the_role_has_it() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Member).await;
    let scope = Permissions::of_scope("org:write playbook:write");
    let token = || By::Token { client: Some("client_1".into()), grant: None };
    let asked = json!({ "person": "person:user_0123456789012345678901" });
    for (person, challenged) in [(&ada, true), (&bob, false)] {
        let caller = person.with(scope, token()).await.unwrap();
        for operation in ["list_members", "remove_member"] {
            let input = if operation == "list_members" { json!({}) } else { asked.clone() };
            let problem = person.does_as(caller.clone(), operation, input).await.unwrap_err();
            assert_eq!(told(&problem), FORBIDDEN);
            assert_eq!(problem.challenge_of().is_some(), challenged, "{operation}");
        }
    }
}
