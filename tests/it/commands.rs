//! The program as an operator meets it: starting, stopping, refusals, and the commands beside `serve`.

use std::path::Path;
use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// The program with nothing in its environment, in a folder of its own.
fn playmaker(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
    command.args(arguments).env_clear().env("PORT", "0").current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

async fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().await.unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn send(process: &Child, signal: Signal) {
    let id = i32::try_from(process.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
}

/// Whether the process has its own answer to SIGTERM already, as Linux tells.
fn is_ready_to_stop(process: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id().unwrap())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim).unwrap_or("0");
    u64::from_str_radix(caught, 16).unwrap() >> (Signal::TERM.as_raw() - 1) & 1 == 1
}

#[tokio::test]
async fn the_first_signal_stops_a_server_that_has_hardly_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = playmaker(folder.path(), &[]).spawn().unwrap();
    while !is_ready_to_stop(&server) {
        tokio::task::yield_now().await;
    }
    send(&server, Signal::TERM);
    assert_eq!(server.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_running_server_tells_what_it_started_with_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("settings.yaml"), "connections_max_per_org: 7\nallowed_origins: []\n").unwrap();
    let mut command = playmaker(folder.path(), &["serve"]);
    command
        .env("CONFIG_FILE", "settings.yaml")
        .env("CONNECTIONS_MAX_PER_ORG", "9")
        .env("PROVIDER_NOTION_CLIENT_ID", "id-of-a-client");
    let mut server = command.spawn().unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut told = Vec::new();
    while let Some(line) = log.next_line().await.unwrap() {
        let line: Value = serde_json::from_str(&line).unwrap();
        if line["message"] == "listening" {
            send(&server, Signal::INT);
        }
        told.push(line);
    }
    let says = |part: &str| told.iter().any(|line| line.to_string().contains(part));
    for part in [
        r#""keys":"connections_max_per_org, allowed_origins","replaced":"connections_max_per_org""#,
        r#""database":"sqlite:data/playmaker.db""#,
        "PROVIDER_NOTION_CLIENT_SECRET",
        "local mode",
        "calendly",
        "stopped",
    ] {
        assert!(says(part), "{part} in {told:?}");
    }
    assert!(!says("id-of-a-client"));
    assert_eq!(server.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_second_signal_ends_a_server_that_still_has_work_in_hand() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = playmaker(folder.path(), &[]).spawn().unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut half = None;
    while let Some(line) = log.next_line().await.unwrap() {
        let line: Value = serde_json::from_str(&line).unwrap();
        let message = line["message"].as_str().unwrap();
        if message == "listening" {
            let address = line["address"].as_str().unwrap();
            let mut open = tokio::net::TcpStream::connect(address).await.unwrap();
            // A body that never comes: the server asks for it, so it has the request in hand, and waits.
            let head = "POST /v1/orgs/local/playbooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                        Content-Length: 100\r\nExpect: 100-continue\r\n\r\n";
            open.write_all(head.as_bytes()).await.unwrap();
            let mut asked = [0; 12];
            open.read_exact(&mut asked).await.unwrap();
            assert_eq!(&asked, b"HTTP/1.1 100");
            half = Some(open);
            send(&server, Signal::TERM);
        } else if message.starts_with("stopping") {
            send(&server, Signal::TERM);
        }
    }
    assert_eq!(server.wait().await.unwrap().code(), Some(1));
    drop(half);
}

#[tokio::test]
async fn what_is_wrong_at_the_start_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (name, value, words) in [
        ("PORT", "many", "variable PORT"),
        ("PORT", port.as_str(), "cannot listen there"),
        ("DATABASE_URL", "sqlite:/dev/null/playmaker.db", "database"),
        ("CONNECTIONS_PROVIDERS_DIR", "nowhere", "nowhere"),
        ("SECRETS_KEYS", "old:bm90IGEga2V5IG9mIDI1NiBiaXRz", "SECRETS_KEYS"),
    ] {
        let (code, out, err) = output(playmaker(folder.path(), &[]).env(name, value).env("RUST_LOG", "off")).await;
        assert_eq!((code, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
        assert!(err.starts_with("playmaker: ") && err.contains(words) && !err.contains("bm90"), "{err}");
    }
}

#[tokio::test]
async fn a_key_is_printed_once_with_its_entry() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["key", "create", "--org", "north", "--permissions", "org:read,playbook:read", "--playbooks", "support"];
    let (code, out, _) = output(&mut playmaker(folder.path(), &arguments)).await;
    let (key, entry) = out.split_once('\n').unwrap();
    let entry: Value = serde_json::from_str(entry).unwrap();
    assert!(code == Some(0) && key.starts_with("pmk_") && !entry.to_string().contains(key));
    assert_eq!((&entry["org"], &entry["playbooks"]), (&json!("north"), &json!(["support"])));
    assert_eq!(entry["permissions"], json!(["org:read", "playbook:read"]));
    for org in ["no/rth", ""] {
        let (code, out, err) = output(&mut playmaker(folder.path(), &["key", "create", "--org", org])).await;
        assert_eq!((code, out.as_str(), err.lines().count()), (Some(1), "", 1), "{err}");
    }
}

#[tokio::test]
async fn records_move_to_the_first_key_and_the_old_one_can_go() {
    const OLD: &str = "old:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const NEW: &str = "new:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let folder = tempfile::tempdir().unwrap();
    let rekey = async |keys: &str, arguments: &[&str]| {
        let arguments = [&["secrets", "rekey"], arguments].concat();
        output(playmaker(folder.path(), &arguments).env("SECRETS_KEYS", keys)).await
    };
    assert_eq!(rekey(OLD, &[]).await.0, Some(0));
    let both = format!("{NEW},{OLD}");
    let (code, out, _) = rekey(&both, &["--dry-run"]).await;
    assert_eq!((code, out.as_str()), (Some(0), "before: 1 records, 1 of them under another key than the first\n"));
    let (code, out, _) = rekey(&both, &[]).await;
    assert!(
        code == Some(0) && out.ends_with("moved:  1\nafter:  1 records, 0 of them under another key than the first\n"),
        "{out}"
    );
    assert_eq!(rekey(NEW, &[]).await.0, Some(0));
    assert_eq!(rekey(OLD, &[]).await.0, Some(1));
}

#[tokio::test]
async fn a_fault_in_a_provider_file_is_told_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let check = ["providers", "check", "."];
    assert_eq!(output(&mut playmaker(folder.path(), &check)).await.0, Some(0));
    std::fs::write(folder.path().join("desk.yaml"), "name: desk\ntitle: Desk\nstrange: true\n").unwrap();
    let (code, _, err) = output(&mut playmaker(folder.path(), &check)).await;
    assert!(code == Some(1) && err.contains("desk.yaml:3:"), "{err}");
}

#[tokio::test]
async fn documents_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, member) in [(vec!["openapi"], "openapi"), (vec!["config", "schema"], "properties")] {
        let (code, out, _) = output(&mut playmaker(folder.path(), &arguments)).await;
        let document: Value = serde_json::from_str(&out).unwrap();
        assert!(code == Some(0) && !document[member].is_null());
    }
}
