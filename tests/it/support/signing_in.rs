//! Official clients that sign a person in: each finds out by itself where, and waits until the person has come back.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthorizationRequest, OAuthState};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinHandle;

use super::peers::{Failure, Line, Peer, Program, Target, python, script, serve_rust};
use super::services::{node, project};

/// The clients that can sign a person in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignsIn {
    /// `@modelcontextprotocol/sdk`.
    TypescriptSdk,
    /// `@modelcontextprotocol/client`.
    TypescriptClient,
    /// `mcp` of Python.
    Python,
    /// `fastmcp`.
    FastMcp,
    /// `mcp-remote`, which speaks stdio to whoever starts it.
    McpRemote,
    /// `rmcp` of Rust.
    Rmcp,
}

/// A client that waits for its person.
pub struct Visiting {
    /// Where the person has to go.
    pub address: String,
    line: Waiting,
}

enum Waiting {
    Program(Box<Program>),
    Rust { state: Box<OAuthState>, came: JoinHandle<String>, url: String },
}

impl SignsIn {
    /// All of them.
    pub const EVERY: [Self; 6] =
        [Self::TypescriptSdk, Self::TypescriptClient, Self::Python, Self::FastMcp, Self::McpRemote, Self::Rmcp];

    /// Starts the client, which learns at `url` that a person has to sign in, and where.
    pub async fn begin(self, url: &str) -> Visiting {
        let command = match self {
            Self::TypescriptSdk => script("typescript-sdk.ts"),
            Self::TypescriptClient | Self::McpRemote => script("typescript-client.ts"),
            Self::Python => python("python.py"),
            Self::FastMcp => python("fastmcp_client.py"),
            Self::Rmcp => return begin_rust(url).await,
        };
        let step = match self {
            Self::McpRemote => {
                let program = project("infra/npm/node_modules/mcp-remote/dist/proxy.js");
                let arguments = json!([program, url, "--transport", "http-only", "--allow-http"]);
                // It forwards nothing before `initialize`.
                json!({ "op": "connect", "mode": "legacy", "command": node(), "arguments": arguments, "sign_in": true })
            }
            _ => json!({ "op": "connect", "url": url, "sign_in": true }),
        };
        let mut program = Program::start(in_a_home_of_its_own(command));
        let answer = program.step(&step).await.unwrap_or_else(|failure| panic!("{self:?}: {failure:?}"));
        let address = answer["visit"].as_str().unwrap_or_else(|| panic!("{self:?} sends nobody anywhere: {answer}"));
        Visiting { address: address.to_owned(), line: Waiting::Program(Box::new(program)) }
    }
}

impl Visiting {
    /// Connects, once the person has been there.
    pub async fn signed_in(self) -> Result<Peer, Failure> {
        match self.line {
            Waiting::Program(mut program) => {
                let greeting = program.step(&json!({ "op": "signed_in" })).await?;
                Ok(Peer { greeting, line: Line::Program(program) })
            }
            Waiting::Rust { mut state, came, url } => {
                let failed =
                    |error: String| Failure { kind: "AuthError".into(), code: None, message: error, data: None };
                let address = came.await.expect("somebody comes back");
                state.handle_callback_url(&address).await.map_err(|error| failed(error.to_string()))?;
                let manager = state.into_authorization_manager().ok_or_else(|| failed("not signed in".into()))?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let client = AuthClient::new(plain_client(), manager);
                serve_rust(&Target::at(url), StreamableHttpClientTransport::with_client(client, config)).await
            }
        }
    }
}

/// Clients keep what they registered in the home folder; each test has its own.
fn in_a_home_of_its_own(mut command: Command) -> Command {
    let home = tempfile::tempdir().expect("a temporary folder").keep();
    command.env("HOME", &home).env("MCP_REMOTE_CONFIG_DIR", &home).env("BROWSER", "true");
    command
}

async fn begin_rust(url: &str) -> Visiting {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut state = OAuthState::new(url, Some(plain_client())).await.unwrap();
    let request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}/callback"))
        .with_initial_scope_selection()
        .with_client_name("rmcp");
    state.start_authorization(request).await.unwrap();
    let address = state.get_authorization_url().await.unwrap();
    let came = tokio::spawn(callback(listener));
    Visiting { address, line: Waiting::Rust { state: Box::new(state), came, url: url.to_owned() } }
}

/// The address the person comes back to, whole.
async fn callback(listener: TcpListener) -> String {
    let port = listener.local_addr().unwrap().port();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut lines = BufReader::new(&mut stream).lines();
        let first = lines.next_line().await.unwrap().unwrap_or_default();
        while lines.next_line().await.unwrap().is_some_and(|line| !line.is_empty()) {}
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        let target = first.split(' ').nth(1).unwrap_or_default();
        if target.starts_with("/callback") {
            return format!("http://127.0.0.1:{port}{target}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own requests, not the program's")]
fn plain_client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}
