//! `tool_servers` as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::tool_servers::Hints;

/// A tool server: a remote MCP server (`url`), a process (`command`), or an HTTP API (`type: openapi`).
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with the fields of a tool server")]
#[schemars(rename = "ToolServer")]
pub(super) struct Written {
    /// mcp when left out.
    pub(super) r#type: Option<TypeWritten>,
    /// The org it serves.
    pub(super) org: String,
    /// The name of a provider, shown by search.
    pub(super) provider: Option<String>,
    /// The playbooks that may use it; all of the org when left out.
    pub(super) playbooks: Option<Vec<String>>,
    /// The tools that may be used; all when left out.
    pub(super) allowed: Option<Vec<String>>,
    /// Whether arguments and answers are kept whole; true when left out.
    pub(super) record_content: Option<bool>,
    /// The response header, or result metadata key, with the server's own request id.
    pub(super) request_id: Option<String>,
    /// The MCP endpoint, or the base address of the API.
    pub(super) url: Option<String>,
    /// Sent with every request; values may hold references.
    pub(super) headers: Option<BTreeMap<String, String>>,
    /// An installed program.
    pub(super) command: Option<String>,
    /// Its arguments.
    pub(super) args: Option<Vec<String>>,
    /// Its whole environment; values may hold references.
    pub(super) env: Option<BTreeMap<String, String>>,
    /// openapi: the address of the document, or a map with its file.
    pub(super) document: Option<DocumentWritten>,
    /// openapi: the text of the document instead.
    pub(super) document_source: Option<String>,
    /// openapi: values of the document's server variables.
    pub(super) server_variables: Option<BTreeMap<String, String>>,
    /// openapi: further origins operations may name.
    pub(super) hosts: Option<Vec<String>>,
    /// openapi: operations taken; all when left out.
    pub(super) include: Option<Vec<String>>,
    /// openapi: operations left out.
    pub(super) exclude: Option<Vec<String>>,
    /// openapi: operations called otherwise.
    pub(super) rename: Option<BTreeMap<String, String>>,
    /// openapi: what is known of a tool's effect, by its name.
    pub(super) hints: Option<BTreeMap<String, Hints>>,
    /// openapi: how often the document of an address is read again, PT1H to P30D; PT24H when left out.
    pub(super) refresh: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TypeWritten {
    Mcp,
    Openapi,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "an address, or a map with the one key file")]
pub(super) enum DocumentWritten {
    Address(String),
    File(FileWritten),
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileWritten {
    pub(super) file: String,
}
