//! A client as the rest of the authorization server sees it, whichever way it became known (`identity.md` 7.7).

use serde_json::Value;
use url::Url;

use super::redirect_uri;

/// How a client became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The operator named it, in the settings or by a command.
    Operator,
    /// It registered itself (RFC 7591).
    Registered,
    /// Its id is the address of a document about it.
    Document,
}

/// How a client proves itself at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Not at all: a public client.
    None,
    /// A secret in `Authorization: Basic`.
    ClientSecretBasic,
    /// A secret in the form.
    ClientSecretPost,
    /// A signed assertion (RFC 7523).
    PrivateKeyJwt,
}

impl Method {
    /// Every method, as the metadata lists them.
    pub const ALL: [Self; 4] = [Self::None, Self::ClientSecretBasic, Self::ClientSecretPost, Self::PrivateKeyJwt];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The method of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.word() == word)
    }

    /// Whether it takes a secret.
    pub const fn has_secret(self) -> bool {
        matches!(self, Self::ClientSecretBasic | Self::ClientSecretPost)
    }
}

/// Where the public keys of a client stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// It has none.
    None,
    /// Here: a JWK set.
    Here(Value),
    /// At an address of the client's.
    At(Url),
}

/// A client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its id: `client_…`, or the address of its document.
    pub id: String,
    /// What it calls itself; empty where it says nothing.
    pub name: String,
    /// How it became known.
    pub origin: Origin,
    /// The addresses it may return to.
    pub redirect_uris: Vec<String>,
    /// How it proves itself.
    pub method: Method,
    /// The SHA-256 digest of its secret, as hexadecimal digits.
    pub secret_sha256: Option<String>,
    /// Its public keys.
    pub keys: Keys,
    /// Whether it registered the grant type `refresh_token`.
    pub refreshes: bool,
}

impl Client {
    /// Whether it keeps no secret.
    pub fn is_public(&self) -> bool {
        self.method == Method::None
    }

    /// Whether it gets refresh tokens: what registered for them, and every public client (`identity.md` 7.2).
    pub fn gets_refresh_tokens(&self) -> bool {
        self.refreshes || self.is_public()
    }

    /// Whether it may return to `address`.
    pub fn returns_to(&self, address: &str) -> bool {
        self.redirect_uris.iter().any(|registered| redirect_uri::matches(registered, address, self.is_public()))
    }

    /// Whether it has return addresses on this computer alone, so that any program here could take its place.
    pub fn is_local_only(&self) -> bool {
        self.redirect_uris.iter().all(|address| redirect_uri::kind(address) == Some(redirect_uri::Kind::Loopback))
    }

    /// Whether a consent may be remembered: where somebody answers for who the client is, and only the web address it
    /// named gets the code (security case 38).
    pub fn may_be_remembered(&self, address: &str) -> bool {
        self.origin != Origin::Registered && redirect_uri::kind(address) == Some(redirect_uri::Kind::Https)
    }

    /// The host that vouches for its name: that of its document.
    pub fn document_host(&self) -> Option<String> {
        match self.origin {
            Origin::Document => document_host(&self.id),
            Origin::Operator | Origin::Registered => None,
        }
    }
}

/// The host of the document that a client's id is the address of; nothing for any other client.
pub fn document_host(client_id: &str) -> Option<String> {
    super::document::address(client_id)?.host_str().map(str::to_owned)
}

/// A name without control and bidi characters and without spaces around it; `None` when it is longer than a hundred.
pub fn cleaned_name(text: &str) -> Option<String> {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
    };
    let kept: String = text.chars().filter(|c| !hidden(*c)).collect();
    let kept = kept.trim();
    (kept.chars().count() <= 100).then(|| kept.to_owned())
}

/// The public part of a JWK set: an object with 1 to 16 `keys`, none of them private or symmetric.
pub fn is_public_key_set(set: &Value) -> bool {
    let Some(keys) = set.get("keys").and_then(Value::as_array) else { return false };
    let public = |key: &Value| {
        key.as_object().is_some_and(|key| {
            matches!(key.get("kty").and_then(Value::as_str), Some("EC" | "RSA" | "OKP"))
                && !["d", "p", "q", "dp", "dq", "qi", "oth", "k"].iter().any(|member| key.contains_key(*member))
        })
    };
    (1..=16).contains(&keys.len()) && keys.iter().all(public)
}
