//! What an agent may ask for when it adds a connection, and every fault of it (`connections.md` 3 and 4).
//!
//! [`Asked`] is the input as given; [`Connections::draft`] checks it whole and answers what would be kept. Nothing here
//! contacts anybody. `provider` and `by_hand` are the two inputs, `credential` the object both share.

mod by_hand;
mod credential;
mod provider;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::catalogue::{Kind, Rules, Shown, ValueIn};
use super::credential_look::{LookPlace, holds_reference, looks_like_credential};
use super::{Connections, Credential, Entry};
use crate::config::{Access, CredentialKind, MODEL_PROVIDERS, ServerType};
use crate::egress;
use crate::error::{Issue, Problem, Result};

/// What a server's or provider's name looks like.
pub const NAME_PATTERN: &str = "^[a-z][a-z0-9-]{0,31}$";
/// What a tool's name looks like.
pub const TOOL_PATTERN: &str = "^[A-Za-z0-9_.-]{1,128}$";
/// What the name of a header, parameter or cookie and a scheme look like (RFC 9110, section 5.6.2, without the back-quote).
pub const TOKEN_PATTERN: &str = r"^[A-Za-z0-9!#$%&'*+.^_|~-]+$";

/// What is asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// A provider by its name, as search lists it. With it go placeholders, and where wanted name, credential with its
    /// kind alone, and entry with playbooks, allowed and record_content.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub provider: Option<String>,
    /// The value of each placeholder the provider takes, at most 16 of 256 characters.
    #[schemars(extend("maxProperties" = 16, "additionalProperties" = { "type": "string", "maxLength": 256 }))]
    pub placeholders: Option<BTreeMap<String, String>>,
    /// What functions write before the slash: 1 to 32 lowercase letters, digits and hyphens, beginning with a letter.
    /// Needed for a server given by hand; the provider's name when left out.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub name: Option<String>,
    /// For a server given by hand: mcp for a remote MCP server, openapi for an HTTP API.
    #[serde(rename = "type")]
    pub kind: Option<ServerType>,
    /// The server without its credential.
    pub entry: Option<AskedEntry>,
    /// What the credential is and where it goes, never its value: the person gives that on the page.
    pub credential: Option<AskedCredential>,
}

/// The server that is asked for.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedEntry {
    /// The address of the MCP server, or the base address of the HTTP API.
    #[schemars(length(min = 1, max = 2048))]
    pub url: Option<String>,
    /// openapi only: the address of its OpenAPI document.
    #[schemars(length(min = 1, max = 2048))]
    pub document: Option<String>,
    /// openapi only, instead of document: its text, JSON or YAML, at most 512 KiB.
    #[schemars(length(min = 1, max = 524_288))]
    pub document_source: Option<String>,
    /// Fixed headers without secrets, at most 16 of 1,024 characters.
    #[schemars(extend("maxProperties" = 16, "additionalProperties" = { "type": "string", "maxLength": 1024 }))]
    pub headers: Option<BTreeMap<String, String>>,
    /// The playbooks that may use it, 1 to 100; every one when left out.
    #[schemars(length(min = 1, max = 100), inner(regex(pattern = crate::playbooks::ID_PATTERN)))]
    pub playbooks: Option<Vec<String>>,
    /// The tools that may be used, 1 to 256; every one when left out.
    #[schemars(length(min = 1, max = 256), inner(regex(pattern = TOOL_PATTERN)))]
    pub allowed: Option<Vec<String>>,
    /// Whether arguments and answers are kept whole in the history; true when left out.
    pub record_content: Option<bool>,
}

/// The credential that is asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedCredential {
    /// secret: the person gives it on the page. reference: a variable of the server. client_credentials: a client of an
    /// issuer. authorization: a provider's way by which the person signs in there.
    pub kind: CredentialKind,
    /// reference: the variable of the server.
    #[schemars(length(min = 1, max = 128))]
    pub variable: Option<String>,
    /// reference and secret: the header, query parameter or cookie it goes into.
    #[schemars(length(min = 1, max = 64), regex(pattern = TOKEN_PATTERN))]
    pub name: Option<String>,
    /// reference and secret: where it goes.
    #[serde(rename = "in")]
    pub place: Option<ValueIn>,
    /// reference and secret in a header: the word before the value, such as Bearer.
    #[schemars(length(min = 1, max = 32), regex(pattern = TOKEN_PATTERN))]
    pub scheme: Option<String>,
    /// client_credentials: the issuer's address.
    #[schemars(length(min = 1, max = 2048))]
    pub issuer: Option<String>,
    /// client_credentials: the client's id; given on the page when left out.
    #[schemars(length(min = 1, max = 512))]
    pub client_id: Option<String>,
    /// client_credentials: the scopes asked for.
    #[schemars(length(min = 1, max = 1000))]
    pub scope: Option<String>,
}

