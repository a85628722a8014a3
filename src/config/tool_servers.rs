//! Tool servers the operator writes (`tool_servers`): a remote MCP server, a process, or an HTTP API with its document.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::secret::Secret;

/// One entry of `tool_servers`.
#[derive(Clone)]
pub struct ToolServer {
    /// The org it serves.
    pub org: String,
    /// The provider's name, shown by `search`.
    pub provider: Option<String>,
    /// The playbooks that may use it; every one of the org when `None`.
    pub playbooks: Option<Vec<String>>,
    /// The tools that may be used; every one when `None`.
    pub allowed: Option<Vec<String>>,
    /// Whether arguments and answers are kept whole; else their sizes and digests.
    pub record_content: bool,
    /// Response header or result metadata key that holds the server's own request id.
    pub request_id: Option<String>,
    /// How it is reached.
    pub target: Target,
    /// Every value a reference brought in: what has to be scrubbed from all that comes back.
    pub secrets: Vec<Secret>,
}

impl ToolServer {
    /// The `type` callers see; nothing tells a process from a remote server.
    pub fn shown_type(&self) -> &'static str {
        match self.target {
            Target::Remote(_) | Target::Process(_) => "mcp",
            Target::OpenApi(_) => "openapi",
        }
    }
}

/// How a tool server is reached.
#[derive(Clone)]
pub enum Target {
    /// An MCP server over streamable HTTP.
    Remote(Remote),
    /// An MCP server as a process on this machine.
    Process(Process),
    /// An HTTP API described by an OpenAPI document.
    OpenApi(Box<OpenApi>),
}

/// A remote MCP server.
#[derive(Clone)]
pub struct Remote {
    /// Its endpoint, without user and password.
    pub url: Url,
    /// Sent with every request, references resolved.
    pub headers: BTreeMap<String, Secret>,
}

/// An MCP server that is an installed program.
#[derive(Clone)]
pub struct Process {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment; nothing is inherited.
    pub env: BTreeMap<String, Secret>,
}

/// An HTTP API.
#[derive(Clone)]
pub struct OpenApi {
    /// Where its document comes from.
    pub document: Document,
    /// The base address requests go to; else what the document says.
    pub url: Option<Url>,
    /// Values of the document's server variables.
    pub server_variables: BTreeMap<String, String>,
    /// Further origins operations may name, such as `https://upload.example.com`.
    pub hosts: Vec<String>,
    /// Operations taken; every one when `None`.
    pub include: Option<Vec<String>>,
    /// Operations left out.
    pub exclude: Vec<String>,
    /// Operations called otherwise: the document's name to ours.
    pub rename: BTreeMap<String, String>,
    /// Fixed headers, references resolved.
    pub headers: BTreeMap<String, Secret>,
    /// Hints of tools, by tool name.
    pub hints: BTreeMap<String, Hints>,
    /// How often the document of an address is read again, one hour to thirty days.
    pub refresh: Duration,
}

/// Where an OpenAPI document comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// An address.
    Address(Url),
    /// A file, absolute or from the working directory.
    File(PathBuf),
    /// Its text, JSON or YAML, at most 512 KiB.
    Text(String),
}

/// What the operator knows of a tool's effect; `None` leaves what the method says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Hints {
    /// Changes nothing.
    pub read_only_hint: Option<bool>,
    /// May destroy something.
    pub destructive_hint: Option<bool>,
    /// The same call again changes nothing more.
    pub idempotent_hint: Option<bool>,
}
