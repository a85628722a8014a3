//! The ways of giving a provider's credential (connections.md 6.4).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::oauth::{ClientAuth, Pkce, Refresh, Registration, RequestBody, Revoke, Scopes, TokenAnswer};

/// Kind of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The person signs in to the provider and allows Playmaker.
    Authorization,
    /// The person gives a value on the page.
    Secret,
    /// A client's own id and secret, or key.
    ClientCredentials,
    /// A variable of the server, which the operator set.
    Reference,
}

impl Kind {
    /// The kind's word, such as `secret`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::Secret => "secret",
            Self::ClientCredentials => "client_credentials",
            Self::Reference => "reference",
        }
    }
}

/// Where a credential's value goes in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueIn {
    /// A header.
    Header,
    /// A parameter of the query.
    Query,
    /// A cookie.
    Cookie,
}

/// One way of giving a provider's credential. Which fields it has depends on its kind; the loader refuses others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Its kind; a provider has one way of each at most.
    pub kind: Kind,
    /// Title shown on the page.
    pub title: String,
    /// Address that says where to get the secret.
    pub help: Option<String>,
    /// Values the operator sets.
    #[serde(default)]
    pub values: Vec<OperatorValue>,
    /// Name of the header, parameter or cookie.
    pub name: Option<String>,
    /// Where the value goes.
    #[serde(rename = "in")]
    pub place: Option<ValueIn>,
    /// Word written before the value in a header.
    pub scheme: Option<String>,
    /// Pattern of the value, told on the page when it does not fit.
    pub format: Option<String>,
    /// Several values, such as a user and a key. Without `encode` each goes under its own name.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// How several values become one.
    pub encode: Option<Encode>,
    /// Issuer of tokens.
    pub issuer: Option<String>,
    /// Scope asked for with client credentials.
    pub scope: Option<String>,
    /// Where the person signs in.
    pub authorize_url: Option<String>,
    /// Where a code becomes tokens.
    pub token_url: Option<String>,
    /// Where tokens are revoked.
    pub revocation_url: Option<String>,
    /// Scopes asked for.
    pub scopes: Option<Scopes>,
    /// Proof key for the code exchange (RFC 7636).
    #[serde(default)]
    pub pkce: Pkce,
    /// Fixed parameters of the sign-in.
    #[serde(default)]
    pub authorize_params: BTreeMap<String, String>,
    /// Fixed parameters of the exchange.
    #[serde(default)]
    pub token_params: BTreeMap<String, String>,
    /// Fixed parameters of a refresh.
    #[serde(default)]
    pub refresh_params: BTreeMap<String, String>,
    /// How the client proves itself at the token endpoint.
    pub client_auth: Option<ClientAuth>,
    /// How token requests are written.
    #[serde(default)]
    pub request_body: RequestBody,
    /// Resource told on all three requests (RFC 8707); `server` and `omit` are words of their own.
    pub resource: Option<String>,
    /// How a token answer is read.
    pub token: Option<TokenAnswer>,
    /// How tokens are renewed.
    pub refresh: Option<Refresh>,
    /// Where a token goes when not into `Authorization: Bearer`.
    pub r#use: Option<Put>,
    /// How tokens are revoked.
    pub revoke: Option<Revoke>,
    /// Whether the addresses are found through the server itself.
    #[serde(default)]
    pub discovery: bool,
    /// How the client comes to be known to the issuer.
    #[serde(default)]
    pub registration: Registration,
}

impl Way {
    /// Where its value goes, for a way whose file says so.
    pub fn put(&self) -> Option<Put> {
        Some(Put { name: self.name.clone()?, place: self.place?, scheme: self.scheme.clone() })
    }
}

/// Where a value goes in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Put {
    /// Name of the header, parameter or cookie.
    pub name: String,
    /// Header, query or cookie.
    #[serde(rename = "in")]
    pub place: ValueIn,
    /// Word written before the value in a header.
    pub scheme: Option<String>,
}

/// A value the operator sets in the environment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorValue {
    /// Its name, such as `client_id`.
    pub name: String,
    /// Whether it is a secret.
    #[serde(default)]
    pub secret: bool,
    /// Whether the way works without it.
    #[serde(default)]
    pub optional: bool,
}

/// One of several values a person gives.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Title shown on the page.
    pub title: String,
    /// Whether the page hides it.
    #[serde(default)]
    pub secret: bool,
    /// Pattern the whole value matches.
    pub pattern: Option<String>,
}

/// How several values become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encode {
    /// Two values, joined by a colon, in base64 (RFC 7617).
    Basic,
}
