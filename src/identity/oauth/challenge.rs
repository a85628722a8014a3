//! Proof Key for Code Exchange (RFC 7636): `S256` alone.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::digest::sha256;

/// Whether `text` can be a challenge: 43 characters of base64url, as the digest of a verifier has.
pub fn is_challenge(text: &str) -> bool {
    text.len() == 43 && URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

/// Whether `verifier` is the one behind `challenge` (RFC 7636, section 4.6).
pub fn verifies(challenge: &str, verifier: &str) -> bool {
    let formed = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let made = URL_SAFE_NO_PAD.encode(sha256(verifier));
    formed && aws_lc_rs::constant_time::verify_slices_are_equal(made.as_bytes(), challenge.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifier_of_the_rfc_fits_its_challenge() {
        // RFC 7636, appendix B.
        let (verifier, challenge) =
            ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert!(is_challenge(challenge) && verifies(challenge, verifier));
        assert!(!verifies(challenge, challenge) && !verifies(challenge, &verifier[..42]));
        for bad in
            ["", "x", &"a".repeat(44), &"=".repeat(43), &"a/".repeat(21), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"]
        {
            assert!(!is_challenge(bad), "{bad}");
        }
    }
}
