//! The official MCP clients, so that a test can be repeated with each: `for client in Official::EVERY { … }`.
//!
//! Three are programs in `tests/clients/` (its README tells what is said on their lines), the fourth is rmcp's own.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
    GetPromptRequestParams, Implementation, JsonObject, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::services::{node, project};

/// How long a step may take before the test fails instead of hanging.
const STEP_LIMIT: Duration = Duration::from_secs(60);

/// The clients there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Official {
    /// `@modelcontextprotocol/sdk`: speaks 2025-11-25 and earlier.
    TypescriptSdk,
    /// `@modelcontextprotocol/client`: speaks 2026-07-28 too.
    TypescriptClient,
    /// `mcp` of Python: speaks 2026-07-28 too.
    Python,
    /// `rmcp` of Rust: speaks 2026-07-28 too.
    Rmcp,
}

/// Which way a client opens the conversation. The old TypeScript client knows only [`Mode::Legacy`].
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// `server/discover`, and `initialize` where that is not known.
    Auto,
    /// `initialize`.
    Legacy,
    /// `server/discover` for 2026-07-28 or nothing.
    Modern,
}

/// What the person behind the client says to every question of the server.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes.
    Accept,
    /// No.
    Decline,
    /// They close the question.
    Cancel,
}

/// A server and how to present oneself there.
#[derive(Clone, Debug)]
pub struct Target {
    url: String,
    headers: Vec<(&'static str, String)>,
    mode: Mode,
    answer: Option<Answer>,
}

impl Target {
    /// An endpoint, with nothing but its address; such a client cannot be asked anything.
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: Vec::new(), mode: Mode::Auto, answer: None }
    }

    /// Sends a header with every request.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Opens the conversation in one way only.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Offers to be asked, by form and by address, and always answers so.
    pub fn answering(mut self, answer: Answer) -> Self {
        self.answer = Some(answer);
        self
    }
}

/// Why a step failed, in the client's own words.
#[derive(Debug, Deserialize)]
pub struct Failure {
    /// The client's name for this kind of error.
    pub kind: String,
    /// The JSON-RPC code, where there was one; some clients have codes in words.
    pub code: Option<Value>,
    /// What the client says.
    pub message: String,
    /// What came with a JSON-RPC error.
    pub data: Option<Value>,
}

/// A connected client. Dropping it ends its process.
pub struct Peer {
    pub(super) greeting: Value,
    pub(super) line: Line,
}

pub(super) enum Line {
    Program(Box<Program>),
    Rust(RunningService<RoleClient, Person>, Asked),
}

/// Questions since the last look.
type Asked = Arc<Mutex<Vec<Value>>>;

impl Official {
    /// All of them.
    pub const EVERY: [Self; 4] = [Self::TypescriptSdk, Self::TypescriptClient, Self::Python, Self::Rmcp];

    /// Starts the client and connects it.
    pub async fn connect(self, target: &Target) -> Result<Peer, Failure> {
        let command = match self {
            Self::TypescriptSdk => script("typescript-sdk.ts"),
            Self::TypescriptClient => script("typescript-client.ts"),
            Self::Python => python("python.py"),
            Self::Rmcp => return connect_rust(target).await,
        };
        let mut program = Program::start(command);
        let mode = match target.mode {
            Mode::Auto => "auto",
            Mode::Legacy => "legacy",
            Mode::Modern => "2026-07-28",
        };
        let headers: JsonObject =
            target.headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let mut step = json!({ "op": "connect", "url": target.url, "headers": headers, "mode": mode });
        if let Some(answer) = target.answer {
            step["elicitation"] = json!(answer);
        }
        let greeting = program.step(&step).await?;
        Ok(Peer { greeting, line: Line::Program(Box::new(program)) })
    }
}

impl Peer {
    /// The revision client and server agreed on.
    pub fn revision(&self) -> &str {
        self.greeting["revision"].as_str().unwrap_or_default()
    }

    /// What the server told of itself: `revision`, `server`, `capabilities`, `instructions`.
    pub fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// The tools on offer.
    pub async fn tools(&mut self) -> Result<Vec<Value>, Failure> {
        match &mut self.line {
            Line::Program(program) => program.step(&json!({ "op": "list" })).await.map(|result| list(&result["tools"])),
            Line::Rust(client, _) => limited(client.list_all_tools()).await.map(|tools| list(&tools)),
        }
    }

