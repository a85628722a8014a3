//! Reads the text of a token, before any key is looked for (`identity.md` 5.1, steps 1 to 5).
//!
//! Strict on purpose: what two readers could read in two ways is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::refused::{Cause, Refused};
use super::rules::{Kind, Rules};
use crate::config::{Algorithm, TokenType};

/// The longest token, in bytes.
pub(super) const MAX_TOKEN: usize = 8 << 10;

/// The longest header, in bytes of its JSON.
const MAX_HEADER: usize = 1 << 10;

/// The most levels of arrays and objects.
const MAX_DEPTH: usize = 16;

/// The longest key id, in bytes.
const MAX_KEY_ID: usize = 256;

/// A token whose signature nobody has looked at yet: nothing of it may be believed.
pub(super) struct Unverified<'t> {
    /// What it says it is signed with, of the issuer's list.
    pub(super) algorithm: Algorithm,
    /// Which key it says it is signed with; only ever compared.
    pub(super) key_id: Option<String>,
    /// Its payload, an object.
    pub(super) claims: Value,
    /// What is signed.
    pub(super) message: &'t str,
    /// The signature in base64url.
    pub(super) signature: &'t str,
}

impl<'t> Unverified<'t> {
    /// Reads `text` by the rules of the one issuer whose token it has to be.
    ///
    /// # Errors
    ///
    /// [`Refused`], for everything that is wrong before a key is looked for.
    pub(super) fn read(text: &'t str, rules: &Rules) -> Result<Self, Refused> {
        if text.len() > MAX_TOKEN {
            return Err(Refused(Cause::TooLong));
        }
        let (message, signature) = text.rsplit_once('.').ok_or(Refused(Cause::Form))?;
        let (header, payload) = message.split_once('.').ok_or(Refused(Cause::Form))?;
        let (header, payload) = (decoded(header)?, decoded(payload)?);
        let signed = decoded(signature)?;
        if header.len() > MAX_HEADER {
            return Err(Refused(Cause::Header));
        }
        let header = object(&header).ok_or(Refused(Cause::Header))?;
        if header.get("crit").is_some() {
            return Err(Refused(Cause::Critical));
        }
        let claims = object(&payload).ok_or(Refused(Cause::Payload))?;
        let fits = match rules.kind {
            Kind::Access => is_access_token(&header, &claims, rules.token_type),
            Kind::Identity => is_id_token(&header),
        };
        if !fits {
            return Err(Refused(Cause::Type));
        }
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::of);
        let algorithm =
            algorithm.filter(|algorithm| rules.algorithms.contains(algorithm)).ok_or(Refused(Cause::Algorithm))?;
        if claims.get("iss").and_then(Value::as_str) != Some(rules.issuer.as_str()) {
            return Err(Refused(Cause::Issuer));
        }
        if !signature_has_form(algorithm, &signed) {
            return Err(Refused(Cause::Signature));
        }
        Ok(Self { algorithm, key_id: key_id(&header)?, claims, message, signature })
    }
}

/// base64url without padding, line breaks and stray bits at the end; never empty.
fn decoded(part: &str) -> Result<Vec<u8>, Refused> {
    match URL_SAFE_NO_PAD.decode(part) {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes),
        _ => Err(Refused(Cause::Form)),
    }
}

fn object(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    crate::json::strict(text, MAX_DEPTH).filter(Value::is_object)
}

fn key_id(header: &Value) -> Result<Option<String>, Refused> {
    match header.get("kid") {
        None => Ok(None),
        Some(Value::String(id)) if id.len() <= MAX_KEY_ID => Ok(Some(id.clone())),
        Some(_) => Err(Refused(Cause::KeyId)),
    }
}

/// RFC 9068, section 4, and for issuers that do not follow it the signs that tell an access token from an ID token.
fn is_access_token(header: &Value, claims: &Value, token_type: TokenType) -> bool {
    let written = match header.get("typ") {
        None => None,
        Some(Value::String(written)) => Some(written.to_ascii_lowercase()),
        Some(_) => return false,
    };
    match written.as_deref().map(|written| written.strip_prefix("application/").unwrap_or(written)) {
        Some("at+jwt") => true,
        None | Some("jwt") => token_type == TokenType::Auto && looks_like_access(claims),
        Some(_) => false,
    }
}

/// A plain JWT by its header: what else it has to say, such as the nonce, is looked at once its signature is good.
fn is_id_token(header: &Value) -> bool {
    match header.get("typ") {
        None => true,
        Some(typ) => typ.as_str().is_some_and(|typ| typ.eq_ignore_ascii_case("JWT")),
    }
}

fn looks_like_access(claims: &Value) -> bool {
    let has = |name: &str| claims.get(name).is_some();
    let says = |name: &str, words: &[&str]| {
        claims
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    // Some issuers write into the payload what the token is for.
    let for_something_else =
        says("typ", &["ID", "Refresh", "Offline", "Logout"]) || says("token_use", &["id", "refresh"]);
    let of_an_id_token = ["nonce", "at_hash", "c_hash"].into_iter().any(has);
    (has("scope") || has("scp")) && !of_an_id_token && !for_something_else
}

/// Length and, for ECDSA, that neither half is zero: some verifiers once took such a signature for any message.
fn signature_has_form(algorithm: Algorithm, signature: &[u8]) -> bool {
    let half = match algorithm {
        Algorithm::Es256 => 32,
        Algorithm::Es384 => 48,
        Algorithm::EdDsa => return signature.len() == 64,
        _ => return true,
    };
    let is_zero = |part: &[u8]| part.iter().all(|byte| *byte == 0);
    signature.len() == 2 * half && !signature.chunks(half).any(is_zero)
}
