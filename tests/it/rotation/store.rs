//! The keys of the secrets store change while connections are used: `playmaker secrets rekey` runs beside the servers.

use std::process::{Output, Stdio};

use playmaker::ledger::Changed;
use playmaker::secrets::{Fields, SecretsStore};
use serde_json::{Value, json};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::{Load, Request, callers_of};
use crate::support::app::{FIRST_KEY, SECOND_KEY, TestApp};
use crate::support::database::on_postgres;
use crate::support::eventually;
use crate::support::people::Caller;
use crate::support::upstream::Upstream;

const KEY: &str = "the-key-of-the-desk";
const UNLIMITED: [(&str, &str); 2] = [("RATE_CALLER", "1000000/1000000"), ("RATE_EXECUTE", "1000000/1000000")];
/// Records beside those of connections, so that moving them takes a while.
const MORE: usize = 700;

/// A connection with a credential in the secrets store, called as an agent does.
async fn connects(server: &TestApp, upstream: &Upstream, name: &str) {
    let body = json!({
        "name": name, "type": "mcp", "entry": { "url": upstream.url() },
        "credential": { "kind": "secret", "name": "Authorization", "in": "header", "scheme": "Bearer" },
    });
    let added = server.anyone().post("/v1/orgs/local/connections", &body).await.done(201);
    let link = added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let read = server.anyone().get(&format!("/v1/links/{link}")).await.done(200);
    let browser = server.anyone().with("origin", &server.origin());
    let browser = browser.with("x-playmaker-csrf", read["csrf"].as_str().unwrap());
    browser.post(&format!("/v1/links/{link}/credential"), &json!({ "value": KEY })).await.done(200);
}

async fn calls(server: &Caller, connection: &str) -> Result<(), String> {
    let path = format!("/v1/orgs/local/playbooks/support/tool-servers/{connection}/tools/look_up/execute");
    let answer = server.post(&path, &json!({ "arguments": { "word": "oak" } })).await;
    let done = answer.status == 200 && answer.json()["outcome"] == "result";
    if done { Ok(()) } else { Err(format!("{} {}", answer.status, answer.text)) }
}

fn load(servers: &[&TestApp]) -> Load {
    let servers = callers_of(servers);
    Load::begin(|number| -> Request {
        let servers = servers.clone();
        let mut turn = number;
        Box::new(move |_| {
            turn += 1;
            let (server, name) = (servers[turn % servers.len()].clone(), format!("desk-{}", turn % 3));
            Box::pin(async move { calls(&server, &name).await })
        })
    })
}

/// Seals `count` more records, of an org that nobody else is in.
async fn seals(server: &TestApp, count: usize) {
    let secrets = &server.app.secrets;
    let sealed: Vec<_> = (0..count)
        .map(|number| {
            let fields = Fields::from([("value".to_owned(), Zeroizing::new(format!("value {number}")))]);
            secrets.seal("busy", &format!("record-{number:05}"), 1, &fields).unwrap()
        })
        .collect();
    let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            for one in &sealed {
                SecretsStore::put(connection, one).await?;
            }
            Ok(Changed::nothing(()))
        })
    });
    server.app.ledger.commit("busy", work).await.unwrap();
}

fn rekey(server: &TestApp, folder: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
    command.args(["secrets", "rekey"]).env_clear().current_dir(folder).stdin(Stdio::null());
    command.env("DATABASE_URL", server.database().url()).env("SECRETS_KEYS", format!("{SECOND_KEY},{FIRST_KEY}"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Security case 14: under traffic, killed half way, then twice at once; no call fails, and in the end the old key can go.
#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_the_store_are_changed_under_load() {
    let first = TestApp::with(&UNLIMITED).await;
    let upstream = Upstream::behind(KEY).await;
    first.anyone().post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "S" })).await.done(201);
    for number in 0..3 {
        connects(&first, &upstream, &format!("desk-{number}")).await;
    }
    seals(&first, MORE).await;
    first.app.close().await;

    let both = first.beside(&[("SECRETS_KEYS", &format!("{SECOND_KEY},{FIRST_KEY}"))]).await;
    let secrets = &both.app.secrets;
    let old = secrets.rekey(true).await.unwrap().old;
    let load_of_both = load(&[&both]);
    load_of_both.round().await;
    let folder = tempfile::tempdir().unwrap();
    let mut killed = rekey(&both, folder.path()).spawn().unwrap();
    eventually("that some records are moved", async || (secrets.rekey(true).await.ok()?.old < old).then_some(())).await;
    killed.kill().await.unwrap();
    let left = secrets.rekey(true).await.unwrap().old;
    assert!(left > 0 && left < old, "it was killed half way: {left} of {old}");
    load_of_both.round().await;

    let (one, other) = (rekey(&both, folder.path()).output(), rekey(&both, folder.path()).output());
    let (one, other) = tokio::join!(one, other);
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.status.success() && other.status.success(), "{} {}", told(&one), told(&other));
    let counted = secrets.rekey(true).await.unwrap();
    assert_eq!((counted.old, counted.unreadable), (0, 0));
    assert!(counted.seen > MORE as u64 + 3, "the canary and the signing keys too: {counted:?}");
    load_of_both.round().await;

    // Several servers are restarted one by one, and requests go to those that are there; a SQLite file has one server.
    if on_postgres() {
        let second = first.beside(&[("SECRETS_KEYS", SECOND_KEY)]).await;
        let load_of_all = load(&[&both, &second]);
        load_of_all.round().await;
        assert!(load_of_all.end().await + load_of_both.end().await >= 4 * super::CALLERS);
        both.app.close().await;
    } else {
        assert!(load_of_both.end().await >= 4 * super::CALLERS);
        both.app.close().await;
    }
    let second = first.beside(&[("SECRETS_KEYS", SECOND_KEY)]).await;
    let load_of_second = load(&[&second]);
    load_of_second.round().await;
    load_of_second.end().await;
    assert!(upstream.credentials().contains(&format!("Bearer {KEY}")));
}

/// Servers are restarted one after the other, so at each step two of them have different keys. What either seals, the
/// other opens: a new key is added behind the old one first, then put before it.
#[tokio::test(flavor = "multi_thread")]
async fn at_each_step_servers_read_what_the_others_seal() {
    if !on_postgres() {
        return;
    }
    let upstream = Upstream::behind(KEY).await;
    let mut before = TestApp::with(&UNLIMITED).await;
    before.anyone().post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "S" })).await.done(201);
    let steps = [
        ("behind", format!("{FIRST_KEY},{SECOND_KEY}")),
        ("before", format!("{SECOND_KEY},{FIRST_KEY}")),
        ("alone", SECOND_KEY.to_owned()),
    ];
    for (step, keys) in &steps {
        let after = before.beside(&[("SECRETS_KEYS", keys)]).await;
        let (by_old, by_new) = (format!("{step}-1"), format!("{step}-2"));
        connects(&before, &upstream, &by_old).await;
        connects(&after, &upstream, &by_new).await;
        for server in [&before, &after] {
            for connection in [&by_old, &by_new] {
                calls(&server.anyone(), connection).await.unwrap_or_else(|failure| panic!("{step}: {failure}"));
            }
        }
        before.app.close().await;
        if *step == "before" {
            let folder = tempfile::tempdir().unwrap();
            let output = rekey(&after, folder.path()).output().await.unwrap();
            assert!(output.status.success(), "{}", told(&output));
        }
        before = after;
    }
    let known: Value = before.anyone().get("/v1/orgs/local/connections").await.done(200);
    assert_eq!(known["connections"].as_array().unwrap().len(), 6, "{known}");
}
