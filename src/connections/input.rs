//! What an agent may ask for when it adds a connection, and every fault of it (`connections.md` 3 and 4).
//!
//! [`Asked`] is the input as given; [`Connections::draft`] checks it whole and answers what would be kept. Nothing here
//! contacts anybody.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::catalogue::headers::{is_reserved, is_token};
use super::catalogue::{Kind, Provider, Resolved, Rules, Shown, Type, ValueIn};
use super::credential_look::{LookPlace, holds_reference, looks_like_credential};
use super::{Connections, Credential, Entry};
use crate::config::{CredentialKind, ServerType};
use crate::egress::{self, Provenance};
use crate::error::{Issue, Problem, Result};

/// What a server's or provider's name looks like.
pub const NAME_PATTERN: &str = "^[a-z][a-z0-9-]{0,31}$";

/// What is asked for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// A provider by its name, as search lists it. With it go placeholders, and where wanted name, credential with its
    /// kind alone, and entry with playbooks, allowed and record_content.
    #[schemars(length(min = 1, max = 64))]
    pub provider: Option<String>,
    /// The value of each placeholder the provider takes.
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
    #[schemars(length(min = 1))]
    pub document_source: Option<String>,
    /// Fixed headers without secrets, at most 16.
    #[schemars(extend("maxProperties" = 16))]
    pub headers: Option<BTreeMap<String, String>>,
    /// The playbooks that may use it, 1 to 100; every one when left out.
    #[schemars(length(min = 1, max = 100))]
    pub playbooks: Option<Vec<String>>,
    /// The tools that may be used, 1 to 256; every one when left out.
    #[schemars(length(min = 1, max = 256))]
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
    pub variable: Option<String>,
    /// reference and secret: the header, query parameter or cookie it goes into.
    pub name: Option<String>,
    /// reference and secret: where it goes.
    #[serde(rename = "in")]
    pub place: Option<ValueIn>,
    /// reference and secret in a header: the word before the value, such as Bearer.
    pub scheme: Option<String>,
    /// client_credentials: the issuer's address.
    pub issuer: Option<String>,
    /// client_credentials: the client's id; given on the page when left out.
    pub client_id: Option<String>,
    /// client_credentials: the scopes asked for.
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
            Some(draft) if check.issues.is_empty() => Ok(draft),
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

    fn by_provider(&mut self, name: &str, asked: Asked) -> Option<Draft> {
        if asked.kind.is_some() {
            self.fault("/type", "is the provider's to say; leave it out");
        }
        let entry = asked.entry.unwrap_or_default();
        for (field, given) in [
            ("url", entry.url.is_some()),
            ("document", entry.document.is_some()),
            ("document_source", entry.document_source.is_some()),
            ("headers", entry.headers.is_some()),
        ] {
            if given {
                self.fault(format!("/entry/{field}"), "is the provider's to say; leave it out");
            }
        }
        let kept = self.kept(&entry);
        self.name(asked.name.as_deref());
        let placeholders = self.placeholders(asked.placeholders);
        let connections = self.connections;
        let Some(provider) = connections.catalogue.get(name) else {
            self.fault("/provider", "is not a provider here. search lists the providers a person may connect");
            return None;
        };
        let way = self.way(provider, asked.credential.as_ref())?;
        let resolved = match connections.catalogue.resolve(provider, &placeholders) {
            Ok(resolved) => resolved,
            Err(issues) => {
                self.issues.extend(issues);
                return None;
            }
        };
        if self.egress.check_address(&resolved.url, Provenance::Person).is_err() {
            self.fault("/provider", egress::Failure::NOT_ALLOWED);
        }
        Some(Draft {
            name: asked.name.unwrap_or_else(|| provider.name.clone()),
            title: provider.title.clone(),
            kind: server_type(&resolved),
            provider: Some(provider.name.clone()),
            entry: Entry { url: Some(resolved.url), ..kept },
            placeholders: resolved.placeholders.into_iter().map(|(name, value)| (name, value.into())).collect(),
            credential: Some(way),
            document_source: None,
        })
    }

    /// The way of the provider that is taken: the one asked for, else the first offered.
    fn way(&mut self, provider: &Provider, asked: Option<&AskedCredential>) -> Option<Credential> {
        if let Some(asked) = asked {
            for (field, given) in fields(asked) {
                if given {
                    self.fault(format!("/credential/{field}"), "is the provider's to say; give the kind alone");
                }
            }
        }
        let rules = self.connections.way_rules();
        let is_set = |variable: &str| self.connections.is_set(variable);
        let ways: Vec<(Kind, bool)> =
            provider.ways(&is_set, &rules).map(|(way, offered)| (way.kind, offered)).collect();
        if !ways.iter().any(|(_, offered)| *offered) {
            let detail = format!("{} cannot be connected here yet; whoever runs the server sets it up", provider.title);
            self.fault("/provider", detail);
            return None;
        }
        let kind = match asked {
            Some(asked) => way_kind(asked.kind),
            None => ways.iter().find(|(_, offered)| *offered)?.0,
        };
        match ways.iter().find(|(found, _)| *found == kind) {
            None => {
                self.fault("/credential/kind", format!("is no way of connecting {}", provider.title));
                None
            }
            Some((_, false)) => {
                self.fault("/credential/kind", "is not offered here; whoever runs the server sets it up");
                None
            }
            Some((_, true)) => {
                let way = provider.way(kind)?;
                let put = way.put();
                Some(Credential {
                    kind: credential_kind(kind),
                    variable: None,
                    name: put.as_ref().map(|put| put.name.clone()),
                    place: put.as_ref().map(|put| put.place),
                    scheme: put.and_then(|put| put.scheme),
                })
            }
        }
    }

    fn by_hand(&mut self, asked: Asked) -> Option<Draft> {
        let rules = &self.connections.settings.connections;
        if asked.kind.is_none() && asked.name.is_none() && asked.entry.is_none() {
            self.fault("/provider", "or a server of its own by name, type and entry is required");
        }
        if asked.placeholders.is_some() {
            self.fault("/placeholders", "are a provider's; a server given by hand has none");
        }
        match asked.kind {
            None => self.fault("/type", "is required and missing"),
            Some(_) if !rules.by_hand => self.fault(
                "/type",
                "whoever runs the server does not let servers be given by hand; search lists providers",
            ),
            Some(kind) if !rules.types.contains(&kind) => {
                self.fault("/type", "whoever runs the server does not allow this type")
            }
            Some(_) => {}
        }
        if asked.name.is_none() {
            self.fault("/name", "is required and missing");
        }
        self.name(asked.name.as_deref());
        let kind = asked.kind.unwrap_or(ServerType::Mcp);
        let entry = asked.entry.unwrap_or_default();
        let kept = self.kept(&entry);
        self.addresses(kind, &entry);
        self.headers(entry.headers.as_ref());
        let credential = asked.credential.as_ref().and_then(|credential| self.credential(credential));
        let name = asked.name?;
        Some(Draft {
            title: name.clone(),
            name,
            kind,
            provider: None,
            entry: Entry {
                url: entry.url,
                document: entry.document,
                headers: entry.headers.unwrap_or_default(),
                ..kept
            },
            placeholders: Map::new(),
            credential,
            document_source: entry.document_source,
        })
    }

    fn name(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        self.text("/name", name, LookPlace::Text);
        let settings = &self.connections.settings;
        if settings.tool_servers.get(name).is_some_and(|server| server.org == self.org) {
            self.fault("/name", "is the name of a tool server of the configuration");
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

    fn addresses(&mut self, kind: ServerType, entry: &AskedEntry) {
        let has_document = entry.document.is_some() || entry.document_source.is_some();
        match (kind, &entry.url) {
            (ServerType::Mcp, None) => self.fault("/entry/url", "is required and missing"),
            (_, Some(url)) => self.address("/entry/url", url),
            (ServerType::Openapi, None) => {}
        }
        if kind == ServerType::Mcp && has_document {
            self.fault("/entry/document", "belongs to the type openapi");
        }
        if kind == ServerType::Openapi && entry.document.is_some() == entry.document_source.is_some() {
            self.fault("/entry/document", "either document or document_source is required, and not both");
        }
        if let Some(document) = &entry.document {
            self.address("/entry/document", document);
        }
        if let Some(source) = &entry.document_source {
            if source.len() > 512 * 1024 {
                self.fault("/entry/document_source", "must be at most 512 KiB");
            }
            self.text("/entry/document_source", source, LookPlace::Text);
        }
    }

    fn address(&mut self, pointer: &str, address: &str) {
        self.text(pointer, address, LookPlace::Address);
        if self.issues.iter().any(|issue| issue.pointer == pointer) {
            return;
        }
        if self.egress.check_address(address, Provenance::Person).is_err() {
            self.fault(pointer, egress::Failure::NOT_ALLOWED);
        }
    }

    fn headers(&mut self, headers: Option<&BTreeMap<String, String>>) {
        for (name, value) in headers.into_iter().flatten() {
            let pointer = format!("/entry/headers/{}", name.replace('~', "~0").replace('/', "~1"));
            if !is_token(name, 64) || is_reserved(name) {
                self.fault(pointer, "is not a header an entry may set");
            } else if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) || value.len() > 1_024 {
                self.fault(pointer, "must be at most 1,024 visible ASCII characters");
            } else {
                self.text(&pointer, value, LookPlace::HeaderValue);
            }
        }
    }

    fn placeholders(&mut self, given: Option<BTreeMap<String, String>>) -> Map<String, Value> {
        let given = given.unwrap_or_default();
        for (name, value) in &given {
            self.text(&format!("/placeholders/{name}"), value, LookPlace::Placeholder);
        }
        given.into_iter().map(|(name, value)| (name, value.into())).collect()
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

    /// A credential described by hand (`connections.md` 4).
    fn credential(&mut self, asked: &AskedCredential) -> Option<Credential> {
        let rules = &self.connections.settings.connections;
        if asked.kind == CredentialKind::Authorization {
            self.fault("/credential/kind", "authorization is a provider's way; a server given by hand has none");
            return None;
        }
        if asked.kind == CredentialKind::ClientCredentials || !rules.kinds.contains(&asked.kind) {
            self.fault("/credential/kind", "is not offered here");
            return None;
        }
        let reference = asked.kind == CredentialKind::Reference;
        let in_header = asked.place.is_none_or(|place| place == ValueIn::Header);
        for (field, given) in fields(asked) {
            let (needed, taken) = match field {
                "name" | "in" => (true, true),
                "variable" => (reference, reference),
                "scheme" => (false, in_header),
                _ => (false, false),
            };
            match (given, needed, taken) {
                (true, _, false) => self.fault(format!("/credential/{field}"), "is not taken by this kind"),
                (false, true, _) => self.fault(format!("/credential/{field}"), "is required and missing"),
                _ => {}
            }
        }
        self.credential_texts(asked);
        Some(Credential {
            kind: asked.kind,
            variable: asked.variable.clone(),
            name: asked.name.clone(),
            place: asked.place,
            scheme: asked.scheme.clone(),
        })
    }

    fn credential_texts(&mut self, asked: &AskedCredential) {
        if let Some(name) = &asked.name {
            self.text("/credential/name", name, LookPlace::Text);
            let header = asked.place == Some(ValueIn::Header);
            let reserved = header && is_reserved(name) && !name.eq_ignore_ascii_case("authorization");
            if !is_token(name, 64) || reserved {
                self.fault("/credential/name", "is not a name a credential may go under");
            }
        }
        if let Some(scheme) = &asked.scheme
            && !is_token(scheme, 32)
        {
            self.fault("/credential/scheme", "must be one word of at most 32 characters");
        }
        if let Some(variable) = &asked.variable {
            let form = (1..=128).contains(&variable.len())
                && variable.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
                && !variable.starts_with(|c: char| c.is_ascii_digit());
            if !form || self.connections.settings.reference(self.org, variable).is_none() {
                self.fault("/credential/variable", "is not configured");
            }
        }
    }
}

fn fields(asked: &AskedCredential) -> [(&'static str, bool); 7] {
    [
        ("variable", asked.variable.is_some()),
        ("name", asked.name.is_some()),
        ("in", asked.place.is_some()),
        ("scheme", asked.scheme.is_some()),
        ("issuer", asked.issuer.is_some()),
        ("client_id", asked.client_id.is_some()),
        ("scope", asked.scope.is_some()),
    ]
}

fn server_type(resolved: &Resolved) -> ServerType {
    match resolved.r#type {
        Type::Mcp => ServerType::Mcp,
        Type::Openapi => ServerType::Openapi,
    }
}
