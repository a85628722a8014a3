//! The key-encryption keys of a server: the first seals, all of them open.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::{Error, Misconfigured, Place};
use crate::ids::Ids;

/// Bytes of a key of AES-256.
pub(super) const KEY_BYTES: usize = 32;

/// The most keys one ring holds: a bound against a pasted file, far above any rotation.
const MAX_KEYS: usize = 32;

/// The most characters of a key's id.
const MAX_KEY_ID: usize = 32;

/// What the canary record holds; only its place and its key matter.
const CANARY: &[u8] = b"playmaker";

/// Where the canary record belongs; no org can have an empty id.
pub(super) const CANARY_PLACE: Place<'static> = Place { org: "", record: "canary", version: 1, field: "canary" };

/// One key-encryption key.
pub(super) struct Key {
    pub(super) id: String,
    pub(super) bytes: Zeroizing<[u8; KEY_BYTES]>,
}

/// The keys of a server, the current one first. It has no `Debug`: a key is never shown.
pub struct KeyRing {
    pub(super) current: Key,
    pub(super) earlier: Vec<Key>,
    pub(super) ids: Ids,
}

impl KeyRing {
    /// Reads `id:base64(32 bytes)` items separated by commas, as in `SECRETS_KEYS`; the first key seals.
    ///
    /// # Errors
    /// Says which item is wrong by its position, never by its contents.
    pub fn parse(text: &str, ids: Ids) -> Result<Self, Misconfigured> {
        let mut keys: Vec<Key> = Vec::new();
        for (index, item) in text.split(',').enumerate() {
            let key = parse_key(item.trim(), index + 1)?;
            if keys.iter().any(|known| known.id == key.id) {
                return Err(wrong(index + 1, "has the id of an earlier key; each key needs its own"));
            }
            if keys.len() == MAX_KEYS {
                return Err(wrong(index + 1, "is one too many; 32 keys are the most"));
            }
            keys.push(key);
        }
        let mut keys = keys.into_iter();
        let Some(current) = keys.next() else {
            return Err(wrong(1, "is missing"));
        };
        Ok(Self { current, earlier: keys.collect(), ids })
    }

    /// A ring of keys read elsewhere; the first seals.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(keys: impl Iterator<Item = (String, [u8; KEY_BYTES])>, ids: Ids) -> Result<Self, Misconfigured> {
        let mut keys = keys.map(|(id, bytes)| Key { id, bytes: Zeroizing::new(bytes) });
        let current = keys.next().ok_or_else(|| wrong(1, "is missing"))?;
        Ok(Self { current, earlier: keys.collect(), ids })
    }

    /// Ids of all keys, the current one first; they may be logged and told.
    pub fn key_ids(&self) -> Vec<&str> {
        self.keys().map(|key| key.id.as_str()).collect()
    }

    /// Id of the key that seals.
    pub fn current_key_id(&self) -> &str {
        &self.current.id
    }

    /// A fixed record, stored once, which a server opens at its start and at `/ready`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] should the cipher itself refuse.
    pub fn seal_canary(&self) -> Result<String, Error> {
        self.seal(CANARY_PLACE, CANARY)
    }

    /// Whether the stored canary opens; a wrong key is found here and not at a person's connection.
    ///
    /// # Errors
    /// Names the keys' ids and says what to do.
    pub fn check_canary(&self, sealed: &str) -> Result<(), Misconfigured> {
        let opened = match self.open(CANARY_PLACE, sealed) {
            Ok(opened) => opened.as_slice() == CANARY,
            Err(_) => false,
        };
        if opened {
            return Ok(());
        }
        Err(Misconfigured(format!(
            "The secrets in the database were sealed with the key {}, and the configured keys ({}) do not open them. \
             Put the earlier key back, after a new first key if you are changing keys.",
            super::key_id_of(sealed).unwrap_or("of an unknown id"),
            self.key_ids().join(", "),
        )))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.current).chain(&self.earlier)
    }

    pub(super) fn key(&self, id: &str) -> Result<&Key, Error> {
        self.keys().find(|key| key.id == id).ok_or_else(|| Error::NoKey { key_id: id.to_owned() })
    }
}

fn parse_key(item: &str, position: usize) -> Result<Key, Misconfigured> {
    let Some((id, encoded)) = item.split_once(':') else {
        return Err(wrong(position, "is not of the form id:base64"));
    };
    if !is_key_id(id) {
        return Err(wrong(position, "has an id that is not 1 to 32 letters, digits, hyphens or underscores"));
    }
    let decoded = STANDARD
        .decode(encoded)
        .map(Zeroizing::new)
        .map_err(|_| wrong(position, "is not base64 after its id (alphabet with + and /, padded)"))?;
    let mut bytes = Zeroizing::new([0_u8; KEY_BYTES]);
    if decoded.len() != KEY_BYTES {
        return Err(wrong(position, "is not 32 bytes long"));
    }
    bytes.copy_from_slice(&decoded);
    Ok(Key { id: id.to_owned(), bytes })
}

/// Whether `text` may be a key's id: nothing that the sealed form or the setting uses as a separator.
pub(super) fn is_key_id(text: &str) -> bool {
    (1..=MAX_KEY_ID).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn wrong(position: usize, what: &str) -> Misconfigured {
    Misconfigured(format!(
        "Key {position} of the secrets keys {what}. Each key is id:base64 of 32 random bytes, keys are separated by commas."
    ))
}
