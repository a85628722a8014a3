//! Keys of the test and the tokens they sign.

use aws_lc_rs::encoding::AsBigEndian as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

/// A private key, its id, and what it signs with.
pub(in super::super) struct Signer {
    pair: Pair,
    pub(in super::super) algorithm: &'static str,
    pub(in super::super) id: String,
}

pub(in super::super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    pub(in super::super) fn es256(id: &str) -> Self {
        let pair = Pair::P256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap());
        Self { pair, algorithm: "ES256", id: id.to_owned() }
    }

    pub(in super::super) fn es384(id: &str) -> Self {
        let pair = Pair::P384(EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap());
        Self { pair, algorithm: "ES384", id: id.to_owned() }
    }

    pub(in super::super) fn ed25519(id: &str) -> Self {
        Self { pair: Pair::Ed25519(Ed25519KeyPair::generate().unwrap()), algorithm: "EdDSA", id: id.to_owned() }
    }

    pub(in super::super) fn rsa(id: &str, algorithm: &'static str) -> Self {
        Self { pair: Pair::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()), algorithm, id: id.to_owned() }
    }

    /// The public half as a JWK.
    pub(in super::super) fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            Pair::P256(pair) => point("P-256", pair.public_key().as_ref()),
            Pair::P384(pair) => point("P-384", pair.public_key().as_ref()),
            Pair::Ed25519(pair) => json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(pair.public_key()) }),
            Pair::Rsa(pair) => {
                // RSAPublicKey of 2048 bits (RFC 8017, A.1.1): two heads, a zero, the modulus, a head, the exponent.
                let der = pair.public_key().as_ref();
                json!({ "kty": "RSA", "n": encoded(&der[9..265]), "e": encoded(&der[267..]) })
            }
        };
        jwk["kid"] = self.id.as_str().into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// The private half as a JWK, as no issuer should publish it.
    pub(in super::super) fn private_jwk(&self) -> Value {
        let mut jwk = self.jwk();
        let Pair::P256(pair) = &self.pair else { panic!("a P-256 key") };
        jwk["d"] = encoded(pair.private_key().as_be_bytes().unwrap().as_ref()).into();
        jwk
    }

    pub(in super::super) fn sign(&self, message: &str) -> Vec<u8> {
        let (random, message) = (SystemRandom::new(), message.as_bytes());
        match &self.pair {
            Pair::P256(pair) | Pair::P384(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                match self.algorithm {
                    "RS256" => pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap(),
                    "RS512" => pair.sign(&RSA_PKCS1_SHA512, &random, message, &mut signature).unwrap(),
                    _ => pair.sign(&RSA_PSS_SHA256, &random, message, &mut signature).unwrap(),
                }
                signature
            }
        }
    }

    /// The header of an access token of this key.
    pub(in super::super) fn header(&self) -> Value {
        json!({ "typ": "at+jwt", "alg": self.algorithm, "kid": self.id })
    }

    /// A token of this header and payload, signed.
    pub(in super::super) fn token_with(&self, header: &Value, payload: &Value) -> String {
        self.token_of_text(&header.to_string(), &payload.to_string())
    }

    /// A token of texts that need not be JSON, signed.
    pub(in super::super) fn token_of_text(&self, header: &str, payload: &str) -> String {
        let message = format!("{}.{}", encoded(header), encoded(payload));
        let signature = encoded(self.sign(&message));
        format!("{message}.{signature}")
    }

    /// An access token of this payload.
    pub(in super::super) fn token(&self, payload: &Value) -> String {
        self.token_with(&self.header(), payload)
    }
}

fn point(curve: &str, uncompressed: &[u8]) -> Value {
    let (x, y) = uncompressed[1..].split_at(uncompressed.len() / 2);
    json!({ "kty": "EC", "crv": curve, "x": encoded(x), "y": encoded(y) })
}
