//! API keys: their form (decision D27) and their digest.

use crate::ids::{Ids, base62_number};

const PREFIX: &str = "pmk_";
const RANDOM: usize = 43;
const CHECKSUM: usize = 6;

/// A key just made: shown once, never kept.
pub struct NewKey {
    /// The key itself.
    pub text: String,
    /// SHA-256 of it in lower-case hexadecimal: all that is kept.
    pub sha256: String,
    /// Its first 12 characters, to tell keys apart.
    pub display: String,
}

/// Makes a key: `pmk_`, 43 random base62 characters, 6 of checksum.
pub fn generate(ids: &Ids) -> NewKey {
    let body = ids.base62(PREFIX, RANDOM);
    let text = format!("{body}{}", checksum(&body));
    let sha256 = digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    NewKey { sha256, display: text.chars().take(12).collect(), text }
}

/// SHA-256 of a key's text.
pub fn digest(text: &str) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes()).as_ref());
    out
}

/// Whether a text can be a key at all: one of our form has a right checksum; another is 20 to 256 printable ASCII.
pub fn well_formed(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix(PREFIX)
        && rest.len() == RANDOM + CHECKSUM
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        let (body, sum) = text.split_at(PREFIX.len() + RANDOM);
        return checksum(body) == sum;
    }
    (20..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn checksum(body: &str) -> String {
    base62_number(u64::from(crc32fast::hash(body.as_bytes())), CHECKSUM)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::SystemEntropy;

    #[test]
    fn a_key_has_its_form_and_checksum() {
        let key = generate(&Ids::new(Arc::new(SystemEntropy)));
        assert_eq!((key.text.len(), key.display.len(), key.sha256.len()), (53, 12, 64));
        assert!(key.text.starts_with("pmk_") && well_formed(&key.text));
    }

    proptest::proptest! {
        #[test]
        fn one_other_character_fails_the_checksum(at in 4_usize..53, other in "[0-9A-Za-z]") {
            let key = generate(&Ids::new(Arc::new(SystemEntropy))).text;
            let changed = format!("{}{other}{}", &key[..at], &key[at + 1..]);
            proptest::prop_assert_eq!(well_formed(&changed), changed == key);
        }
    }
}
