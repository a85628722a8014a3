//! The copy of a refresh token's successor, which only the holder of the token before can read (`identity.md` 7.5).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use zeroize::Zeroizing;

use crate::error::{Problem, Result};
use crate::ids::Ids;

/// `successor`, sealed for whoever holds `token`; `family` is authenticated with it.
pub fn seal(ids: &Ids, token: &str, family: &str, successor: &str) -> Result<String> {
    let nonce = ids.bytes::<NONCE_LEN>();
    let mut sealed = successor.as_bytes().to_vec();
    key(token)?
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(family.as_bytes()), &mut sealed)
        .map_err(|_| Problem::internal("a refresh token could not be sealed"))?;
    Ok(STANDARD_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
}

/// The successor in `sealed`; `None` where `token` is not the one it was sealed for.
pub fn open(token: &str, family: &str, sealed: &str) -> Result<Option<Zeroizing<String>>> {
    let Ok(mut bytes) = STANDARD_NO_PAD.decode(sealed).map(Zeroizing::new) else { return Ok(None) };
    let Some((nonce, content)) = bytes.split_first_chunk_mut::<NONCE_LEN>() else { return Ok(None) };
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let Ok(opened) = key(token)?.open_in_place(nonce, Aad::from(family.as_bytes()), content) else { return Ok(None) };
    Ok(std::str::from_utf8(opened).ok().map(|text| Zeroizing::new(text.to_owned())))
}

/// Refresh tokens are 256 random bits, so that one derivation makes a key of them (RFC 5869).
fn key(token: &str) -> Result<LessSafeKey> {
    let failed = |_| Problem::internal("a key could not be derived");
    let secret = Salt::new(HKDF_SHA256, b"playmaker refresh").extract(token.as_bytes());
    let material = secret.expand(&[b"successor"], &AES_256_GCM).map_err(failed)?;
    Ok(LessSafeKey::new(UnboundKey::from(material)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::SystemEntropy;

    #[test]
    fn only_the_holder_of_the_token_before_reads_it() {
        let ids = Ids::new(Arc::new(SystemEntropy));
        let sealed = seal(&ids, "pmr_one", "grant_1", "pmr_two").unwrap();
        let open =
            |token: &str, family: &str, sealed: &str| open(token, family, sealed).unwrap().map(|text| text.to_string());
        assert_eq!(open("pmr_one", "grant_1", &sealed).as_deref(), Some("pmr_two"));
        assert_eq!(open("pmr_two", "grant_1", &sealed), None);
        assert_eq!(open("pmr_one", "grant_2", &sealed), None);
        assert_eq!(open("pmr_one", "grant_1", "AAAA"), None);
        assert!(!sealed.contains("pmr_"));
    }
}
