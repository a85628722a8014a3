//! The life of an org: made, renamed, deleted, restored, gone.

use playmaker::config::OrgCreation;
use playmaker::identity::orgs::DELETION_MS;
use playmaker::identity::{Permission, Role};
use serde_json::json;

use super::people::{Somebody, acme, told};
use crate::support::app::Key;

const FORBIDDEN: (u16, &str, Option<&str>) = (403, "forbidden", None);
const DELETING: (u16, &str, Option<&str>) = (409, "conflict", Some("deleting"));

#[tokio::test]
async fn a_person_makes_an_org_where_the_operator_lets_them() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await;
    let identity = &server.app.identity;
    let make = async |who: &Somebody, id: &str, rule| {
        identity.make_org(&who.caller().await.unwrap(), id, "  Another  ", rule).await.map_err(|problem| told(&problem))
    };
    assert_eq!(make(&bob, "second", OrgCreation::Owners).await.unwrap_err(), FORBIDDEN);
    assert_eq!(make(&ada, "second", OrgCreation::Nobody).await.unwrap_err(), FORBIDDEN);
    assert_eq!(make(&ada, "second", OrgCreation::Owners).await.unwrap().name, "Another");
    assert_eq!(make(&bob, "third", OrgCreation::Anyone).await.unwrap().id, "third");
    let in_third = bob.clone().acting_in("third").caller().await.unwrap();
    assert_eq!(in_third.role(), Some(Role::Owner));
    for taken in ["acme", "second"] {
        assert_eq!(make(&ada, taken, OrgCreation::Owners).await.unwrap_err(), (409, "conflict", Some("taken")));
    }
    // Decision D52: the server's own paths are nobody's.
    for reserved in ["v1", "sign-in", "settings", "Acme", "a"] {
        assert_eq!(make(&ada, reserved, OrgCreation::Owners).await.unwrap_err().0, 422, "{reserved}");
    }
}

#[tokio::test]
async fn owners_alone_rename_delete_and_restore() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Admin).await;
    for (operation, input) in [
        ("update_org", json!({ "name": "X" })),
        ("delete_org", json!({ "confirm": "acme" })),
        ("restore_org", json!({})),
    ] {
        assert_eq!(bob.refused(operation, input).await, FORBIDDEN);
    }
    let renamed = ada.does("update_org", json!({ "name": " Acme Works " })).await.unwrap();
    let shown = json!({
        "id": "acme", "name": "Acme Works", "status": "active", "created_at": "2026-10-01T09:30:00.000Z",
        "created_by": "operator",
    });
    assert_eq!(renamed, shown);
    ada.does("update_org", json!({ "name": "Acme Works" })).await.unwrap();
    assert_eq!(ada.refused("update_org", json!({ "name": "  " })).await, (422, "invalid_input", None));
    let slip = ada.does("delete_org", json!({ "confirm": "Acme" })).await.unwrap_err();
    assert_eq!(slip.issues()[0].pointer, "/confirm");
    assert_eq!(ada.refused("restore_org", json!({})).await, (409, "conflict", None));
    assert_eq!(ada.reads_audit(json!({ "action": "org_renamed" })).await.len(), 1);
}

#[tokio::test]
async fn an_org_that_is_being_deleted_is_read_and_restored_and_nothing_else() {
    let (_server, ada) = acme().await;
    let deleted = ada.does("delete_org", json!({ "confirm": "acme" })).await.unwrap();
    assert_eq!((&deleted["status"], &deleted["deletes_at"]), (&json!("deleting"), &json!("2026-10-08T09:30:00.000Z")));
    for operation in ["list_members", "list_invitations", "list_audit", "list_playbooks", "list_connections"] {
        ada.does(operation, json!({})).await.unwrap();
    }
    let commands = [
        ("invite_member", json!({ "email": "bob@acme.test", "role": "viewer" })),
        ("update_org", json!({ "name": "X" })),
        ("delete_org", json!({ "confirm": "acme" })),
        ("create_playbook", json!({ "playbook": "billing", "name": "Billing" })),
        ("change_role", json!({ "person": ada.caller_id(), "role": "owner" })),
        // Before its fields are looked at.
        ("remove_member", json!({})),
    ];
    for (operation, input) in commands {
        assert_eq!(ada.refused(operation, input).await, DELETING, "{operation}");
    }
    let restored = ada.does("restore_org", json!({})).await.unwrap();
    assert_eq!((&restored["status"], restored.get("deletes_at")), (&json!("active"), None));
    ada.does("create_playbook", json!({ "playbook": "billing", "name": "Billing" })).await.unwrap();
    let rows = ada.reads_audit(json!({ "target": "acme" })).await;
    let told: Vec<&str> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(told, ["org_restored", "org_deleted"]);
}

