//! Judges a token with the keys of its issuer: signature, times, audience, subject (`identity.md` 5.1, steps 6 to 9, 12).
//!
//! Pure: text, keys, rules and the present in, claims or a refusal out. Whether the audience reaches an endpoint, and who
//! the person is here, is decided by whoever asked.

use std::sync::Arc;

use serde_json::Value;

use super::claims::{self, Claims};
use super::key_set::KeySet;
use super::refused::{Cause, Refused};
use super::rules::{Origin, Rules};
use super::unverified::Unverified;

/// How far the clocks of issuer and server may be apart, in milliseconds.
pub const SKEW_MS: i64 = 60_000;

/// How old a token of an issuer outside may be, whatever its end, in milliseconds.
const OLDEST_MS: i64 = 24 * 3_600_000;

/// The most audiences of a token.
const MAX_AUDIENCES: usize = 16;

/// The longest subject, in bytes.
const MAX_SUBJECT: usize = 255;

/// The largest number of seconds: above it, floating point skips whole numbers.
const MAX_SECONDS: f64 = 9_007_199_254_740_992.0;

/// A token that is good, and for how long nothing of it has to be looked at again.
pub(super) struct Verified {
    /// What it says.
    pub(super) claims: Arc<Claims>,
    /// The fingerprint of the key it was signed with.
    pub(super) key: [u8; 32],
    /// The instant from which on it is refused.
    pub(super) good_until_ms: i64,
    /// About how many bytes it takes.
    pub(super) weight: u32,
}

/// The claims of a token, if it is good by `rules` and one of `keys` signed it.
///
/// # Errors
///
/// [`Refused`], alike for every cause.
pub fn check(text: &str, keys: &KeySet, rules: &Rules, now_ms: i64) -> Result<Arc<Claims>, Refused> {
    verify(&Unverified::read(text, rules)?, keys, rules, now_ms).map(|verified| verified.claims)
}

/// [`check`] of a token that was read already, and for how long the verdict holds.
pub(super) fn verify(token: &Unverified<'_>, keys: &KeySet, rules: &Rules, now_ms: i64) -> Result<Verified, Refused> {
    let key = keys.choose(token.key_id.as_deref(), token.algorithm)?;
    if !key.verifies(token.algorithm, token.message, token.signature) {
        return Err(Refused(Cause::Signature));
    }
    let times = Times::read(&token.claims)?;
    let good_until_ms = times.judge(rules, now_ms)?;
    let audiences = audiences(&token.claims)?;
    // A token bound to a key of its sender would be taken from anybody.
    if token.claims.get("cnf").is_some() {
        return Err(Refused(Cause::Bound));
    }
    let claims = claims::read(&token.claims, rules, audiences, times)?;
    let weight = u32::try_from(token.message.len() + 512).unwrap_or(u32::MAX);
    Ok(Verified { claims: Arc::new(claims), key: key.fingerprint, good_until_ms, weight })
}

/// The instants of a token, in milliseconds since the Unix epoch.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) expires_at_ms: i64,
    not_before_ms: Option<i64>,
    pub(super) issued_at_ms: Option<i64>,
}

impl Times {
    fn read(claims: &Value) -> Result<Self, Refused> {
        Ok(Self {
            expires_at_ms: instant(claims, "exp")?.ok_or(Refused(Cause::Times))?,
            not_before_ms: instant(claims, "nbf")?,
            issued_at_ms: instant(claims, "iat")?,
        })
    }

    /// The instant from which on the token is refused.
    fn judge(self, rules: &Rules, now_ms: i64) -> Result<i64, Refused> {
        let mut good_until_ms = self.expires_at_ms.saturating_add(SKEW_MS);
        if self.not_before_ms.is_some_and(|from| now_ms < from - SKEW_MS) {
            return Err(Refused(Cause::NotYet));
        }
        match (&rules.origin, self.issued_at_ms) {
            (Origin::Own | Origin::Provider, None) => return Err(Refused(Cause::Times)),
            (_, Some(at)) if at > now_ms + SKEW_MS => return Err(Refused(Cause::IssuedAt)),
            (Origin::External(_) | Origin::Provider, Some(at)) => {
                let too_old_ms = at + OLDEST_MS + 1;
                if now_ms >= too_old_ms {
                    return Err(Refused(Cause::IssuedAt));
                }
                good_until_ms = good_until_ms.min(too_old_ms);
            }
            _ => {}
        }
        if now_ms >= good_until_ms { Err(Refused(Cause::Ended)) } else { Ok(good_until_ms) }
    }
}

/// A NumericDate (RFC 7519, section 2) as milliseconds; a text or null is not one.
pub(super) fn instant(claims: &Value, name: &str) -> Result<Option<i64>, Refused> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64().filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
    let seconds = seconds.ok_or(Refused(Cause::Times))?;
    #[expect(clippy::cast_possible_truncation, reason = "2^53 seconds in milliseconds are below 2^63")]
    Ok(Some((seconds * 1_000.0) as i64))
}

/// The audiences as written: one text, or a list of them (RFC 7519, section 4.1.3).
fn audiences(claims: &Value) -> Result<Vec<String>, Refused> {
    let texts = match claims.get("aud") {
        Some(Value::String(one)) => Some(vec![one.clone()]),
        Some(Value::Array(list)) if (1..=MAX_AUDIENCES).contains(&list.len()) => {
            list.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    };
    texts.ok_or(Refused(Cause::Audience))
}

/// A subject of 1 to 255 bytes.
pub(super) fn subject(value: Option<&Value>) -> Result<String, Refused> {
    let fits = |subject: &&str| (1..=MAX_SUBJECT).contains(&subject.len());
    value.and_then(Value::as_str).filter(fits).map(str::to_owned).ok_or(Refused(Cause::Subject))
}
