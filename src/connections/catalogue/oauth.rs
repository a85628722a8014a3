//! What a way says about OAuth: scopes, token answers, refresh and revocation (connections.md 6.4).

use serde::{Deserialize, Serialize};

/// Scopes of a sign-in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scopes {
    /// Without these the connection is of no use.
    pub required: Vec<String>,
    /// Those asked for.
    pub default: Vec<String>,
    /// What stands between them.
    pub separator: Separator,
    /// Name of the parameter; `scope` when left out.
    pub parameter: Option<String>,
}

/// What stands between scopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Separator {
    /// A space (RFC 6749, section 3.3).
    #[default]
    Space,
    /// A comma.
    Comma,
}

/// Proof key for the code exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Pkce {
    /// SHA-256.
    #[default]
    S256,
    /// None, where the provider refuses it.
    #[serde(rename = "none")]
    None,
}

/// How a client proves itself at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// `Authorization: Basic`.
    ClientSecretBasic,
    /// Members of the body.
    ClientSecretPost,
    /// A signed assertion (RFC 7523).
    PrivateKeyJwt,
    /// Not at all.
    None,
}

/// How token requests are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestBody {
    /// A form.
    #[default]
    Form,
    /// JSON.
    Json,
}

/// Form of a token answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// JSON.
    Json,
    /// A form.
    Form,
    /// By content type, then by look.
    #[default]
    Auto,
}

/// How a token answer is read: JSON Pointers where a provider's differ from RFC 6749, section 5.1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenAnswer {
    /// The access token.
    pub access_token: Option<String>,
    /// The refresh token.
    pub refresh_token: Option<String>,
    /// Seconds the access token lasts.
    pub expires_in: Option<String>,
    /// When the access token ends.
    pub expires_at: Option<String>,
    /// Scopes granted.
    pub scope: Option<String>,
    /// Type of the token.
    pub token_type: Option<String>,
    /// Code of an error.
    pub error: Option<String>,
    /// Words of an error.
    pub error_description: Option<String>,
    /// Form of the answer.
    pub answer: AnswerForm,
    /// Seconds a token lasts where the answer does not say.
    pub default_lifetime: Option<u32>,
    /// Whether errors come with status 200.
    pub error_in_200: bool,
}

/// Whether a refresh answers another refresh token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rotates {
    /// Each time.
    Always,
    /// When the provider likes.
    #[default]
    Sometimes,
    /// Never.
    Never,
}

/// How tokens are renewed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Refresh {
    /// Whether they can be.
    pub supported: bool,
    /// Whether the refresh token changes.
    pub rotates: Rotates,
    /// Seconds before the end at which a token is renewed.
    pub margin: Option<u32>,
    /// Days without use after which the refresh token ends.
    pub idle_days: Option<u32>,
    /// Days after which the refresh token ends in any case.
    pub max_days: Option<u32>,
    /// Seconds an old refresh token is still taken.
    pub grace_seconds: Option<u32>,
    /// Further error codes that end the consent.
    pub terminal: Vec<String>,
    /// Further error codes that pass.
    pub transient: Vec<String>,
}

impl Default for Refresh {
    fn default() -> Self {
        Self {
            supported: true,
            rotates: Rotates::default(),
            margin: None,
            idle_days: None,
            max_days: None,
            grace_seconds: None,
            terminal: Vec::new(),
            transient: Vec::new(),
        }
    }
}

/// How tokens are revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Revoke {
    /// Method.
    pub method: RevokeMethod,
    /// Which token is sent.
    pub token: RevokedToken,
    /// What ends with it.
    pub ends: RevokeEnds,
}

/// Method of a revocation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokeMethod {
    /// RFC 7009.
    #[default]
    Rfc7009,
    /// A DELETE.
    Delete,
    /// A GET.
    Get,
}

/// Which token a revocation sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokedToken {
    /// The refresh token.
    #[default]
    Refresh,
    /// The access token.
    Access,
}

/// What a revocation ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokeEnds {
    /// The token sent.
    #[default]
    Token,
    /// Every token of that person and client.
    Grant,
}

/// How a client comes to be known to an issuer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// By the operator's values.
    #[default]
    Static,
    /// By its metadata document.
    Document,
    /// By dynamic registration (RFC 7591).
    Dynamic,
    /// The first of these that works.
    Auto,
}
