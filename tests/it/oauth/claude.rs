//! Claude Code's own sign-in, as far as it goes without an account of its own: it finds the endpoint's metadata, sends the
//! person to the authorize address, takes the callback, and then connects.

use std::path::PathBuf;
use std::process::Stdio;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use playmaker::identity::Role;
use regex::Regex;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::process::Command;

use super::official::{allow, types_password};
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

/// Its usual id is a document on the public network, which a test does not ask; so it has one that the operator wrote.
#[tokio::test]
async fn claude_code_signs_a_person_in() {
    let known = json!([{ "id": "claude-code", "name": "Claude Code", "redirect_uris": ["http://localhost/callback"] }]);
    let server = TestApp::signing_in_with(&[("OAUTH_CLIENTS", &known.to_string())]).await;
    signs_in_with_it(&server, &server.origin(), &["--client-id", "claude-code"]).await;
}

/// It registers itself where the metadata speaks of no documents.
#[tokio::test]
async fn claude_code_registers_itself() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let front = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let server = TestApp::with(&[("PUBLIC_URL", &front)]).await;
    let behind = server.url("");
    tokio::spawn(async move { axum::serve(listener, without_documents(behind)).await });
    signs_in_with_it(&server, &front, &[]).await;
    let clients = server.database().everything().await;
    assert!(clients.contains("Claude Code"), "it is among the clients that registered themselves");
}

/// A proxy that takes one member out of the metadata, and passes on everything else as it is.
fn without_documents(server: String) -> Router {
    #[expect(clippy::disallowed_methods, reason = "a test's own requests, not the program's")]
    let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    Router::new().fallback(move |request: Request| {
        let (http, server) = (http.clone(), server.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
            let sent = http.request(parts.method, format!("{server}{path}")).headers(parts.headers).body(body);
            let answer = sent.send().await.unwrap();
            let mut response = Response::builder().status(answer.status());
            *response.headers_mut().unwrap() = answer.headers().clone();
            if !path.starts_with("/.well-known/oauth-authorization-server") {
                return response.body(Body::from_stream(answer.bytes_stream())).unwrap();
            }
            let mut metadata: Value = answer.json().await.unwrap();
            metadata.as_object_mut().unwrap().remove("client_id_metadata_document_supported");
            response.headers_mut().unwrap().remove("content-length");
            response.body(Body::from(metadata.to_string())).unwrap()
        }
    })
}

async fn signs_in_with_it(server: &TestApp, origin: &str, options: &[&str]) {
    server.with_password("Ada Lovelace", "ada@acme.test", "acme", Role::Owner).await;
    let home = tempfile::tempdir().unwrap();
    let endpoint = format!("{origin}/mcp");
    let add = [&["mcp", "add", "--transport", "http"], options, &["pm", &endpoint]].concat();
    assert!(says(home.path(), &add).await.contains("Added"));

    // It signs in at a terminal alone, so it gets one.
    let login = format!("'{}' mcp login pm --no-browser", program().display());
    let mut command = Command::new("script");
    command.args(["-qfec", &login, "/dev/null"]).env("HOME", home.path()).current_dir(home.path());
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut told = running.stdout.take().unwrap();
    let pattern = Regex::new(&format!("{}/oauth/authorize\\?[^\\x07\\x1b\\s]+", regex::escape(origin))).unwrap();
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
    browser.visit(&address).await;
    types_password(&browser, "ada@acme.test").await;
    assert!(browser.driver().source().await.unwrap().contains("Claude Code"));
    allow(&browser, &[]).await;
    said.clear();
    told.read_to_string(&mut said).await.unwrap();
    assert!(running.wait().await.unwrap().success(), "{said}");
    let shown = says(home.path(), &["mcp", "get", "pm"]).await;
    assert!(shown.contains("Connected"), "{shown}");
    browser.close().await;
}
