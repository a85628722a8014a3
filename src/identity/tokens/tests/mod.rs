//! Tokens as issuers make them and as attackers would: signed with keys of the test, against an issuer on loopback.

mod cached;
mod claims;
mod discovery;
mod forged;
mod id_tokens;
mod issuer;
mod key_sets;
mod published;
mod signer;
mod times;

use serde_json::{Value, json};

pub(super) use issuer::{MockIssuer, ok};
pub(super) use signer::Signer;

use super::{Claims, KeySet, Refused, Rules, check};
use crate::config::{self, Issuer};

/// The present of these tests, in milliseconds and in seconds.
pub(super) const NOW_MS: i64 = 1_790_847_000_000;
pub(super) const NOW_S: i64 = NOW_MS / 1_000;

/// The public URL of the server.
pub(super) const PUBLIC: &str = "https://pm.example";

/// An issuer outside.
pub(super) const ISSUER: &str = "https://id.example.com";

/// The settings of an issuer, with further variables.
pub(super) fn identity(issuer: &str, variables: &[(&str, &str)]) -> Issuer {
    let all = [&[("PUBLIC_URL", PUBLIC), ("IDENTITY_ISSUER", issuer)], variables].concat();
    let environment = all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    match config::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into())) {
        Ok(settings) => settings.identity.unwrap(),
        Err(refusal) => panic!("{refusal}"),
    }
}

/// A key set of these signers.
pub(super) fn set(signers: &[&Signer]) -> Value {
    json!({ "keys": signers.iter().map(|signer| signer.jwk()).collect::<Vec<_>>() })
}

pub(super) fn key_set(signers: &[&Signer]) -> KeySet {
    KeySet::read(&set(signers)).unwrap()
}

/// The payload of a token this server issues.
pub(super) fn own_payload() -> Value {
    json!({
        "iss": PUBLIC, "sub": "user_2ada", "aud": format!("{PUBLIC}/mcp"), "client_id": "client_1",
        "scope": "org:read playbook:write offline_access", "org": "acme", "iat": NOW_S - 10, "exp": NOW_S + 890,
        "jti": "token_1", "gid": "grant_1", "auth_time": NOW_S - 100,
    })
}

/// The payload of a token of an issuer outside.
pub(super) fn external_payload(issuer: &str) -> Value {
    json!({
        "iss": issuer, "sub": "auth0|ada", "aud": format!("{PUBLIC}/mcp"), "azp": "client_1",
        "scope": "openid org:read", "org_id": "acme", "iat": NOW_S - 10, "exp": NOW_S + 890,
    })
}

/// `payload` with `member` as `value`, or without it where that is null.
pub(super) fn with(mut payload: Value, member: &str, value: Value) -> Value {
    let object = payload.as_object_mut().unwrap();
    match value {
        Value::Null => object.shift_remove(member),
        value => object.insert(member.to_owned(), value),
    };
    payload
}

/// Why this server refuses a token as one of its own, or `good`.
pub(super) fn own_verdict(text: &str, keys: &KeySet) -> &'static str {
    verdict(check(text, keys, &Rules::own(PUBLIC), NOW_MS))
}

/// Why this server refuses a token as one of the issuer outside, or `good`.
pub(super) fn external_verdict(text: &str, keys: &KeySet, variables: &[(&str, &str)]) -> &'static str {
    verdict(check(text, keys, &Rules::external(&identity(ISSUER, variables)), NOW_MS))
}

fn verdict(checked: Result<std::sync::Arc<Claims>, Refused>) -> &'static str {
    match checked {
        Ok(_) => "good",
        Err(refused) => refused.cause(),
    }
}
