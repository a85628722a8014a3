//! A server that is killed in the middle of a call leaves a history that tells so (design rule 5).

use playmaker::clock::{Clock, SystemClock};
use playmaker::ledger::{Filter, Order};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::app::{FIRST_KEY, TestApp};
use crate::support::database::Database;
use crate::support::eventually;
use crate::support::people::Caller;
use crate::support::services::Service;
use crate::support::upstream::Upstream;

/// The real program over a database, in a folder of its own.
pub(super) async fn program(database: &Database, folder: &std::path::Path, tool_servers: &str) -> Service {
    Service::start("playmaker", |port| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
        command.env_clear().current_dir(folder).env("PORT", port.to_string());
        command.env("DATABASE_URL", database.url()).env("SECRETS_KEYS", FIRST_KEY).env("TOOL_SERVERS", tool_servers);
        command
    })
    .await
}

async fn history(server: &TestApp) -> Vec<(String, Value)> {
    let page = server.app.ledger.history("local", "support", &Filter::default(), Order::Asc, None, 100).await.unwrap();
    page.rows.into_iter().map(|row| (row.kind, row.data)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_is_killed_is_told_as_lost_and_never_made_again() {
    let (database, upstream) = (Database::fresh().await, Upstream::open().await);
    let folder = tempfile::tempdir().unwrap();
    let tool_servers = json!({ "desk": { "url": upstream.url(), "org": "local" } }).to_string();
    let killed = program(&database, folder.path(), &tool_servers).await;
    let caller = Caller::new(killed.url(""), None);
    caller.post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "S" })).await.done(201);
    upstream.hold();
    let path = "/v1/orgs/local/playbooks/support/tool-servers/desk/tools/order/execute";
    let body = json!({ "arguments": { "what": "hinges" }, "idempotency_key": "order-1" });
    let call = caller.request("POST", path).header("content-type", "application/json").body(body.to_string()).send();
    let call = tokio::spawn(call);
    eventually("that the call reaches the tool", async || (upstream.calls() == 1).then_some(())).await;
    // Dropping it is SIGKILL: nothing is said goodbye to.
    drop(killed);
    assert!(call.await.unwrap().is_err(), "nobody answered");
    upstream.release();

    // The next server finds the start of the call; while the dead one might still live, no more is said.
    let now = SystemClock.now_ms();
    let next = TestApp::on(database, &[("TOOL_SERVERS", &tool_servers)], now).await;
    next.app.tool_servers.sweep().await.unwrap();
    let told = history(&next).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].0.as_str(), &told[0].1["arguments"]), ("tool_execute_started", &json!({ "what": "hinges" })));
    let again = next.anyone().post(path, &body).await.refused(409, "conflict");
    assert_eq!(again["kind"], "concurrent_change");

    next.clock.advance_ms(61_000);
    assert_eq!(next.app.tool_servers.sweep().await.unwrap(), 1);
    assert_eq!(next.app.tool_servers.sweep().await.unwrap(), 0, "once");
    let told = history(&next).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!((told[1].0.as_str(), &told[1].1["because"]), ("tool_execute_failed", &json!("lost")));
    assert_eq!(told[1].1["call_id"], told[0].1["call_id"]);

    // Whether it had its effect is not known, so the same call under its key is not made again.
    let again = next.anyone().post(path, &body).await;
    let problem = again.json();
    assert_eq!((again.status, &problem["kind"]), (409, &json!("effect_unknown")), "{problem}");
    assert_eq!(problem["type"], "urn:playmaker:problem:effect_unknown");
    assert_eq!(upstream.calls(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_is_there_after_a_kill() {
    let database = Database::fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let killed = program(&database, folder.path(), "{}").await;
    let caller = Caller::new(killed.url(""), None);
    let mut made = Vec::new();
    for number in 0..20 {
        let body = json!({ "playbook": format!("book-{number:02}"), "name": "Made" });
        made.push(caller.post("/v1/orgs/local/playbooks", &body).await.done(201));
    }
    drop(killed);
    let next = TestApp::on(database, &[], SystemClock.now_ms()).await;
    let listed = next.anyone().get("/v1/orgs/local/playbooks").await.done(200);
    assert_eq!(listed, json!({ "playbooks": made }));
}
