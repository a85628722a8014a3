//! Rows, filters and pages of the audit, and how long it lasts.

use playmaker::identity::Role;
use serde_json::{Value, json};

use crate::members::{Somebody, acme};
use crate::support::app::FULL;

fn actions(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["action"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_row_tells_who_did_what_and_how_they_came() {
    let (_server, ada) = acme().await;
    ada.does("update_org", json!({ "name": "Acme Works" })).await.unwrap();
    let mut rows = ada.reads_audit(json!({})).await;
    let id = rows[0]["id"].take();
    assert_eq!(uuid::Uuid::parse_str(id.as_str().unwrap()).unwrap().get_version_num(), 7);
    let row = json!({
        "id": null,
        "time": "2026-10-01T09:30:00.000Z",
        "org": "acme",
        "actor": ada.caller_id(),
        "actor_name": "ada",
        "via": "studio",
        "client_id": null,
        "action": "org_renamed",
        "target": { "type": "org", "id": "acme", "name": "Acme Works" },
        "result": "ok",
        "reason": null,
        "changes": { "name": { "before": "ACME", "after": "Acme Works" } },
        "request_id": "request-1",
        "address": "2001:db8:1:2::/64",
        "user_agent": "Mozilla/5.0 (a test)",
    });
    assert_eq!(rows, [row]);
}

#[tokio::test]
async fn a_request_over_http_is_told_with_its_id_its_address_and_its_client() {
    let server = crate::support::app::TestApp::with_keys(&[FULL]).await;
    let bot = server.holder(&FULL).with("user-agent", "bot/1.0");
    let body = json!({ "playbook": "billing", "name": "Billing" });
    let made = bot.post("/v1/orgs/north/playbooks", &body).await;
    made.done(201);
    let rows = server.app.ledger.audit("north", &Default::default(), playmaker::ledger::Order::Desc, None, 10).await;
    let rows = rows.unwrap();
    assert_eq!((rows.len(), rows[0].action.as_str()), (1, "playbook_created"));
    assert_eq!(
        (rows[0].actor.id.as_str(), rows[0].target(), rows[0].target_name.as_deref()),
        ("build-bot", ("playbooks", "billing"), Some("Billing"))
    );
    let origin = serde_json::to_value(rows[0].origin.as_ref().unwrap()).unwrap();
    let expected = json!({
        "via": "http", "request_id": made.header("x-request-id"), "address": "127.0.0.1", "user_agent": "bot/1.0",
    });
    assert_eq!(origin, expected);
    // What a playbook's people read tells no address.
    let history = bot.get("/v1/orgs/north/playbooks/billing/events").await.done(200);
    assert!(!history.to_string().contains("127.0.0.1"), "{history}");
}

#[tokio::test]
async fn it_is_read_newest_first_by_actor_action_target_and_time() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Admin).await;
    let mut invited = Vec::new();
    for (who, name) in [(&ada, "carol"), (&bob, "dan"), (&ada, "eve")] {
        let asked = json!({ "email": format!("{name}@acme.test"), "role": "viewer" });
        invited.push(who.does("invite_member", asked).await.unwrap());
        server.clock.advance_ms(1_000);
    }
    bob.does("revoke_invitation", json!({ "id": invited[0]["id"] })).await.unwrap();

    let all = ada.reads_audit(json!({})).await;
    assert_eq!(actions(&all), ["invitation_revoked", "member_invited", "member_invited", "member_invited"]);
    let by = ada.reads_audit(json!({ "actor": bob.caller_id() })).await;
    assert_eq!(actions(&by), ["invitation_revoked", "member_invited"]);
    let of = ada.reads_audit(json!({ "target": invited[0]["id"] })).await;
    assert_eq!(actions(&of), ["invitation_revoked", "member_invited"]);
    assert!(ada.reads_audit(json!({ "target": "acme.test" })).await.is_empty());
    let two = ada.reads_audit(json!({ "action": "invitation_revoked, org_renamed" })).await;
    assert_eq!(actions(&two), ["invitation_revoked"]);
    let early = ada.reads_audit(json!({ "to": "2026-10-01T09:30:01Z" })).await;
    assert_eq!(early.len(), 1);
    let late = ada.reads_audit(json!({ "from": "2026-10-01T09:30:02Z" })).await;
    assert_eq!(late.len(), 2);
    assert_eq!(ada.reads_audit(json!({ "result": "ok" })).await.len(), 4);
    assert!(ada.reads_audit(json!({ "result": "refused" })).await.is_empty());

    let mut seen = Vec::new();
    let mut input = json!({ "limit": 3 });
    loop {
        let page = ada.does("list_audit", input.clone()).await.unwrap();
        seen.extend(page["rows"].as_array().unwrap().clone());
        if page["has_more"] == false {
            break;
        }
        input["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn every_fault_of_a_filter_is_told() {
    let (_server, ada) = acme().await;
    let bad = json!({ "from": "2026-10-02T00:00:00Z", "to": "2026-10-01T00:00:00Z", "action": "x;y" });
    let problem = ada.does("list_audit", bad).await.unwrap_err();
    let pointers: Vec<&str> = problem.issues().iter().map(|issue| issue.pointer.as_str()).collect();
    assert_eq!(pointers, ["/to", "/action"]);
    for field in ["from", "to"] {
        let problem = ada.does("list_audit", json!({ field: "2026-10-01T00:00:00" })).await.unwrap_err();
        assert_eq!(problem.issues()[0].pointer, format!("/{field}"));
    }
}

#[tokio::test]
async fn rows_go_when_their_time_is_over_and_positions_go_on() {
    let (server, ada) = acme().await;
    for name in ["One", "Two", "Three"] {
        ada.does("update_org", json!({ "name": name })).await.unwrap();
    }
    let last = server.app.ledger.after("acme", 0, 100).await.unwrap().pop().unwrap().position;
    server.clock.advance_ms(401 * 24 * 60 * 60 * 1_000);
    assert!(ada.reads_audit(json!({})).await.is_empty(), "not shown, whether they are gone or not");
    server.app.upkeep.forget_old_audit().await.unwrap();
    assert!(server.audit("acme").await.len() <= 1);
    ada.does("update_org", json!({ "name": "Four" })).await.unwrap();
    let rows = server.app.ledger.after("acme", last, 100).await.unwrap();
    assert_eq!((rows.len(), rows[0].position), (1, last + 1), "whoever followed the ledger misses nothing");
    assert_eq!(ada.reads_audit(json!({})).await.len(), 1);
}

#[tokio::test]
async fn with_audit_log_each_row_is_written_all_the_same() {
    let server =
        crate::support::app::TestApp::with(&[("AUDIT_LOG", "true"), ("API_KEYS", &json!([FULL.entry()]).to_string())])
            .await;
    let body = json!({ "playbook": "billing", "name": "Billing" });
    server.holder(&FULL).post("/v1/orgs/north/playbooks", &body).await.done(201);
    server.holder(&FULL).post("/v1/orgs/north/playbooks", &body).await.refused(409, "conflict");
}
