//! Refused acts: one row for each caller, reason and five minutes.

use playmaker::identity::Role;
use playmaker::identity::audit::{ADDS_ROLLED_UP_MS, ROLLED_UP_MS};
use serde_json::json;

use crate::members::{Somebody, acme};
use crate::support::app::{FULL, READER, TestApp};

#[tokio::test]
async fn refusals_are_counted_into_one_row() {
    let (server, ada) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Viewer).await;
    for _ in 0..3 {
        bob.refused("list_members", json!({})).await;
    }
    bob.refused("list_audit", json!({})).await;
    server.app.refusals.tell(false).await;
    assert!(ada.reads_audit(json!({})).await.is_empty(), "they are still counted");
    server.clock.advance_ms(ROLLED_UP_MS);
    server.app.refusals.tell(false).await;
    let rows = ada.reads_audit(json!({ "result": "refused" })).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["action"], &rows[0]["reason"], &rows[0]["actor"]),
        (&json!("access_refused"), &json!("forbidden"), &json!(bob.caller_id()))
    );
    let facts = json!({
        "reason": "forbidden", "count": 4, "what": ["list_audit", "list_members"], "since": "2026-10-01T09:30:00.000Z",
    });
    assert_eq!(rows[0]["changes"], facts);
    server.app.refusals.tell(true).await;
    assert_eq!(ada.reads_audit(json!({})).await.len(), 1);
}

#[tokio::test]
async fn what_is_refused_over_http_and_mcp_is_told_at_the_stop_at_the_latest() {
    let server = TestApp::with_keys(&[READER]).await;
    let reader = server.holder(&READER);
    let body = json!({ "playbook": "billing", "name": "Billing" });
    reader.post("/v1/orgs/north/playbooks", &body).await.refused(403, "forbidden");
    reader.get("/v1/orgs/south/playbooks").await.refused(403, "forbidden");
    assert_eq!(reader.post("/orgs/south/mcp", &json!({})).await.status, 403);
    reader.get("/v1/orgs/north/playbooks/nowhere").await.refused(404, "not_found");
    server.app.refusals.tell(true).await;
    let rows = server.audit("north").await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].kind.as_str(), &rows[0].data["count"]), ("access_refused", &json!(3)));
    let what = json!(["/orgs/south/mcp", "create_playbook", "list_playbooks"]);
    assert_eq!(rows[0].data["what"], what);
}

/// Who tries to add a connection and may not has an action of its own, a row a minute.
#[tokio::test]
async fn a_refused_adding_of_a_connection_is_told_by_itself() {
    let server = TestApp::with_keys(&[FULL]).await;
    let full = server.holder(&FULL);
    let body = json!({ "provider": "notion" });
    for _ in 0..2 {
        full.post("/v1/orgs/north/connections", &body).await.refused(403, "forbidden");
    }
    full.result("/mcp", "tools/call", json!({ "name": "add_connection", "arguments": body })).await.unwrap_err();
    server.clock.advance_ms(ADDS_ROLLED_UP_MS);
    server.app.refusals.tell(false).await;
    let rows = server.audit("north").await;
    assert_eq!(rows.len(), 1);
    let facts = json!({ "code": "forbidden", "count": 3, "since": "2026-10-01T09:30:00.000Z" });
    assert_eq!((rows[0].kind.as_str(), &rows[0].data, rows[0].actor.id.as_str()), ("add_refused", &facts, FULL.id));
}
