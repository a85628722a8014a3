//! Secrets at rest: AES-256-GCM, one random data key for each sealed value, wrapped by a key-encryption key (decision D6).
//!
//! The cipher is pure: it turns values into sealed text and back and knows no table. Start with [`KeyRing`], which
//! [`KeyRing::parse`] reads from the setting and [`key_file::open_or_create`] from the key file; [`SecretsStore`] keeps
//! what is sealed. What is opened lives in memory that is wiped when dropped, and nothing here has a `Debug` that shows it.

mod cipher;
mod derive;
mod here;
pub mod key_file;
mod key_ring;
mod records;
mod rekey;

#[cfg(test)]
mod tests;

pub use cipher::{Place, key_id_of};
pub use derive::Derived;
pub use key_ring::KeyRing;
pub use records::{Fields, Sealed, SecretsStore, Trouble};
pub use rekey::{Rekeyed, SEALED_COLUMNS};

use std::fmt;

/// Why a sealed value could not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The text is not a sealed value, was changed, belongs to another place, or the key under its id is another one.
    Unreadable,
    /// The key the value was sealed with is not among the ring's.
    NoKey {
        /// Id of the missing key; an id is no secret.
        key_id: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => write!(f, "the sealed value cannot be read with the keys at hand"),
            Self::NoKey { key_id } => write!(f, "the value was sealed with the key {key_id}, which is not configured"),
        }
    }
}

impl std::error::Error for Error {}

/// Why the start is refused over the keys: what is wrong and what to do, never a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misconfigured(pub(crate) String);

impl fmt::Display for Misconfigured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misconfigured {}
