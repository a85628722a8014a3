//! The public keys of an issuer, as its key set names them (RFC 7517, section 5).

use std::collections::HashMap;

use serde_json::Value;

use super::key::{Key, LeftOut};
use super::refused::{Cause, Refused};
use crate::config::Algorithm;

/// The most keys kept.
const MAX_KEYS: usize = 64;

/// The keys a signature may have been made with.
#[derive(Default)]
pub struct KeySet {
    keys: Vec<Key>,
    /// Why entries were left out, for the log.
    left_out: Vec<LeftOut>,
}

impl KeySet {
    /// Reads a key set; entries that are no use are left out. `None` for what is no key set at all.
    pub fn read(document: &Value) -> Option<Self> {
        let entries = document.as_object()?.get("keys")?.as_array()?;
        let mut set = Self::default();
        for entry in entries {
            match Key::read(entry) {
                Ok(key) => set.keys.push(key),
                Err(why) => set.left_out.push(why),
            }
        }
        set.drop_doubles();
        if set.keys.len() > MAX_KEYS {
            set.keys.truncate(MAX_KEYS);
            set.left_out.push("there are more than 64");
        }
        Some(set)
    }

    /// An id of two keys names neither: which one is meant would be the sender's choice.
    fn drop_doubles(&mut self) {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for id in self.keys.iter().filter_map(|key| key.id.clone()) {
            *uses.entry(id).or_default() += 1;
        }
        let before = self.keys.len();
        self.keys.retain(|key| key.id.as_ref().is_none_or(|id| uses.get(id) == Some(&1)));
        if self.keys.len() < before {
            self.left_out.push("its kid is another one's too");
        }
    }

    /// The key a token names, or the only one that fits where it names none.
    pub(super) fn choose(&self, key_id: Option<&str>, algorithm: Algorithm) -> Result<&Key, Refused> {
        let mut fitting = self.keys.iter().filter(|key| key.fits(algorithm));
        match key_id {
            Some(_) => {
                let named = self.keys.iter().find(|key| key.id.as_deref() == key_id);
                let named = named.ok_or(Refused(Cause::KeyUnknown))?;
                if named.fits(algorithm) { Ok(named) } else { Err(Refused(Cause::KeyUnfit)) }
            }
            None => match (fitting.next(), fitting.next()) {
                (Some(only), None) => Ok(only),
                _ => Err(Refused(Cause::KeyUnknown)),
            },
        }
    }

    /// Whether a key has this id.
    pub(super) fn knows(&self, key_id: &str) -> bool {
        self.keys.iter().any(|key| key.id.as_deref() == Some(key_id))
    }

    /// Whether this very key is among them.
    pub(super) fn holds(&self, fingerprint: &[u8; 32]) -> bool {
        self.keys.iter().any(|key| key.fingerprint == *fingerprint)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Why entries were left out.
    pub(super) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }
}
