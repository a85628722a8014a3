//! What a key's text looks like (decision D27): how one is made, and how a text is told to be one.
//!
//! A made key is `pmk_`, 43 base62 characters (256 bits), and 6 of checksum, so that a secret scanner can tell one
//! offline: `pmk_[0-9A-Za-z]{49}`. Only its SHA-256 digest is kept.

use serde_json::{Value, json};

use crate::config::{ApiKey, Playbooks, Secret, UsageLimit};
use crate::digest::{hex, sha256};
use crate::ids::{Ids, base62_number};

const PREFIX: &str = "pmk_";
const RANDOM: usize = 43;
const CHECKSUM: usize = 6;
/// Characters of a key that may be shown later.
const DISPLAY: usize = 12;

/// A key that was just made. Its text is shown once and kept nowhere.
pub struct GeneratedKey {
    /// The key itself.
    pub text: Secret,
    /// Its SHA-256 digest.
    pub sha256: [u8; 32],
    /// Its first twelve characters, for lists.
    pub display: String,
}

/// A new key of 256 random bits.
pub fn generate(ids: &Ids) -> GeneratedKey {
    let mut text = zeroize::Zeroizing::new(ids.base62(PREFIX, RANDOM));
    let checksum = checksum(&text);
    text.push_str(&checksum);
    GeneratedKey {
        sha256: sha256(&text),
        display: text.chars().take(DISPLAY).collect(),
        text: Secret::new(text.as_str()),
    }
}

/// CRC-32 (IEEE) of the prefix and the random part, as base62.
fn checksum(body: &str) -> String {
    base62_number(u64::from(crc32fast::hash(body.as_bytes())), CHECKSUM)
}

/// Whether `text` has the form of a made key, whatever its checksum.
pub(super) fn is_made(text: &str) -> bool {
    text.len() == PREFIX.len() + RANDOM + CHECKSUM
        && text.strip_prefix(PREFIX).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Whether `text` has the form of a made key and its checksum is right: any one changed character makes it wrong.
pub fn checksum_ok(text: &str) -> bool {
    is_made(text) && {
        let (body, end) = text.split_at(PREFIX.len() + RANDOM);
        checksum(body) == end
    }
}

/// Whether `text` can be a key at all: a made one with its checksum, or 20 to 256 printable ASCII characters of another
/// form. What cannot be is refused without a look-up, with the same answer.
pub fn is_possible(text: &str) -> bool {
    if is_made(text) {
        return checksum_ok(text);
    }
    (20..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The entry of `api_keys` that lets a key in, as `playmaker key create` prints it.
pub fn entry_json(key: &ApiKey) -> Value {
    let mut entry = json!({
        "id": key.id,
        "org": key.org,
        "permissions": key.permissions,
        "playbooks": match &key.playbooks {
            Playbooks::All => json!("*"),
            Playbooks::Only(ids) => json!(ids),
        },
        "sha256": hex(key.sha256),
    });
    if let Some(end) = key.expires_at_ms {
        entry["expires_at"] = crate::clock::iso(end).into();
    }
    if let Some(UsageLimit { calls, period }) = key.usage_limit {
        entry["usage_limit"] = calls.into();
        entry["usage_period"] = period.word().into();
    }
    entry
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::config::{Permission, UsagePeriod};
    use crate::ids::SystemEntropy;

    fn made() -> GeneratedKey {
        generate(&Ids::new(Arc::new(SystemEntropy)))
    }

    fn entry(sha256: [u8; 32]) -> ApiKey {
        ApiKey {
            id: "ci".into(),
            org: "north".into(),
            permissions: vec![Permission::OrgRead, Permission::PlaybookWrite],
            playbooks: Playbooks::Only(vec!["support".into()]),
            sha256,
            expires_at_ms: Some(2_000),
            usage_limit: Some(UsageLimit { calls: 1_000, period: UsagePeriod::Month }),
        }
    }

    #[test]
    fn a_made_key_has_the_form_scanners_look_for() {
        let key = made();
        let form = regex::Regex::new("^pmk_[0-9A-Za-z]{49}$").unwrap();
        assert!(form.is_match(key.text.expose()) && checksum_ok(key.text.expose()));
        assert_eq!(key.display, key.text.expose()[..12]);
        assert_eq!(key.sha256, sha256(key.text.expose()));
        assert_ne!(key.text.expose(), made().text.expose());
    }

    #[test]
    fn the_checksum_is_the_crc_32_of_what_stands_before_it() {
        let body = format!("pmk_{}", "0".repeat(43));
        // Worked out with zlib's crc32, so that keys made elsewhere have the same checksum.
        assert!(checksum_ok(&format!("{body}4MNA7O")));
    }

    #[test]
    fn what_cannot_be_a_key_is_told_without_a_look_up() {
        assert!(is_possible("a-key-of-our-own-form!"));
        for text in [&"x".repeat(19), &"x".repeat(257), "a key with spaces in it", "schlüssel-mit-umlaut-12"] {
            assert!(!is_possible(text), "{text}");
        }
        assert!(!is_possible(&format!("pmk_{}", "0".repeat(49))), "its checksum is wrong");
    }

    #[test]
    fn the_printed_entry_lets_the_key_in() {
        let key = made();
        let printed = entry_json(&entry(key.sha256));
        let environment = crate::config::Environment::from([("API_KEYS".to_owned(), json!([printed]).to_string())]);
        let settings = crate::config::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into()))
            .map_err(|refusal| refusal.to_string())
            .unwrap();
        assert_eq!(settings.api_keys.unwrap(), [entry(key.sha256)]);
    }

    proptest! {
        #[test]
        fn any_changed_character_fails_the_checksum(at in 0_usize..53, with in "[0-9A-Za-z_]") {
            let key = made();
            let mut text = key.text.expose().to_owned();
            prop_assume!(text[at..=at] != with);
            text.replace_range(at..=at, &with);
            prop_assert!(!checksum_ok(&text));
        }

        #[test]
        fn nothing_made_up_passes_and_nothing_panics(text in "(pmk_)?\\PC{0,60}") {
            prop_assert!(!checksum_ok(&text));
        }
    }
}
