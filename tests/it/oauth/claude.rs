//! Claude Code's own sign-in, as far as it goes without an account of its own: it finds the endpoint's metadata, sends the
//! person to the authorize address, takes the callback, and then connects.

use std::path::PathBuf;
use std::process::Stdio;

use playmaker::identity::Role;
use regex::Regex;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::official::{allow, signs_in};
use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::services::project;

fn program() -> PathBuf {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    project("infra/npm/node_modules/@anthropic-ai").join(format!("claude-code-linux-{machine}")).join("claude")
}

/// A command of the program in a home folder of its own, and what it says.
async fn says(home: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program());
    command.args(arguments).env("HOME", home).current_dir(home).stdin(Stdio::null());
    let output = command.output().await.expect("run infra/test once, it installs the clients");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn claude_code_signs_a_person_in() {
    // Its usual id is a document on the public network, which a test does not ask.
    let known = json!([{ "id": "claude-code", "name": "Claude Code", "redirect_uris": ["http://localhost/callback"] }]);
    let server = TestApp::signing_in_with(&[("OAUTH_CLIENTS", &known.to_string())]).await;
    let ada = server.person("Ada Lovelace", "ada@acme.test", "acme", Role::Owner).await;
    let home = tempfile::tempdir().unwrap();
    let endpoint = format!("{}/mcp", server.origin());
    let add = ["mcp", "add", "--transport", "http", "--client-id", "claude-code", "pm", &endpoint];
    assert!(says(home.path(), &add).await.contains("Added"));

    // It signs in at a terminal alone, so it gets one.
    let login = format!("'{}' mcp login pm --no-browser", program().display());
    let mut command = Command::new("script");
    command.args(["-qfec", &login, "/dev/null"]).env("HOME", home.path()).current_dir(home.path());
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut told = running.stdout.take().unwrap();
    let pattern =
        Regex::new(&format!("{}/oauth/authorize\\?[^\\x07\\x1b\\s]+", regex::escape(&server.origin()))).unwrap();
    let mut said = String::new();
    let address = loop {
        let mut chunk = [0; 4096];
        let read = told.read(&mut chunk).await.unwrap();
        assert!(read > 0, "it sends nobody anywhere: {said}");
        said.push_str(&String::from_utf8_lossy(&chunk[..read]));
        // The address is said twice; once the second begins, the first is whole.
        if let Some(found) = pattern.find_iter(&said).nth(1).and_then(|_| pattern.find(&said)) {
            break found.as_str().to_owned();
        }
    };
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    signs_in(&browser, &server, &ada).await;
    browser.visit(&address).await;
    assert!(browser.driver().source().await.unwrap().contains("Claude Code"));
    allow(&browser, &[]).await;
    said.clear();
    told.read_to_string(&mut said).await.unwrap();
    assert!(running.wait().await.unwrap().success(), "{said}");
    let shown = says(home.path(), &["mcp", "get", "pm"]).await;
    assert!(shown.contains("Connected"), "{shown}");
    browser.close().await;
}
