//! What looks like a credential where none may be given (`connections.md` 3.4).
//!
//! Only the look of a text counts, never the name of its field. [`looks_like_credential`] judges one text;
//! [`holds_reference`] finds a `${NAME}` that somebody hopes the server fills in.

use std::collections::HashMap;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::Value;
use url::Url;

/// Where a text stands, since a long random run is common in some places and suspicious in others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookPlace {
    /// A name, a field of the credential, a document: no look at random runs.
    Text,
    /// The value of a header.
    HeaderValue,
    /// The value of a placeholder.
    Placeholder,
    /// An address a person wrote, whole.
    Address,
    /// An address of the catalogue, whose path segments may be random.
    CatalogueAddress,
}

/// How well-known tokens begin.
const PREFIXES: [&str; 40] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxe",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "ntn_",
    "secret_",
    "lin_api_",
    "lin_oauth_",
    "shpat_",
    "shpca_",
    "shppa_",
    "SG.",
    "ya29.",
    "1//",
    "AIza",
    "AKIA",
    "ASIA",
    "pat-",
    "pmk_",
    "hf_",
    "npm_",
    "dop_v1_",
    "figd_",
    "EAA",
];

/// Token characters a known prefix needs after it.
const AFTER_PREFIX: usize = 16;

/// Characters `Basic ` and `Bearer ` need after them.
const AFTER_SCHEME: usize = 8;

/// The length from which a run may be random.
const RUN: usize = 32;

/// Bits of entropy a character from which a run is random.
const RUN_BITS: f64 = 3.5;

/// Whether `text`, standing at `place`, looks like a credential.
pub fn looks_like_credential(text: &str, place: LookPlace) -> bool {
    let everywhere = begins_like_token(text)
        || has_scheme(text)
        || text.split(|c| !is_jose(c)).any(holds_json_web_token)
        || holds_private_key(text)
        || holds_user(text);
    everywhere
        || match place {
            LookPlace::Text => false,
            LookPlace::HeaderValue => {
                // The scheme before a token is a word of its own.
                text.split_whitespace().any(begins_like_token) || holds_random_run(text)
            }
            LookPlace::Placeholder => holds_random_run(text),
            LookPlace::Address => address_holds(text, true),
            LookPlace::CatalogueAddress => address_holds(text, false),
        }
}

/// Whether `text` names a variable as `${NAME}`.
pub fn holds_reference(text: &str) -> bool {
    #[expect(clippy::expect_used, reason = "the pattern is a constant and tested")]
    static REFERENCE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}").expect("the pattern is one"));
    REFERENCE.is_match(text)
}

fn begins_like_token(text: &str) -> bool {
    let text = text.trim_start();
    PREFIXES.iter().any(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.chars().take_while(|c| is_token(*c)).count() >= AFTER_PREFIX)
    })
}

/// The characters of a bearer token (RFC 6750, section 2.1), and the underscore.
fn is_token(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._~+/=".contains(character)
}

fn has_scheme(text: &str) -> bool {
    let (scheme, rest) = text.trim_start().split_once(' ').unwrap_or_default();
    let known = scheme.eq_ignore_ascii_case("basic") || scheme.eq_ignore_ascii_case("bearer");
    known && rest.trim().chars().count() >= AFTER_SCHEME
}

/// The characters of base64url, and the dot between the parts.
fn is_jose(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_.".contains(character)
}

fn holds_json_web_token(piece: &str) -> bool {
    let parts: Vec<&str> = piece.split('.').collect();
    let whole = |three: &&[&str]| three.iter().all(|part| !part.is_empty());
    parts.windows(3).filter(whole).any(|three| {
        let header = BASE64_URL_SAFE_NO_PAD.decode(three[0]).unwrap_or_default();
        serde_json::from_slice::<Value>(&header).is_ok_and(|header| header.get("alg").is_some())
    })
}

fn holds_private_key(text: &str) -> bool {
    text.split_once("-----BEGIN").is_some_and(|(_, rest)| rest.contains("PRIVATE KEY"))
}

/// A user part in any address within the text.
fn holds_user(text: &str) -> bool {
    text.split("://").skip(1).any(|after| {
        let ends = |c: char| matches!(c, '/' | '\\' | '?' | '#' | '"' | '\'' | '<' | '>' | '`') || c.is_whitespace();
        after.split(ends).next().is_some_and(|authority| authority.contains('@'))
    })
}

/// Looks at the parts of an address one by one, as written and decoded.
fn address_holds(text: &str, random_segments: bool) -> bool {
    if Url::parse(text).is_ok_and(|url| !url.username().is_empty() || url.password().is_some()) {
        return true;
    }
    let after = text.split_once("://").map_or(text, |(_, after)| after);
    let (before, fragment) = after.split_once('#').unwrap_or((after, ""));
    let (path, query) = before.split_once('?').unwrap_or((before, ""));
    let values = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value)).chain([fragment]);
    let is_credential = |part: &str, random: bool| {
        let decoded = percent_decode_str(part).decode_utf8_lossy();
        looks_like_credential(&decoded, LookPlace::Text) || (random && holds_random_run(&decoded))
    };
    // What stands before the first slash is the host.
    path.split('/').skip(1).any(|segment| is_credential(segment, random_segments))
        || values.into_iter().any(|value| is_credential(value, true))
}

fn holds_random_run(text: &str) -> bool {
    let in_run = |c: char| c.is_ascii_alphanumeric() || "+/_=-".contains(c);
    text.split(|c| !in_run(c)).any(is_random)
}

fn is_random(run: &str) -> bool {
    let mixed = run.bytes().any(|byte| byte.is_ascii_digit()) && run.bytes().any(|byte| byte.is_ascii_alphabetic());
    run.len() >= RUN && mixed && !is_uuid(run) && bits_a_character(run) >= RUN_BITS
}

/// A UUID as it is usually written, with hyphens.
fn is_uuid(run: &str) -> bool {
    run.len() == uuid::fmt::Hyphenated::LENGTH && uuid::Uuid::try_parse(run).is_ok()
}

/// Shannon's entropy of the characters of `run`.
fn bits_a_character(run: &str) -> f64 {
    let mut counts: HashMap<u8, u32> = HashMap::new();
    for byte in run.bytes() {
        *counts.entry(byte).or_default() += 1;
    }
    let length = f64::from(u32::try_from(run.len()).unwrap_or(u32::MAX));
    let shares = counts.values().map(|count| f64::from(*count) / length);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

#[cfg(test)]
mod tests;
