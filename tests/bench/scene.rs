//! What is measured: the servers, filled alike, and the requests they get.

use std::io::{Error, Result};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::load;
use crate::servers::{self, Server};

const ORG: &str = "bench";
/// The playbooks that are listed.
const PLAYBOOKS: usize = 20;
/// The HTTP API as a tool server, and its tool.
const API: (&str, &str) = ("parts", "get_part");

/// What a call that does not go through the program is called.
pub const STRAIGHT: &str = "straight";
/// Nothing is sealed with it.
pub const SECRETS_KEY: &str = "bench:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// A server and the request it gets.
pub struct Target<'a> {
    /// What the table calls it.
    pub name: &'a str,
    /// Who answers.
    pub server: &'a Server,
    /// What is asked, as it travels.
    pub request: Vec<u8>,
}

/// All servers, ready.
pub struct Scene {
    key: String,
    programs: Vec<(&'static str, Server)>,
    peers: Vec<(&'static str, Server)>,
    api: Server,
}

impl Scene {
    /// Starts and fills everything; files go into `folder`.
    pub async fn set(program: &Path, postgres: Option<&str>, folder: &Path) -> Result<Self> {
        let (key, entry) = made_key(program)?;
        let answer = folder.join("answer");
        let answer_path = answer.to_string_lossy().into_owned();
        let peer = |name: &str| servers::peer(&[name, &answer_path, &key]);
        let api = peer("api")?;
        let document = api_document(&api).to_string();
        let settings_file = folder.join("settings.json");
        let tool_servers = json!({ "parts": { "type": "openapi", "document_source": document, "org": ORG } });
        std::fs::write(&settings_file, json!({ "tool_servers": tool_servers }).to_string())?;
        let keys = format!("[{entry}]");
        let file = settings_file.to_string_lossy();
        let sqlite = format!("sqlite:{}", folder.join("data/playmaker.db").display());
        let mut programs = Vec::new();
        let databases = [("Playmaker on SQLite", Some(sqlite.as_str())), ("Playmaker on PostgreSQL", postgres)];
        for (name, url) in databases {
            let Some(url) = url else { continue };
            let home = folder.join(name);
            std::fs::create_dir_all(&home)?;
            let home = home.to_string_lossy();
            let settings = [
                ("DATABASE_URL", url),
                ("SECRETS_KEYS", SECRETS_KEY),
                ("API_KEYS", &keys),
                // What is measured is how fast it is, not how soon it says no.
                ("RATE_CALLER", "1000000/1000000"),
                ("RATE_EXECUTE", "1000000/1000000"),
                ("STREAMS_CALLER", "1000000"),
                ("CONFIG_FILE", &file),
                ("HOME", &home),
            ];
            let server = servers::playmaker(program, &settings).await?;
            fill(&server, &key).await?;
            programs.push((name, server));
        }
        let (_, first) = programs.first().ok_or_else(|| Error::other("no server"))?;
        std::fs::write(&answer, answered(first, &list(&key)).await?)?;
        let peers = vec![
            ("rmcp and axum, event stream", peer("rmcp")?),
            ("rmcp and axum, JSON", peer("rmcp-json")?),
            ("bare axum handler", peer("axum")?),
        ];
        Ok(Self { key, programs, peers, api })
    }

    /// `list_playbooks`, of the program and of its peers.
    pub fn lists(&self) -> Vec<Target<'_>> {
        let all = self.programs.iter().chain(&self.peers);
        all.map(|(name, server)| Target { name, server, request: list(&self.key) }).collect()
    }

    /// A call of the HTTP API: straight, and by `execute`.
    pub fn calls(&self) -> Vec<Target<'_>> {
        let straight = load::request("GET", "/parts/P-1007", &[], "");
        let mut targets = vec![Target { name: STRAIGHT, server: &self.api, request: straight }];
        for (name, server) in &self.programs {
            targets.push(Target { name, server, request: execute(&self.key) });
        }
        targets
    }
}

fn made_key(program: &Path) -> Result<(String, String)> {
    let made = Command::new(program).args(["key", "create", "--org", ORG, "--id", ORG]).output()?;
    let text = String::from_utf8_lossy(&made.stdout);
    let mut lines = text.lines().map(str::to_owned);
    lines.next().zip(lines.next()).ok_or_else(|| Error::other("no key was made"))
}

async fn fill(server: &Server, key: &str) -> Result<()> {
    for number in 1..=PLAYBOOKS {
        let body = json!({
            "playbook": format!("playbook-{number}"),
            "name": format!("Repair desk {number}"),
            "description": "Takes in what customers bring, finds the parts it needs and writes to them when it is done.",
        });
        let credential = format!("Bearer {key}");
        let headers = [("Authorization", credential.as_str()), ("Content-Type", "application/json")];
        let request = load::request("POST", &format!("/v1/orgs/{ORG}/playbooks"), &headers, &body.to_string());
        let (status, words) = load::ask(server.address, &request).await?;
        if status != 201 {
            return Err(Error::other(words));
        }
    }
    Ok(())
}

/// A `tools/call` of revision 2026-07-28.
fn call(key: &str, path: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let credential = format!("Bearer {key}");
    let headers = [
        ("Authorization", credential.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    let body = json!({
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            },
        },
    });
    load::request("POST", path, &headers, &body.to_string())
}

fn list(key: &str) -> Vec<u8> {
    call(key, "/mcp", "list_playbooks", &json!({}))
}

fn execute(key: &str) -> Vec<u8> {
    let path = format!("/orgs/{ORG}/playbooks/playbook-1/mcp");
    call(key, &path, "execute", &json!({ "server": API.0, "tool": API.1, "arguments": { "number": "P-1007" } }))
}

async fn answered(server: &Server, request: &[u8]) -> Result<String> {
    let (_, body) = load::ask(server.address, request).await?;
    // An answer that had to be waited for comes in chunks; the event is one line of it.
    let data = body.lines().find(|line| line.starts_with("data: ")).ok_or_else(|| Error::other(body.clone()))?;
    Ok(format!("event: message\n{data}\n\n"))
}

fn api_document(api: &Server) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Parts", "version": "1" },
        "servers": [{ "url": format!("http://{}", api.address) }],
        "paths": { "/parts/{number}": { "get": {
            "operationId": "get_part",
            "summary": "Tells what is known of a part.",
            "parameters": [{ "name": "number", "in": "path", "required": true, "schema": { "type": "string" } }],
            "responses": { "200": { "description": "The part.", "content": { "application/json": { "schema": {
                "type": "object",
                "properties": { "number": { "type": "string" }, "stock": { "type": "integer" } },
            } } } } },
        } } },
    })
}
