//! The published schema of the file, for editors, and the commented file of defaults.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::connections::{Adders, CredentialKind, ServerType};
use super::{api_keys_file, oauth_clients, sign_in_providers, tool_servers_file};

/// A commented file: every key with its default or an example.
pub const DEFAULT_FILE: &str = include_str!("default.yaml");

/// The settings file of Playmaker. Every key has a variable of the same name in capitals, which replaces it whole.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Playmaker settings")]
#[expect(dead_code, reason = "only its schema is used; each key is read by the module of its group")]
struct File {
    /// Tool servers, by name: 1 to 32 of a-z 0-9 -, first a letter.
    tool_servers: Option<BTreeMap<String, tool_servers_file::Written>>,
    /// The keys that may call. An empty list counts as set, with no key.
    api_keys: Option<Vec<api_keys_file::Written>>,
    /// Browser origins besides the server's own.
    allowed_origins: Option<Vec<String>>,
    /// Who may add a connection; people when left out.
    connections_add: Option<Adders>,
    /// Whether a connection's server may be written by hand; true when left out.
    connections_by_hand: Option<bool>,
    /// The types of a connection written by hand; both when left out.
    connections_types: Option<Vec<ServerType>>,
    /// The kinds of credential a connection may have; all when left out.
    connections_kinds: Option<Vec<CredentialKind>>,
    /// Variables a reference may name: NAME, PREFIX_*, or one of these after an org and a colon.
    connections_variables: Option<Vec<String>>,
    /// Providers offered: names, *, and -name to leave one out; * when left out.
    connections_providers: Option<Vec<String>>,
    /// A folder of further providers.
    connections_providers_dir: Option<String>,
    /// Hosts of a connection's addresses: names, *.example.com, or *; * when left out.
    connections_hosts: Option<Vec<String>>,
    /// Exact origins that may resolve to private addresses.
    connections_private_hosts: Option<Vec<String>>,
    /// Connections an org may have, 1 to 10000; 200 when left out.
    connections_max_per_org: Option<u32>,
    /// Clients of the built-in authorization server.
    oauth_clients: Option<Vec<oauth_clients::Written>>,
    /// Providers of identities that people sign in at, besides passwords and passkeys.
    sign_in_providers: Option<Vec<sign_in_providers::Written>>,
}

/// The JSON Schema (2020-12) of the file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(File).to_value()
}
