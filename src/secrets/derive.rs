//! Keys for other purposes, derived from the store's, so that no further setting is needed.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use zeroize::Zeroizing;

use super::Error;
use super::key_ring::{KEY_BYTES, Key, KeyRing};

/// A derived key of 32 bytes, wiped when dropped.
pub type Derived = Zeroizing<[u8; KEY_BYTES]>;

struct Length;

impl KeyType for Length {
    fn len(&self) -> usize {
        KEY_BYTES
    }
}

impl KeyRing {
    /// The key of a purpose, such as `request-state` or `csrf`, from the current key (HKDF-SHA-256, RFC 5869).
    ///
    /// # Errors
    /// None in practice; [`Error::Unreadable`] should the derivation refuse.
    pub fn derive(&self, label: &str) -> Result<Derived, Error> {
        from(&self.current, label)
    }

    /// The keys of a purpose from every key of the ring, the current one first: what was made before a change of keys
    /// is still recognised.
    ///
    /// # Errors
    /// As [`KeyRing::derive`].
    pub fn derive_all(&self, label: &str) -> Result<Vec<Derived>, Error> {
        self.keys().map(|key| from(key, label)).collect()
    }
}

fn from(key: &Key, label: &str) -> Result<Derived, Error> {
    let mut derived = Zeroizing::new([0_u8; KEY_BYTES]);
    Salt::new(HKDF_SHA256, b"playmaker")
        .extract(key.bytes.as_slice())
        .expand(&[label.as_bytes()], Length)
        .and_then(|material| material.fill(derived.as_mut_slice()))
        .map_err(|_| Error::Unreadable)?;
    Ok(derived)
}
