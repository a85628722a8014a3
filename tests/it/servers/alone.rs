//! One server a SQLite file: a second one would go on with what it once read while the first changes it.

use std::process::Output;

use tokio::process::Command;

use super::recovery::program;
use crate::support::app::FIRST_KEY;
use crate::support::database::{Database, on_postgres};

/// What the program does with these arguments over the database, until it ends by itself.
async fn ended(database: &Database, folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
    command.args(arguments).env_clear().current_dir(folder).env("PORT", "0").env("RUST_LOG", "off");
    command.env("DATABASE_URL", database.url()).env("SECRETS_KEYS", FIRST_KEY);
    let Output { status, stderr, .. } = command.kill_on_drop(true).output().await.unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[tokio::test]
async fn a_second_server_on_a_file_is_refused_in_one_line_until_the_first_is_gone() {
    if on_postgres() {
        return;
    }
    let (database, folder) = (Database::fresh().await, tempfile::tempdir().unwrap());
    let first = program(&database, folder.path(), "{}").await;
    let (code, told) = ended(&database, folder.path(), &["serve"]).await;
    assert_eq!((code, told.lines().count()), (Some(1), 1), "{told}");
    for words in ["playmaker.db is in use by another Playmaker server", "stop that one", "PostgreSQL"] {
        assert!(told.contains(words), "{told}");
    }
    // Commands that only move records run beside a server.
    let (code, told) = ended(&database, folder.path(), &["secrets", "rekey"]).await;
    assert_eq!(code, Some(0), "{told}");
    // Dropping it is SIGKILL: it gives nothing back itself.
    drop(first);
    drop(program(&database, folder.path(), "{}").await);
}
