//! The operator's commands about clients and keys, beside a server that runs.

use std::process::Stdio;

use tokio::process::Command;

use super::{BACK, Scene};
use crate::support::app::FIRST_KEY;

impl Scene {
    /// What a command prints, and whether it succeeded.
    async fn command(&self, arguments: &[&str]) -> (bool, String) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
        command.args(arguments).env_clear().current_dir(folder.path()).stdin(Stdio::null());
        command.env("DATABASE_URL", self.server.database().url()).env("SECRETS_KEYS", FIRST_KEY);
        let output = command.output().await.unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }
}

#[tokio::test]
async fn a_client_is_made_listed_and_deleted() {
    let scene = Scene::new().await;
    let method = ["--method", "client_secret_basic"];
    let create = ["client", "create", "--name", "Desk", "--redirect-uri", BACK];
    let (made, told) = scene.command(&[create.as_slice(), &method].concat()).await;
    assert!(made, "{told}");
    let (id, secret) = told.trim().split_once('\n').unwrap();
    assert!(id.starts_with("client_") && secret.starts_with("pms_"));
    let client = scene.oauth().client(id).await.unwrap().unwrap();
    assert!(client.may_be_remembered(BACK) && client.gets_refresh_tokens());
    assert!(scene.command(&["client", "list"]).await.1.contains("by operator"));
    scene.code(id, &[]).await;
    assert!(scene.command(&["client", "delete", id]).await.0);
    assert!(scene.oauth().client(id).await.unwrap().is_none());
    assert!(!scene.command(&["client", "delete", id]).await.0);
    let bad = ["client", "create", "--name", "Desk", "--redirect-uri", "http://a.example/"];
    assert!(!scene.command(&bad).await.0);
}

#[tokio::test]
async fn a_key_is_rotated_while_the_server_runs() {
    let scene = Scene::new().await;
    let (done, kid) = scene.command(&["identity", "rotate-key"]).await;
    assert!(done && scene.oauth().public_key(kid.trim()).is_none(), "read within a minute");
    scene.oauth().refresh_signing_keys().await.unwrap();
    assert!(scene.oauth().public_key(kid.trim()).is_some());
    let (done, leaked) = scene.command(&["identity", "rotate-key", "--now"]).await;
    scene.oauth().refresh_signing_keys().await.unwrap();
    assert!(done && scene.oauth().public_key(kid.trim()).is_none());
    assert!(scene.oauth().public_key(leaked.trim()).is_some());
}
