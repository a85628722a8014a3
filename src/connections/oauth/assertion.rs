//! A client that proves itself by a signed assertion (`private_key_jwt`: RFC 7523, section 2.2).

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::ids::Ids;

/// What an assertion is called in a request.
pub(super) const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long one is good for, in seconds: it is sent at once.
const LIFE_S: i64 = 60;

/// Algorithms a key may be given for (`connections.md` 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum SigningAlgorithm {
    /// RSA, PKCS #1 v1.5, SHA-256.
    RS256,
    /// RSA, PSS, SHA-256.
    PS256,
    /// ECDSA on P-256, SHA-256.
    ES256,
    /// Ed25519.
    EdDSA,
}

/// A client's private key. Never printed.
#[derive(Clone)]
pub struct Signer {
    pem: Zeroizing<String>,
    algorithm: SigningAlgorithm,
    key: EncodingKey,
    ids: Ids,
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    jti: String,
    iat: i64,
    exp: i64,
}

impl Signer {
    /// From a key in PEM, PKCS #8 (RFC 5958); `None` where it is none, or not one for the algorithm.
    pub fn of(pem: &str, algorithm: SigningAlgorithm, ids: &Ids) -> Option<Self> {
        if !pem.trim_start().starts_with("-----BEGIN PRIVATE KEY-----") {
            return None;
        }
        let bytes = pem.as_bytes();
        let key = match algorithm {
            SigningAlgorithm::RS256 | SigningAlgorithm::PS256 => EncodingKey::from_rsa_pem(bytes),
            SigningAlgorithm::ES256 => EncodingKey::from_ec_pem(bytes),
            SigningAlgorithm::EdDSA => EncodingKey::from_ed_pem(bytes),
        };
        let signer = Self { pem: Zeroizing::new(pem.to_owned()), algorithm, key: key.ok()?, ids: ids.clone() };
        // A key of another curve is found out by signing alone.
        signer.assertion("client", "issuer", 0).map(|_| signer)
    }

    /// The key's text and its algorithm, to be kept sealed.
    pub(super) fn parts(&self) -> (&str, SigningAlgorithm) {
        (&self.pem, self.algorithm)
    }

    /// An assertion of `client` for `audience`, the address of the token endpoint.
    pub(super) fn assertion(&self, client: &str, audience: &str, now_ms: i64) -> Option<Zeroizing<String>> {
        let algorithm = match self.algorithm {
            SigningAlgorithm::RS256 => Algorithm::RS256,
            SigningAlgorithm::PS256 => Algorithm::PS256,
            SigningAlgorithm::ES256 => Algorithm::ES256,
            SigningAlgorithm::EdDSA => Algorithm::EdDSA,
        };
        let now = now_ms / 1_000;
        let jti = self.ids.base62("", 32);
        let claims = Claims { iss: client, sub: client, aud: audience, jti, iat: now, exp: now + LIFE_S };
        jsonwebtoken::encode(&Header::new(algorithm), &claims, &self.key).ok().map(Zeroizing::new)
    }
}
