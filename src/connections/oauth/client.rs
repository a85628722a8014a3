//! Who Playmaker is at a provider, and how it proves that at the token endpoint (RFC 6749, section 2.3).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use zeroize::Zeroizing;

use super::assertion::{self, Signer, SigningAlgorithm};
use crate::ids::Ids;

/// What stays as it is in `application/x-www-form-urlencoded` parts of Basic (RFC 6749, section 2.3.1).
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A client of a provider. Never printed.
#[derive(Clone)]
pub struct Client {
    /// Its id there.
    pub id: String,
    /// How it proves itself.
    pub authentication: Authentication,
}

/// How a client proves itself.
#[derive(Clone)]
pub enum Authentication {
    /// `Authorization: Basic`, id and secret encoded each (`client_secret_basic`).
    Basic(Zeroizing<String>),
    /// Members of the body (`client_secret_post`).
    Post(Zeroizing<String>),
    /// A signed assertion (`private_key_jwt`).
    PrivateKeyJwt(Box<Signer>),
    /// Not at all: a public client (`none`).
    None,
}

impl Client {
    /// As it is kept sealed, beside what it is to ask for.
    pub(in crate::connections) fn text(&self) -> Zeroizing<String> {
        let (method, secret, algorithm) = match &self.authentication {
            Authentication::Basic(secret) => ("basic", secret.as_str(), None),
            Authentication::Post(secret) => ("post", secret.as_str(), None),
            Authentication::PrivateKeyJwt(signer) => {
                let (key, algorithm) = signer.parts();
                ("private_key_jwt", key, Some(algorithm))
            }
            Authentication::None => ("none", "", None),
        };
        Zeroizing::new(serde_json::json!([self.id, method, secret, algorithm]).to_string())
    }

    /// From [`Self::text`].
    pub(in crate::connections) fn of_text(text: &str, ids: &Ids) -> Option<Self> {
        type Parts = (String, String, Zeroizing<String>, Option<SigningAlgorithm>);
        let (id, method, secret, algorithm): Parts = serde_json::from_str(text).ok()?;
        let authentication = match method.as_str() {
            "private_key_jwt" => Authentication::PrivateKeyJwt(Box::new(Signer::of(&secret, algorithm?, ids)?)),
            "basic" => Authentication::Basic(secret),
            "post" => Authentication::Post(secret),
            "none" => Authentication::None,
            _ => return None,
        };
        Some(Self { id, authentication })
    }

    /// The header that proves the client, where that is how it does.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let Authentication::Basic(secret) = &self.authentication else { return None };
        let part = |text| utf8_percent_encode(text, PART).to_string();
        let pair = Zeroizing::new(format!("{}:{}", part(&self.id), *Zeroizing::new(part(secret))));
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair.as_bytes()))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The members of the body that name the client and, where that is how it does, prove it. An empty secret is never
    /// sent. `audience` is the address the request goes to.
    pub(super) fn members(&self, audience: &str, now_ms: i64) -> Vec<(&'static str, Zeroizing<String>)> {
        let id = || ("client_id", Zeroizing::new(self.id.clone()));
        match &self.authentication {
            Authentication::Basic(_) => Vec::new(),
            Authentication::Post(secret) if !secret.is_empty() => vec![id(), ("client_secret", secret.clone())],
            Authentication::PrivateKeyJwt(signer) => {
                let kind = ("client_assertion_type", Zeroizing::new(assertion::TYPE.to_owned()));
                let signed = signer.assertion(&self.id, audience, now_ms).map(|signed| ("client_assertion", signed));
                [id(), kind].into_iter().chain(signed).collect()
            }
            Authentication::Post(_) | Authentication::None => vec![id()],
        }
    }
}