    /// Calls a tool; the result as the client gives it, `isError` and all.
    pub async fn call(&mut self, name: &str, arguments: Value) -> Result<Value, Failure> {
        match &mut self.line {
            Line::Program(program) => {
                program.step(&json!({ "op": "call", "name": name, "arguments": arguments })).await
            }
            Line::Rust(client, _) => {
                let parameters = CallToolRequestParams::new(name.to_owned()).with_arguments(object(arguments));
                limited(client.call_tool(parameters)).await
            }
        }
    }

    /// The prompts on offer.
    pub async fn prompts(&mut self) -> Result<Vec<Value>, Failure> {
        match &mut self.line {
            Line::Program(program) => {
                program.step(&json!({ "op": "prompts" })).await.map(|result| list(&result["prompts"]))
            }
            Line::Rust(client, _) => limited(client.list_all_prompts()).await.map(|prompts| list(&prompts)),
        }
    }

    /// One prompt, filled in.
    pub async fn prompt(&mut self, name: &str, arguments: Value) -> Result<Value, Failure> {
        match &mut self.line {
            Line::Program(program) => {
                program.step(&json!({ "op": "prompt", "name": name, "arguments": arguments })).await
            }
            Line::Rust(client, _) => {
                let parameters = GetPromptRequestParams::new(name).with_arguments(object(arguments));
                limited(client.get_prompt(parameters)).await
            }
        }
    }

    /// What the server asked through this client since the last look.
    pub fn asked(&mut self) -> Vec<Value> {
        match &mut self.line {
            Line::Program(program) => std::mem::take(&mut program.asked),
            Line::Rust(_, asked) => std::mem::take(&mut asked.lock().unwrap()),
        }
    }

    /// Says goodbye as the client does.
    pub async fn close(self) -> Result<(), Failure> {
        match self.line {
            Line::Program(mut program) => program.step(&json!({ "op": "close" })).await.map(drop),
            Line::Rust(client, _) => {
                client.cancel().await.unwrap();
                Ok(())
            }
        }
    }
}

/// A client program and the lines between it and the test.
pub(super) struct Program {
    _process: Child,
    steps: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    asked: Vec<Value>,
}

#[derive(Deserialize)]
struct Reply {
    result: Option<Value>,
    error: Option<Failure>,
    asked: Vec<Value>,
}

impl Program {
    pub(super) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut process = command.spawn().expect("run infra/test once, it installs the clients");
        let steps = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { _process: process, steps, answers, asked: Vec::new() }
    }

    pub(super) async fn step(&mut self, step: &Value) -> Result<Value, Failure> {
        self.steps.write_all(format!("{step}\n").as_bytes()).await.unwrap();
        let line =
            timeout(STEP_LIMIT, self.answers.next_line()).await.unwrap_or_else(|_| panic!("no answer to {step}"));
        let line = line.unwrap().unwrap_or_else(|| panic!("the client ended instead of answering {step}"));
        let reply: Reply = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.asked.extend(reply.asked);
        reply.error.map_or(Ok(reply.result.unwrap_or_default()), Err)
    }
}

/// rmcp's side of [`Answer`].
pub(super) struct Person {
    answer: Option<ElicitationAction>,
    asked: Asked,
}

impl ClientHandler for Person {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.lock().unwrap().push(json!(request));
        Ok(ElicitResult::new(self.answer.clone().unwrap_or(ElicitationAction::Decline)))
    }

    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.answer {
            Some(_) => json!({ "elicitation": { "form": {}, "url": {} } }),
            None => json!({}),
        };
        ClientConfig::new(serde_json::from_value(capabilities).unwrap(), Implementation::new("rmcp", "3"))
    }
}

async fn connect_rust(target: &Target) -> Result<Peer, Failure> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(target.url.as_str());
    config.custom_headers =
        target.headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    serve_rust(target, StreamableHttpClientTransport::from_config(config)).await
}