/// What would be kept, before its document is read.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What functions write before the slash.
    pub name: String,
    /// The provider's title, or the name.
    pub title: String,
    /// An MCP server or an HTTP API.
    pub kind: ServerType,
    /// The provider it comes from.
    pub provider: Option<String>,
    /// The server without its credential.
    pub entry: Entry,
    /// Every placeholder's value, defaults among them.
    pub placeholders: Map<String, Value>,
    /// What the credential is and where it goes.
    pub credential: Option<Credential>,
    /// The text of a document given in the call.
    pub document_source: Option<String>,
}

struct Check<'a> {
    connections: &'a Connections,
    egress: &'a egress::Client,
    org: &'a str,
    issues: Vec<Issue>,
}

impl Connections {
    /// Checks what is asked for: every fault at once, nothing secret, the operator's rules.
    pub fn draft(&self, egress: &egress::Client, org: &str, asked: Asked) -> Result<Draft> {
        let mut check = Check { connections: self, egress, org, issues: Vec::new() };
        let draft = match asked.provider.clone() {
            Some(provider) => check.by_provider(&provider, asked),
            None => check.by_hand(asked),
        };
        match draft {
            Some(draft) if check.issues.is_empty() => {
                let configured = self.settings.tool_servers.get(&draft.name);
                if configured.is_some_and(|server| server.org == org) {
                    let words = "A tool server of this name is in the configuration. Give the connection another name.";
                    return Err(Problem::conflict("taken", words));
                }
                Ok(draft)
            }
            _ => Err(Problem::invalid_all(check.issues)),
        }
    }

    /// The operator's rules on ways, as the catalogue takes them.
    pub fn way_rules(&self) -> Rules {
        let rules = &self.settings.connections;
        Rules {
            kinds: rules.kinds.iter().map(|kind| way_kind(*kind)).collect(),
            providers: Shown::parse(&rules.providers.join(",")),
            variables: !rules.variables.is_empty(),
            returns: self.settings.public_url.is_some() || self.settings.access() == Access::Local,
        }
    }

    /// Whether an operator's value of a provider is set, by its variable.
    pub fn is_set(&self, variable: &str) -> bool {
        self.settings.provider_values.is_set(variable)
    }
}

const fn way_kind(kind: CredentialKind) -> Kind {
    match kind {
        CredentialKind::Authorization => Kind::Authorization,
        CredentialKind::Secret => Kind::Secret,
        CredentialKind::ClientCredentials => Kind::ClientCredentials,
        CredentialKind::Reference => Kind::Reference,
    }
}

const fn credential_kind(kind: Kind) -> CredentialKind {
    match kind {
        Kind::Authorization => CredentialKind::Authorization,
        Kind::Secret => CredentialKind::Secret,
        Kind::ClientCredentials => CredentialKind::ClientCredentials,
        Kind::Reference => CredentialKind::Reference,
    }
}

impl Check<'_> {
    fn fault(&mut self, pointer: impl Into<String>, detail: impl Into<String>) {
        self.issues.push(Issue::new(pointer, detail));
    }

    fn name(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        self.text("/name", name, LookPlace::Text);
        if MODEL_PROVIDERS.contains(&name) {
            self.fault("/name", "is the name of a model provider; choose another");
        }
    }

    /// The part of an entry that every connection has.
    fn kept(&mut self, entry: &AskedEntry) -> Entry {
        for (index, tool) in entry.allowed.iter().flatten().enumerate() {
            let pointer = format!("/entry/allowed/{index}");
            let fits = (1..=128).contains(&tool.len())
                && tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
            if !fits {
                self.fault(pointer, "must be the name of one tool, without *");
            } else if entry.allowed.iter().flatten().take(index).any(|earlier| earlier == tool) {
                self.fault(pointer, "stands there twice");
            } else {
                self.text(&pointer, tool, LookPlace::Text);
            }
        }
        for (index, playbook) in entry.playbooks.iter().flatten().enumerate() {
            let pointer = format!("/entry/playbooks/{index}");
            if !crate::playbooks::is_id(playbook) {
                self.fault(pointer, "is not a playbook you may use");
            } else if entry.playbooks.iter().flatten().take(index).any(|earlier| earlier == playbook) {
                self.fault(pointer, "stands there twice");
            }
        }
        Entry {
            playbooks: entry.playbooks.clone(),
            allowed: entry.allowed.clone(),
            record_content: entry.record_content.unwrap_or(true),
            ..Entry::default()
        }
    }

    /// Nothing secret in the call: neither a value nor a reference (`connections.md` 3.4).
    fn text(&mut self, pointer: &str, text: &str, place: LookPlace) {
        if holds_reference(text) {
            self.fault(
                pointer,
                "must hold no reference: the person gives the credential on the page, or use the kind reference",
            );
        } else if looks_like_credential(text, place) {
            self.fault(pointer, "looks like a credential: leave it out, the person gives it on the page");
        }
    }
}
