//! `playmaker key`: keys of the database, made, listed and ended by whoever runs the server.

use std::process::Stdio;

use playmaker::identity::keys::checksum_ok;
use tokio::process::Command;

use super::House;
use crate::support::app::FIRST_KEY;

impl House {
    /// Runs a command over the database of the server: its code, its output, its words beside.
    async fn runs(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
        command.args(arguments).env_clear().stdin(Stdio::null());
        command.env("DATABASE_URL", self.server.database().url()).env("SECRETS_KEYS", FIRST_KEY);
        let done = command.output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    }
}

#[tokio::test]
async fn a_key_is_stored_works_and_is_ended_while_the_server_runs() {
    let house = House::open().await;
    let create = ["key", "create", "--org", "north", "--id", "nightly", "--permissions", "org:read", "--store"];
    let (code, out, err) = house.runs(&[&create[..], &["--limit", "1000/month", "--expires", "30d"]].concat()).await;
    assert_eq!(code, Some(0), "{err}");
    let (key, id) = out.trim_end().split_once('\n').unwrap();
    assert!(checksum_ok(key) && id.starts_with("key_"), "{out}");
    house.reads(key).await.done(200);
    let found = house.app().identity.key("north", id).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.created_by.as_str()), ("nightly", "operator"));
    assert_eq!(found.usage_limit.map(|limit| (limit.calls, limit.period.word())), Some((1_000, "month")));

    let (code, out, _) = house.runs(&["key", "list", "--org", "north"]).await;
    assert!(code == Some(0) && out.contains(id) && out.contains("\tactive\t") && !out.contains(key), "{out}");
    assert_eq!(house.runs(&["key", "list", "--org", "south"]).await.1, "");
    let (code, _, err) = house.runs(&create).await;
    assert!(code == Some(1) && err.lines().count() == 1 && err.contains("name"), "{err}");

    assert_eq!(house.runs(&["key", "revoke", "--org", "north", id]).await.0, Some(0));
    house.server.clock.advance_ms(5_000);
    house.reads(key).await.refused(401, "unauthenticated");
    assert_eq!(house.runs(&["key", "revoke", "--org", "south", id]).await.0, Some(1));
    let rows = house.server.audit("north").await;
    let told: Vec<_> = rows.iter().map(|row| (row.kind.as_str(), row.actor.id.as_str())).collect();
    assert_eq!(told, [("key_created", "operator"), ("key_revoked", "operator")]);
}

#[tokio::test]
async fn what_is_wrong_is_one_line() {
    let house = House::open().await;
    for wrong in [
        &["--store"][..],
        &["--store", "--permissions", "org:admin"],
        &["--expires", "tomorrow"],
        &["--expires", "0d"],
        &["--limit", "many"],
        &["--limit", "5/year"],
    ] {
        let (code, out, err) = house.runs(&[&["key", "create", "--org", "north"], wrong].concat()).await;
        assert!(code.is_some_and(|code| code > 0) && out.is_empty() && !err.is_empty(), "{wrong:?}: {out}{err}");
    }
    assert!(house.server.audit("north").await.is_empty());
}
