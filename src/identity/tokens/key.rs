//! One public key of a key set (RFC 7517, RFC 7518 section 6, RFC 8037).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde_json::Value;

use crate::config::Algorithm;
use crate::digest::sha256;

/// The shortest modulus of an RSA key, in bits; a longer one than the other bound only costs time.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A public key that may verify signatures.
pub(super) struct Key {
    /// Its id; only ever compared.
    pub(super) id: Option<String>,
    kind: Kind,
    /// The one algorithm it is for, where it says so.
    only: Option<Algorithm>,
    decoding: DecodingKey,
    /// Tells this key from every other, whatever its id.
    pub(super) fingerprint: [u8; 32],
}

/// What a key is, which decides what it may verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

/// Why a key of a set is left out; words for the log.
pub(super) type LeftOut = &'static str;

impl Key {
    /// Reads one entry of a key set.
    ///
    /// # Errors
    ///
    /// Why the entry is left out.
    pub(super) fn read(entry: &Value) -> Result<Self, LeftOut> {
        let kind = text(entry, "kty").ok_or("it has no kty")?;
        if kind == "oct" {
            return Err("it is symmetric");
        }
        if ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].into_iter().any(|member| entry.get(member).is_some()) {
            return Err("it is private");
        }
        if entry.get("use").is_some_and(|purpose| purpose != "sig") {
            return Err("it is not for signatures");
        }
        let may_verify = |operations: &Value| operations.as_array().is_some_and(|list| list.contains(&"verify".into()));
        if entry.get("key_ops").is_some_and(|operations| !may_verify(operations)) {
            return Err("it is not for signatures");
        }
        let id = match entry.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(_) => return Err("its kid is no text"),
        };
        let (kind, decoding, public) = match kind {
            "RSA" => rsa(entry)?,
            "EC" => curve(entry)?,
            "OKP" => edwards(entry)?,
            _ => return Err("its kty is unknown"),
        };
        let only = match entry.get("alg") {
            None => None,
            Some(word) => {
                let algorithm = word.as_str().and_then(Algorithm::of).filter(|algorithm| kind.fits(*algorithm));
                Some(algorithm.ok_or("its alg is not one of its kty, or unknown")?)
            }
        };
        let named = format!("{kind:?} {only:?} {id:?} ");
        let fingerprint = sha256([named.as_bytes(), &public].concat());
        Ok(Self { id, kind, only, decoding, fingerprint })
    }

    /// Whether it may verify signatures of `algorithm`.
    pub(super) fn fits(&self, algorithm: Algorithm) -> bool {
        self.kind.fits(algorithm) && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether `signature`, in base64url, is this key's for `message`. Never so for an algorithm that does not fit.
    pub(super) fn verifies(&self, algorithm: Algorithm, message: &str, signature: &str) -> bool {
        let verify = || jsonwebtoken::crypto::verify(signature, message.as_bytes(), &self.decoding, library(algorithm));
        self.fits(algorithm) && verify().unwrap_or(false)
    }
}

impl Kind {
    const fn fits(self, algorithm: Algorithm) -> bool {
        match algorithm {
            Algorithm::Rs256
            | Algorithm::Rs384
            | Algorithm::Rs512
            | Algorithm::Ps256
            | Algorithm::Ps384
            | Algorithm::Ps512 => matches!(self, Self::Rsa),
            Algorithm::Es256 => matches!(self, Self::P256),
            Algorithm::Es384 => matches!(self, Self::P384),
            Algorithm::EdDsa => matches!(self, Self::Ed25519),
        }
    }
}

const fn library(algorithm: Algorithm) -> jsonwebtoken::Algorithm {
    match algorithm {
        Algorithm::Rs256 => jsonwebtoken::Algorithm::RS256,
        Algorithm::Rs384 => jsonwebtoken::Algorithm::RS384,
        Algorithm::Rs512 => jsonwebtoken::Algorithm::RS512,
        Algorithm::Ps256 => jsonwebtoken::Algorithm::PS256,
        Algorithm::Ps384 => jsonwebtoken::Algorithm::PS384,
        Algorithm::Ps512 => jsonwebtoken::Algorithm::PS512,
        Algorithm::Es256 => jsonwebtoken::Algorithm::ES256,
        Algorithm::Es384 => jsonwebtoken::Algorithm::ES384,
        Algorithm::EdDsa => jsonwebtoken::Algorithm::EdDSA,
    }
}

fn text<'e>(entry: &'e Value, member: &str) -> Option<&'e str> {
    entry.get(member).and_then(Value::as_str)
}

fn bytes(entry: &Value, member: &str) -> Result<Vec<u8>, LeftOut> {
    let decoded = text(entry, member).and_then(|encoded| URL_SAFE_NO_PAD.decode(encoded).ok());
    decoded.ok_or("a member of its public part is missing or not in base64url")
}

fn rsa(entry: &Value) -> Result<(Kind, DecodingKey, Vec<u8>), LeftOut> {
    let (modulus, exponent) = (bytes(entry, "n")?, bytes(entry, "e")?);
    let modulus = without_zeros(&modulus);
    let exponent = without_zeros(&exponent);
    let bits = modulus.first().map_or(0, |first| modulus.len() * 8 - first.leading_zeros() as usize);
    if !RSA_BITS.contains(&bits) {
        return Err("its modulus has not 2048 to 8192 bits");
    }
    if !(1..=4).contains(&exponent.len()) || exponent == [1] || exponent.last().is_none_or(|last| last % 2 == 0) {
        return Err("its exponent is no odd number from 3 up");
    }
    let key = DecodingKey::from_rsa_raw_components(modulus, exponent);
    Ok((Kind::Rsa, key, [modulus, b" ", exponent].concat()))
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    &bytes[start..]
}

fn curve(entry: &Value) -> Result<(Kind, DecodingKey, Vec<u8>), LeftOut> {
    let (kind, length) = match text(entry, "crv") {
        Some("P-256") => (Kind::P256, 32),
        Some("P-384") => (Kind::P384, 48),
        _ => return Err("its curve is unknown"),
    };
    let (x, y) = (bytes(entry, "x")?, bytes(entry, "y")?);
    if x.len() != length || y.len() != length {
        return Err("its point is not as long as its curve wants");
    }
    let point = [&[4], x.as_slice(), y.as_slice()].concat();
    Ok((kind, DecodingKey::from_ec_der(&point), point))
}

fn edwards(entry: &Value) -> Result<(Kind, DecodingKey, Vec<u8>), LeftOut> {
    if text(entry, "crv") != Some("Ed25519") {
        return Err("its curve is unknown");
    }
    let public = bytes(entry, "x")?;
    if public.len() != 32 {
        return Err("its point is not as long as its curve wants");
    }
    Ok((Kind::Ed25519, DecodingKey::from_ed_der(&public), public))
}