/// rmcp's client over a transport that is set up already.
pub(super) async fn serve_rust<T, E, A>(target: &Target, transport: T) -> Result<Peer, Failure>
where
    T: rmcp::transport::IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let asked = Asked::default();
    let answer = target.answer.map(|answer| match answer {
        Answer::Accept => ElicitationAction::Accept,
        Answer::Decline => ElicitationAction::Decline,
        Answer::Cancel => ElicitationAction::Cancel,
    });
    let person = Person { answer, asked: Arc::clone(&asked) };
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match target.mode {
        Mode::Auto => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        Mode::Legacy => ClientLifecycleMode::Initialize,
        Mode::Modern => ClientLifecycleMode::Discover { preferred_versions },
    };
    let connecting = person.serve_with_lifecycle(transport, lifecycle);
    let client = timeout(STEP_LIMIT, connecting).await.expect("connecting ends").map_err(|error| Failure {
        kind: "ClientInitializeError".to_owned(),
        code: None,
        message: error.to_string(),
        data: None,
    })?;
    let server = json!(client.peer_info());
    let greeting = json!({
        "revision": server["protocolVersion"],
        "server": server["serverInfo"],
        "capabilities": server["capabilities"],
        "instructions": server["instructions"],
    });
    Ok(Peer { greeting, line: Line::Rust(client, asked) })
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let message = error.to_string();
        match error {
            ServiceError::McpError(error) => Self {
                kind: "McpError".to_owned(),
                code: Some(json!(error.code)),
                message: error.message.into_owned(),
                data: error.data,
            },
            _ => Self { kind: "ServiceError".to_owned(), code: None, message, data: None },
        }
    }
}

async fn limited<T: Serialize>(step: impl Future<Output = Result<T, ServiceError>>) -> Result<Value, Failure> {
    Ok(json!(timeout(STEP_LIMIT, step).await.expect("the step ends")?))
}

/// A Python driver.
pub(super) fn python(name: &str) -> Command {
    let mut command = Command::new(project("target/venv/bin/python"));
    command.arg(project("tests/clients").join(name));
    command
}

/// A TypeScript driver.
pub(super) fn script(name: &str) -> Command {
    let mut command = Command::new(node());
    command.arg(project("tests/clients").join(name));
    command
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(members) => members,
        other => panic!("arguments are an object, not {other}"),
    }
}

#[tokio::test]
async fn every_official_client_works_with_the_reference_server() {
    let server = super::services::everything().await;
    for client in Official::EVERY {
        let target = Target::at(server.url("/mcp")).header("x-seen", "yes").answering(Answer::Decline);
        let mut peer = client.connect(&target).await.unwrap();
        assert_eq!(peer.revision(), "2025-11-25", "{client:?}");
        assert_eq!(peer.greeting()["server"]["name"], "mcp-servers/everything");

        assert!(peer.tools().await.unwrap().iter().any(|tool| tool["name"] == "get-sum"));
        let sum = peer.call("get-sum", json!({ "a": 2, "b": 3 })).await.unwrap();
        assert_eq!(sum["content"][0]["text"], "The sum of 2 and 3 is 5.", "{client:?}");

        assert!(!peer.prompts().await.unwrap().is_empty());
        let prompt = peer.prompt("args-prompt", json!({ "city": "Oslo" })).await.unwrap();
        assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("Oslo"), "{client:?}");
        let failure = peer.prompt("unknown", json!({})).await.unwrap_err();
        assert_eq!(failure.code, Some(json!(-32602)), "{client:?}: {failure:?}");
        assert!(!failure.kind.is_empty() && failure.message.contains("unknown") && failure.data.is_none());

        peer.call("trigger-elicitation-request", json!({})).await.unwrap();
        assert_eq!(peer.asked().len(), 1, "{client:?}");
        peer.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_insists_on_one_way_gets_it_or_fails() {
    let server = super::services::everything().await;
    for client in [Official::TypescriptClient, Official::Python, Official::Rmcp] {
        let target = Target::at(server.url("/mcp")).answering(Answer::Cancel);
        let peer = client.connect(&target.clone().mode(Mode::Legacy)).await.unwrap();
        assert_eq!(peer.revision(), "2025-11-25", "{client:?}");
        // The reference server does not know 2026-07-28. One client notices only at its first request.
        let modern = async {
            let mut peer = client.connect(&target.answering(Answer::Accept).mode(Mode::Modern)).await?;
            peer.tools().await
        };
        modern.await.unwrap_err();
    }
}
