//! What a provider file says: a service, its server, and what a person chooses (connections.md 6.2 and 6.3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::way::Way;

/// A service a person may connect by its name. Read from one file and checked; its fields are the file's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Name, which equals the file's.
    pub name: String,
    /// Title shown to people, 1 to 60 characters.
    pub title: String,
    /// What the service is for, 1 to 300 characters.
    pub description: String,
    /// Further words it is found by.
    #[serde(default)]
    pub terms: Vec<String>,
    /// Name of its icon's file.
    pub icon: Option<String>,
    /// Its place among the first ones shown, 1 to 99.
    pub featured: Option<u8>,
    /// Address of the service's documentation, shown on the page.
    pub docs: Option<String>,
    /// Whether an operator's file takes the place of a built-in one.
    #[serde(default)]
    pub replaces: bool,
    /// What a person fills in before the addresses are known.
    #[serde(default)]
    pub placeholders: Vec<Placeholder>,
    /// The server behind it.
    pub server: Server,
    /// Ways of giving its credential, the preferred first.
    pub ways: Vec<Way>,
    /// Request that proves a credential works.
    pub verify: Option<Request>,
    /// Request that names the account.
    pub identity: Option<Identity>,
}

impl Provider {
    /// Host of its server as shown to people before anything is filled in; a placeholder stands in it in braces.
    pub fn host(&self) -> &str {
        let after = self.server.url.split_once("://").map_or("", |(_, after)| after);
        after.split(['/', '?']).next().unwrap_or_default()
    }
}

/// A part of an address that a person fills in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placeholder {
    /// Name, as written in braces.
    pub name: String,
    /// Title shown to people.
    pub title: String,
    /// What to fill in.
    pub description: String,
    /// Pattern the whole value matches.
    pub pattern: Option<String>,
    /// A value that would do.
    pub example: Option<String>,
    /// Value taken when none is given.
    pub default: Option<String>,
    /// The only values taken, where they are few.
    #[serde(default)]
    pub options: Vec<String>,
    /// Where the value goes.
    #[serde(rename = "in")]
    pub place: PlaceholderIn,
}

/// Where in an address a placeholder's value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceholderIn {
    /// One label of the host, between dots.
    HostLabel,
    /// The host, or the end of it.
    Host,
    /// One segment of the path.
    Path,
    /// The value of a query parameter.
    Query,
}

/// Kind of a tool server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// A remote MCP server.
    Mcp,
    /// An HTTP API, described by a toolkit or by an OpenAPI document.
    Openapi,
}

/// The server of a provider.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its kind.
    pub r#type: Type,
    /// Address of the MCP server, or base address of the HTTP API.
    pub url: String,
    /// Name of the toolkit that describes an HTTP API.
    pub toolkit: Option<String>,
    /// OpenAPI document that describes an HTTP API, instead of a toolkit.
    pub document: Option<Document>,
    /// Headers sent with every request, never secret.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What one connection may ask of the service.
    pub limits: Option<Limits>,
    /// Values of the document's server variables.
    #[serde(default)]
    pub server_variables: BTreeMap<String, String>,
    /// Further origins the document's operations may name.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The only operations taken as tools.
    #[serde(default)]
    pub include: Vec<String>,
    /// Operations left out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Operations called otherwise.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// Hints of tools, by tool name.
    #[serde(default)]
    pub hints: BTreeMap<String, Hints>,
    /// How often a document at an address is read again, such as `24h` or `7d`; one hour to thirty days.
    pub refresh: Option<String>,
}

impl Server {
    /// Hours between two readings of a document at an address; a day when the file does not say or says it wrongly.
    pub fn refresh_hours(&self) -> u32 {
        self.refresh.as_deref().and_then(hours).unwrap_or(24)
    }
}

/// Reads `24h` or `7d` as hours, from one hour to thirty days.
pub(super) fn hours(text: &str) -> Option<u32> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u32 = number.parse().ok()?;
    let hours = match unit {
        "h" => number,
        "d" => number.checked_mul(24)?,
        _ => return None,
    };
    (1..=30 * 24).contains(&hours).then_some(hours)
}

/// Where an OpenAPI document is: exactly one of its fields is set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Name of a file beside the provider's.
    pub file: Option<String>,
    /// Address it is fetched from.
    pub url: Option<String>,
}

/// What one connection may ask of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Calls in a minute.
    pub calls_per_minute: Option<u32>,
    /// Calls at the same time.
    pub concurrent: Option<u32>,
}

/// What a tool does to its service, as MCP's hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Hints {
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    pub destructive_hint: Option<bool>,
    /// Doing it twice does no more than once.
    pub idempotent_hint: Option<bool>,
}

/// Method of a verifying or identifying request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
}

/// A value that an answer must hold.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Where {
    /// Its place in the answer, a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// What must be there.
    pub value: Value,
}

/// A request that proves a credential works.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Address.
    pub url: String,
    /// Further headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// JSON body of a POST.
    pub body: Option<Value>,
    /// Statuses that mean the credential works; every 2xx when empty.
    #[serde(default)]
    pub ok: Vec<u16>,
    /// Statuses that mean the credential is refused; 401 when empty.
    #[serde(default)]
    pub refused: Vec<u16>,
    /// What a good answer holds, for services that answer 200 with an error.
    pub r#where: Option<Where>,
}

impl Request {
    /// Whether an answer of `status` means the credential works.
    pub fn is_ok(&self, status: u16) -> bool {
        if self.ok.is_empty() { (200..300).contains(&status) } else { self.ok.contains(&status) }
    }

    /// Whether an answer of `status` means the credential is refused.
    pub fn is_refused(&self, status: u16) -> bool {
        if self.refused.is_empty() { status == 401 } else { self.refused.contains(&status) }
    }

    /// Whether the body of a good answer holds what it must.
    pub fn holds(&self, answer: &Value) -> bool {
        self.r#where.as_ref().is_none_or(|wanted| answer.pointer(&wanted.pointer) == Some(&wanted.value))
    }
}

/// Where the account's name is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentityFrom {
    /// The token answer itself.
    Token,
}

/// A request, or the token answer, that names the account. Its failing never fails a connection.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Set where the token answer itself holds the names; then there is no request.
    pub from: Option<IdentityFrom>,
    /// Method.
    pub method: Option<Method>,
    /// Address.
    pub url: Option<String>,
    /// Further headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// JSON body of a POST.
    pub body: Option<Value>,
    /// JSON Pointers, of which the first that yields text is the account's label.
    #[serde(default)]
    pub label: Vec<String>,
    /// JSON Pointer of the account's stable id.
    pub id: Option<String>,
}

impl Identity {
    /// The account's label and id in an answer, the label cut to 200 characters.
    pub fn read(&self, answer: &Value) -> (Option<String>, Option<String>) {
        let text = |pointer: &String| match answer.pointer(pointer) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let label = self.label.iter().find_map(text);
        (label.map(|label| label.chars().take(200).collect()), self.id.as_ref().and_then(text))
    }
}