#[tokio::test]
async fn keys_and_agents_reach_no_org_that_is_being_deleted() {
    let key = Key {
        id: "bot",
        text: "a-key-that-may-do-everything",
        org: "acme",
        permissions: &["org:read", "org:write", "playbook:read", "playbook:write"],
        playbooks: None,
    };
    let entry = json!([key.entry()]).to_string();
    let server = super::people::signing_in(&[("API_KEYS", &entry)]).await;
    super::people::org(&server, "acme").await;
    let ada = Somebody::new(&server, "ada").await.joins("acme", Role::Owner).await;
    let bot = server.holder(&key);
    bot.get("/v1/orgs/acme/playbooks").await.done(200);
    ada.does("delete_org", json!({ "confirm": "acme" })).await.unwrap();
    let refused = bot.get("/v1/orgs/acme/playbooks").await;
    refused.refused(403, "forbidden");
    for path in ["/mcp", "/orgs/acme/mcp"] {
        let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        assert_eq!(bot.post(path, &ask).await.status, 403, "{path}");
    }
    ada.does("restore_org", json!({})).await.unwrap();
    bot.get("/v1/orgs/acme/playbooks").await.done(200);
}

#[tokio::test]
async fn after_seven_days_everything_goes_but_the_audit_and_the_id() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Member).await;
    ada.does("create_playbook", json!({ "playbook": "billing", "name": "Billing" })).await.unwrap();
    ada.does("invite_member", json!({ "email": "carol@acme.test", "role": "viewer" })).await.unwrap();
    ada.does("delete_org", json!({ "confirm": "acme" })).await.unwrap();
    server.clock.advance_ms(DELETION_MS - 1);
    server.app.upkeep.erase_orgs().await.unwrap();
    assert!(bob.caller().await.is_some());
    server.clock.advance_ms(1);
    let late = ada.clone().signed_in_again();
    assert_eq!(late.refused("restore_org", json!({})).await, (409, "conflict", None));
    for _ in 0..2 {
        server.app.upkeep.erase_orgs().await.unwrap();
    }
    assert!(ada.caller().await.is_none() && bob.caller().await.is_none());
    assert!(server.app.identity.invitations("acme", None, None, 10).await.unwrap().is_empty());
    assert!(playmaker::playbooks::list(&server.app.ledger, "acme", true).await.unwrap().is_empty());
    let last = server.audit("acme").await.pop().unwrap();
    assert_eq!(
        (last.kind.as_str(), last.actor.kind.as_str(), &last.data),
        ("org_deleted", "system", &json!({ "gone": true }))
    );
    let rows = server.app.ledger.after("acme", 0, 100).await.unwrap();
    assert!(rows.iter().all(|row| !row.kind.starts_with("playbook_")), "{rows:?}");

    let again = server.app.identity.make_org(&*nobody(&server, "dan").await, "acme", "Acme", OrgCreation::Anyone).await;
    assert_eq!(told(&again.unwrap_err()), (409, "conflict", Some("taken")));
}

async fn nobody(server: &crate::support::app::TestApp, name: &str) -> std::sync::Arc<playmaker::identity::Caller> {
    let caller = Somebody::new(server, name).await.caller().await.unwrap();
    assert!(!caller.may(Permission::OrgRead));
    caller
}
