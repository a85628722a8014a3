//! What the operator allows of connections (`CONNECTIONS_*`) and the values providers need (`PROVIDER_*`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::secret::Secret;

/// Who may add a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Adders {
    /// Everybody who is a person and may write in the org.
    People,
    /// People with `org:admin`.
    Admins,
    /// Nobody.
    Nobody,
}

/// The types a connection written by hand may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerType {
    /// A remote MCP server.
    Mcp,
    /// An HTTP API.
    Openapi,
}

/// The kinds of credential a connection may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// A person's consent at the provider.
    Authorization,
    /// A text the person gives on the page.
    Secret,
    /// Tokens of a registered client.
    ClientCredentials,
    /// A variable of the server.
    Reference,
}

/// Variables of the server a `reference` may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableRule {
    /// The one org it counts for; every org when `None`.
    pub org: Option<String>,
    /// The name, or what the name begins with when `prefix` is set.
    pub name: String,
    /// Whether `name` is only the beginning.
    pub prefix: bool,
}

/// The operator's rules (`connections.md` 14).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRules {
    /// Who may add one.
    pub add: Adders,
    /// Whether a server may be written by hand.
    pub by_hand: bool,
    /// Types allowed by hand.
    pub types: Vec<ServerType>,
    /// Kinds allowed.
    pub kinds: Vec<CredentialKind>,
    /// Variables a `reference` may name.
    pub variables: Vec<VariableRule>,
    /// Providers offered: names, `*`, and `-name` for one left out.
    pub providers: Vec<String>,
    /// Hosts a connection's addresses may have: exact names, `*.example.com`, or `*`.
    pub hosts: Vec<String>,
    /// Exact origins that may resolve to private addresses.
    pub private_hosts: Vec<String>,
    /// Connections an org may have.
    pub max_per_org: u32,
    /// A folder of further providers.
    pub providers_dir: Option<PathBuf>,
}

/// Values the operator set for providers, from the environment alone.
#[derive(Clone, Default)]
pub struct ProviderValues(pub(super) BTreeMap<String, Secret>);
