//! Sealing and opening one value.
//!
//! A sealed value is text of four parts joined by dots, so that one column holds it and its key's id can be read:
//! `1.<key id>.<nonce, wrapped data key, tag>.<nonce, ciphertext, tag>`, the last two in base64url.
//! Nonces are 96 random bits (NIST SP 800-38D, section 8.2.2); each data key seals exactly one value.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, MAX_TAG_LEN, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::{Zeroize, Zeroizing};

use super::Error;
use super::key_ring::{KEY_BYTES, KeyRing, is_key_id};

/// Version of the sealed form.
const FORM: &str = "1";

/// Where a sealed value belongs. It is authenticated with the value, so that one moved elsewhere does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Id of the org.
    pub org: &'a str,
    /// Id of the record, such as a connection's.
    pub record: &'a str,
    /// Version of the record.
    pub version: i64,
    /// Name of the field within the record.
    pub field: &'a str,
}

impl Place<'_> {
    /// The place as bytes, each part after its length, so that no two places look alike. `purpose` keeps a wrapped key
    /// from passing for a value.
    fn associated_data(&self, purpose: &str) -> Vec<u8> {
        let version = self.version.to_be_bytes();
        let parts: [&[u8]; 5] =
            [purpose.as_bytes(), self.org.as_bytes(), self.record.as_bytes(), &version, self.field.as_bytes()];
        let mut data = Vec::new();
        for part in parts {
            data.extend_from_slice(&(part.len() as u64).to_be_bytes());
            data.extend_from_slice(part);
        }
        data
    }
}

/// The parts of a sealed value, still encoded.
struct Parts<'a> {
    key_id: &'a str,
    wrapped: &'a str,
    content: &'a str,
}

impl<'a> Parts<'a> {
    fn of(sealed: &'a str) -> Result<Self, Error> {
        let mut parts = sealed.split('.');
        let (Some(FORM), Some(key_id), Some(wrapped), Some(content), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Error::Unreadable);
        };
        if !is_key_id(key_id) {
            return Err(Error::Unreadable);
        }
        Ok(Self { key_id, wrapped, content })
    }
}

/// Id of the key a value was sealed with, or `None` when the text is no sealed value; for listing and moving keys.
pub fn key_id_of(sealed: &str) -> Option<&str> {
    Parts::of(sealed).ok().map(|parts| parts.key_id)
}

impl KeyRing {
    /// Seals `plaintext` for its place, under a fresh data key wrapped by the current key.
    ///
    /// # Errors
    /// [`Error::Unreadable`] should the cipher itself refuse, as over its limit of 64 GiB.
    pub fn seal(&self, place: Place<'_>, plaintext: &[u8]) -> Result<String, Error> {
        let data_key = Zeroizing::new(self.ids.bytes::<KEY_BYTES>());
        let content = self.encrypt(&data_key, &place.associated_data("value"), plaintext)?;
        self.sealed_text(place, &data_key, &content)
    }

    /// Opens what [`KeyRing::seal`] made for the same place.
    ///
    /// # Errors
    /// [`Error::NoKey`] when its key is not in the ring, [`Error::Unreadable`] in every other case.
    pub fn open(&self, place: Place<'_>, sealed: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
        let parts = Parts::of(sealed)?;
        let data_key = self.unwrap_data_key(place, &parts)?;
        decrypt(&data_key, &place.associated_data("value"), &decode(parts.content)?)
    }

    /// The same value under the current key, or `None` when it is already; the data key alone is wrapped anew.
    ///
    /// The value is opened as well, so that moving keys also finds what can no longer be read.
    ///
    /// # Errors
    /// As [`KeyRing::open`].
    pub fn rewrap(&self, place: Place<'_>, sealed: &str) -> Result<Option<String>, Error> {
        let parts = Parts::of(sealed)?;
        if parts.key_id == self.current_key_id() {
            return Ok(None);
        }
        let data_key = self.unwrap_data_key(place, &parts)?;
        let content = decode(parts.content)?;
        decrypt(&data_key, &place.associated_data("value"), &content)?;
        self.sealed_text(place, &data_key, &content).map(Some)
    }

    fn sealed_text(&self, place: Place<'_>, data_key: &[u8; KEY_BYTES], content: &[u8]) -> Result<String, Error> {
        let wrapped = self.encrypt(&self.current.bytes, &place.associated_data("data key"), data_key)?;
        Ok(format!(
            "{FORM}.{}.{}.{}",
            self.current.id,
            URL_SAFE_NO_PAD.encode(wrapped),
            URL_SAFE_NO_PAD.encode(content)
        ))
    }

    fn unwrap_data_key(&self, place: Place<'_>, parts: &Parts<'_>) -> Result<Zeroizing<[u8; KEY_BYTES]>, Error> {
        let key = self.key(parts.key_id)?;
        let opened = decrypt(&key.bytes, &place.associated_data("data key"), &decode(parts.wrapped)?)?;
        let mut data_key = Zeroizing::new([0_u8; KEY_BYTES]);
        if opened.len() != KEY_BYTES {
            return Err(Error::Unreadable);
        }
        data_key.copy_from_slice(&opened);
        Ok(data_key)
    }

    fn encrypt(&self, key: &[u8; KEY_BYTES], associated: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        let nonce = self.ids.bytes::<NONCE_LEN>();
        // Room for the whole answer, so that no growth leaves a copy of the plaintext behind.
        let mut out = Vec::with_capacity(NONCE_LEN + plaintext.len() + MAX_TAG_LEN);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(plaintext);
        let cipher = cipher(key)?;
        let nonce = Nonce::assume_unique_for_key(nonce);
        match cipher.seal_in_place_separate_tag(nonce, Aad::from(associated), &mut out[NONCE_LEN..]) {
            Ok(tag) => out.extend_from_slice(tag.as_ref()),
            Err(_) => {
                out.zeroize();
                return Err(Error::Unreadable);
            }
        }
        Ok(out)
    }
}

fn decrypt(key: &[u8; KEY_BYTES], associated: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let Some((nonce, body)) = sealed.split_first_chunk::<NONCE_LEN>() else {
        return Err(Error::Unreadable);
    };
    let mut body = Zeroizing::new(body.to_vec());
    let length = cipher(key)?
        .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(associated), body.as_mut_slice())
        .map_err(|_| Error::Unreadable)?
        .len();
    body.truncate(length);
    Ok(body)
}

fn cipher(key: &[u8; KEY_BYTES]) -> Result<LessSafeKey, Error> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| Error::Unreadable)
}

fn decode(text: &str) -> Result<Vec<u8>, Error> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Error::Unreadable)
}
