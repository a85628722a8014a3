//! The audit as JSON Lines.

use futures_util::StreamExt;
use playmaker::identity::Role;
use playmaker::operations::admission;
use serde_json::{Value, json};

use crate::members::{Somebody, acme};
use crate::support::app::{FULL, TestApp};

async fn export(server: &TestApp, who: &Somebody, input: Value) -> Vec<Value> {
    let entry = server.app.operations.iter().find(|entry| entry.declaration.id == "export_audit").unwrap();
    let caller = who.caller().await.unwrap();
    let answer = entry.run(admission::context(server.app.clone(), caller, false), input).await.unwrap();
    let parts: Vec<_> = answer.lines.unwrap().collect().await;
    let text: Vec<u8> = parts.into_iter().flat_map(|part| part.unwrap()).collect();
    let text = String::from_utf8(text).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_export_is_whole_when_its_last_line_says_so() {
    let (server, ada) = acme().await;
    for index in 0..3 {
        ada.does("update_org", json!({ "name": format!("Acme {index}") })).await.unwrap();
        server.clock.advance_ms(1_000);
    }
    let lines = export(&server, &ada, json!({})).await;
    assert_eq!(lines.last().unwrap(), &json!({ "end": true, "rows": 3 }));
    assert_eq!(lines[0]["changes"]["name"]["after"], "Acme 0");
    let newest_first = ada.reads_audit(json!({ "action": "org_renamed" })).await;
    assert_eq!(lines[..3].iter().rev().cloned().collect::<Vec<_>>(), newest_first);
    // It is told itself.
    assert_eq!(ada.reads_audit(json!({ "action": "audit_exported" })).await.len(), 1);
    let some = json!({ "from": "2026-10-01T09:30:01Z", "to": "2026-10-01T09:30:02Z", "action": "org_renamed" });
    assert_eq!(export(&server, &ada, some).await.len(), 2);
}

#[tokio::test]
async fn an_export_spans_366_days_at_most() {
    let (_server, ada) = acme().await;
    let long = json!({ "from": "2025-09-30T00:00:00Z", "to": "2026-10-01T09:30:00Z" });
    let problem = ada.does("export_audit", long).await.unwrap_err();
    assert_eq!((problem.status(), problem.issues()[0].pointer.as_str()), (422, "/from"));
    let bob = Somebody::new(&_server, "bob").await.joins("acme", Role::Member).await;
    assert_eq!(bob.refused("export_audit", json!({})).await, (403, "forbidden", None));
}

#[tokio::test]
async fn no_key_reads_the_audit() {
    let server = TestApp::with_keys(&[FULL]).await;
    for path in ["/v1/orgs/north/audit", "/v1/orgs/north/audit/export", "/v1/orgs/north/members"] {
        let refused = server.holder(&FULL).get(path).await;
        refused.refused(403, "forbidden");
        assert_eq!(refused.header("www-authenticate"), "");
    }
}
