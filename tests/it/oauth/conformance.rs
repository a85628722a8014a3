//! The conformance suite on sign-in: its authorization-server scenarios run against the built-in server, and each of its
//! `auth/*` scenarios, which judge clients, is answered by a test of what it expects of a resource server.
//!
//! The verdicts are those of `tests/conformance/authorization.tsv`, and the answers stand in
//! `tests/conformance/resource-server.md`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use playmaker::identity::Role;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::official::{allow, signs_in};
use super::text;
use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::services::{free_port, node, project};

/// The revisions the whole suite is run for.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

fn suite() -> Command {
    let mut command = Command::new(node());
    command.arg(project("infra/npm/node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    command.stdin(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
    command
}

/// One run of the suite against the server, which waits for a person to allow its client.
struct Run {
    process: Child,
    results: PathBuf,
}

impl Run {
    async fn begin(server: &TestApp, revision: &str, results: &Path) -> Self {
        let port = free_port().to_string();
        let body = json!({ "client_name": "Suite", "redirect_uris": [format!("http://127.0.0.1:{port}/callback")] });
        let client = server.anyone().post("/oauth/register", &body).await.json();
        let results = results.join(revision);
        let mut command = suite();
        command.args(["authorization", "--url", &server.origin(), "--client-id", &text(&client, "client_id")]);
        command.args(["--resource", &format!("{}/mcp", server.origin()), "--port", &port]);
        command.args(["--spec-version", revision, "--output-dir"]).arg(&results);
        let process = command.stdout(Stdio::piped()).spawn().expect("run infra/test once, it installs the suite");
        Self { process, results }
    }

    /// Where the person has to go.
    async fn address(&mut self) -> String {
        let mut lines = BufReader::new(self.process.stdout.as_mut().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().expect("the suite says where to go");
            if line.starts_with("http://") {
                return line;
            }
        }
    }

    /// A line for each check of each scenario: revision, scenario, check, verdict.
    async fn verdicts(mut self, revision: &str) -> Vec<String> {
        // What it still has to say is read, so that it does not wait for a reader.
        let mut rest = self.process.stdout.take().unwrap();
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await.unwrap();
        self.process.wait().await.unwrap();
        let mut lines = Vec::new();
        for folder in std::fs::read_dir(&self.results).unwrap() {
            let folder = folder.unwrap();
            let name = folder.file_name().into_string().unwrap();
            let scenario = name.strip_prefix("authorization-server-").unwrap().split("-20").next().unwrap().to_owned();
            let checks = std::fs::read(folder.path().join("checks.json")).unwrap();
            for check in serde_json::from_slice::<Vec<Value>>(&checks).unwrap() {
                lines.push(format!("{revision}\t{scenario}\t{}\t{}", text(&check, "id"), text(&check, "status")));
            }
        }
        lines.sort();
        lines
    }
}

#[tokio::test]
async fn the_built_in_server_passes_the_suite() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada Lovelace", "ada@acme.test", "acme", Role::Member).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    signs_in(&browser, &server, &ada).await;
    let results = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for revision in REVISIONS {
        let mut run = Run::begin(&server, revision, results.path()).await;
        browser.visit(&run.address().await).await;
        allow(&browser, &[]).await;
        found.extend(run.verdicts(revision).await);
    }
    browser.close().await;
    let expected = std::fs::read_to_string(project("tests/conformance/authorization.tsv")).unwrap();
    assert_eq!(found, expected.lines().collect::<Vec<_>>(), "tests/conformance/authorization.tsv says otherwise");
    assert!(found.iter().all(|line| line.ends_with("\tSUCCESS")), "{found:#?}");
}

/// A row of the table of `auth/*` scenarios.
struct Row {
    scenario: String,
    /// The file and the name of each test, where there are any.
    tests: Vec<(String, String)>,
}

/// Cells are `auth/…` in the first column; in the last `room/file.rs::test`, or words.
fn rows() -> Vec<Row> {
    let table = std::fs::read_to_string(project("tests/conformance/resource-server.md")).unwrap();
    let code = |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let cells = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
    let lines = table.lines().filter(|line| line.starts_with("| `auth/")).map(cells);
    lines
        .map(|cells| {
            let tests = code(cells.get(3).expect("three columns"));
            let tests = tests.iter().filter_map(|test| test.split_once("::"));
            Row {
                scenario: code(&cells[1]).remove(0),
                tests: tests.map(|(file, name)| (file.to_owned(), name.to_owned())).collect(),
            }
        })
        .collect()
}

/// Whether the doc comment of a test says these words.
fn says(source: &str, test: &str, words: &str) -> bool {
    let mut comment = String::new();
    for line in source.lines().map(str::trim) {
        if line.contains(&format!("fn {test}(")) {
            return comment.contains(words);
        }
        if let Some(more) = line.strip_prefix("///") {
            comment.push_str(more);
            comment.push('\n');
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    false
}

#[tokio::test]
async fn each_scenario_of_clients_is_answered_for_a_resource_server() {
    let Output { stdout, .. } = suite().args(["list", "--client"]).output().await.unwrap();
    let listed = String::from_utf8(stdout).unwrap();
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next());
    let there: BTreeSet<String> = names.filter(|name| name.starts_with("auth/")).map(str::to_owned).collect();
    assert!(there.len() > 20, "{listed}");
    assert_eq!(there, rows().into_iter().map(|row| row.scenario).collect());
    for row in rows() {
        for (file, test) in row.tests {
            let source = std::fs::read_to_string(project("tests/it").join(&file)).unwrap_or_default();
            assert!(says(&source, &test, &format!("`{}`", row.scenario)), "{file}::{test} names no {}", row.scenario);
        }
    }
}
