//! What an authenticator says, checked (Web Authentication, level 3, sections 7.1 and 7.2): pure, over bytes a browser sent.
//!
//! Attestation is not asked for, so a new key is believed as the browser hands it over; what proves a person is the
//! signature of a later sign-in. Signatures are checked by the one cryptography there is.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::digest::sha256;

/// The kinds of key taken, in the order they are asked for: ES256, EdDSA, RS256 of COSE (RFC 9053, RFC 8812).
pub const ALGORITHMS: [i64; 3] = [-7, -8, -257];
/// The longest id of a credential, in bytes (section 5.8.3).
const LONGEST_ID: usize = 1_023;
/// Bits of the flags: the person was there, was verified, and a new key follows (section 6.1).
const PRESENT: u8 = 1;
const VERIFIED: u8 = 1 << 2;
const ATTESTED: u8 = 1 << 6;

/// Who asks: what keys are bound to.
#[derive(Debug, Clone)]
pub struct Party {
    /// The host, the id of the relying party.
    pub id: String,
    /// The exact origin of our pages.
    pub origin: String,
}

impl Party {
    /// The party at an origin.
    pub fn of(origin: &str) -> Option<Self> {
        let url = url::Url::parse(origin).ok()?;
        Some(Self { id: url.host_str()?.to_owned(), origin: origin.to_owned() })
    }
}

/// What a browser sends of a new key. Bytes are in base64url.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKey {
    /// The id of the credential.
    pub id: String,
    /// What the browser signed for.
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    /// What the authenticator said.
    pub authenticator_data: String,
    /// The key, a `SubjectPublicKeyInfo`.
    pub public_key: String,
    /// Its kind, a number of COSE.
    pub algorithm: i64,
    /// What the person calls it.
    pub name: String,
}

/// What a browser sends to sign in.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Assertion {
    /// The id of the credential.
    pub id: String,
    /// What the browser signed for.
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    /// What the authenticator said.
    pub authenticator_data: String,
    /// Its signature.
    pub signature: String,
    /// Whose it says the key is.
    #[serde(default)]
    pub user_handle: Option<String>,
    /// Whether the browser keeps the session after it was closed.
    #[serde(default)]
    pub remember: bool,
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its kind.
    pub algorithm: i64,
    /// The key, a `SubjectPublicKeyInfo` in base64url.
    pub public_key: String,
    /// How often it signed, where its authenticator counts.
    pub counter: i64,
}

/// Why what came is not taken; the page tells none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It cannot be read.
    Malformed,
    /// It was not made for this, here and now.
    Elsewhere,
    /// The authenticator did not verify the person.
    Unverified,
    /// The signature is not the key's.
    Signature,
    /// The counter went back: there may be a copy of the key.
    Counter,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
}

struct Said {
    flags: u8,
    counter: i64,
    rest: Vec<u8>,
}

fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Fault::Malformed)
}

/// The challenge a browser answered, to be looked up before anything else.
///
/// # Errors
/// When it cannot be read, or was made for something else.
pub fn challenge(party: &Party, client_data: &str, kind: &str) -> Result<String, Fault> {
    let data: ClientData = serde_json::from_slice(&bytes(client_data)?).map_err(|_| Fault::Malformed)?;
    if data.kind != kind || data.origin != party.origin || data.cross_origin {
        return Err(Fault::Elsewhere);
    }
    Ok(data.challenge)
}

fn said(party: &Party, authenticator_data: &[u8]) -> Result<Said, Fault> {
    let (head, rest) = authenticator_data.split_at_checked(37).ok_or(Fault::Malformed)?;
    if head[..32] != sha256(&party.id) {
        return Err(Fault::Elsewhere);
    }
    let flags = head[32];
    if flags & PRESENT == 0 || flags & VERIFIED == 0 {
        return Err(Fault::Unverified);
    }
    let counter = head[33..].iter().fold(0_i64, |number, byte| number << 8 | i64::from(*byte));
    Ok(Said { flags, counter, rest: rest.to_vec() })
}

/// The key a browser made, for the challenge that was looked up.
///
/// # Errors
/// The first rule of section 7.1 it breaks.
pub fn new_key(party: &Party, new: &NewKey) -> Result<Key, Fault> {
    let said = said(party, &bytes(&new.authenticator_data)?)?;
    // After the model of the authenticator comes the id of the credential behind its length (section 6.5.1).
    let length = said.rest.get(16..18).map(|two| usize::from(two[0]) << 8 | usize::from(two[1]));
    let id = length.and_then(|length| said.rest.get(18..18 + length));
    let given = bytes(&new.id)?;
    if said.flags & ATTESTED == 0 || id != Some(given.as_slice()) || given.is_empty() || given.len() > LONGEST_ID {
        return Err(Fault::Malformed);
    }
    let key = Key { algorithm: new.algorithm, public_key: new.public_key.clone(), counter: said.counter };
    parsed(&key)?;
    Ok(key)
}

/// Checks the signature of a sign-in, for the challenge that was looked up; gives the counter to keep.
///
/// # Errors
/// The first rule of section 7.2 it breaks.
pub fn check(party: &Party, key: &Key, assertion: &Assertion) -> Result<i64, Fault> {
    let data = bytes(&assertion.authenticator_data)?;
    let said = said(party, &data)?;
    let mut signed = data;
    signed.extend_from_slice(&sha256(bytes(&assertion.client_data)?));
    let signature = bytes(&assertion.signature)?;
    parsed(key)?.verify_sig(&signed, &signature).map_err(|_| Fault::Signature)?;
    if (said.counter != 0 || key.counter != 0) && said.counter <= key.counter {
        return Err(Fault::Counter);
    }
    Ok(said.counter)
}

fn parsed(key: &Key) -> Result<ParsedPublicKey, Fault> {
    let algorithm: &'static dyn VerificationAlgorithm = match key.algorithm {
        -7 => &ECDSA_P256_SHA256_ASN1,
        -8 => &ED25519,
        -257 => &RSA_PKCS1_2048_8192_SHA256,
        _ => return Err(Fault::Malformed),
    };
    ParsedPublicKey::new(algorithm, bytes(&key.public_key)?).map_err(|_| Fault::Malformed)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::AsDer;
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
    use proptest::prelude::*;

    use super::*;

    /// An authenticator in software.
    struct Device {
        pair: EcdsaKeyPair,
        counter: u32,
    }

    fn party() -> Party {
        Party::of("https://pm.example").unwrap()
    }

    fn client_data(kind: &str, origin: &str) -> String {
        let text =
            serde_json::json!({ "type": kind, "challenge": "Y2hhbGxlbmdl", "origin": origin, "crossOrigin": false });
        URL_SAFE_NO_PAD.encode(text.to_string())
    }

    impl Device {
        fn new() -> Self {
            Self { pair: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap(), counter: 0 }
        }

        fn data(&self, host: &str, flags: u8, rest: &[u8]) -> Vec<u8> {
            [&sha256(host)[..], &[flags], &self.counter.to_be_bytes(), rest].concat()
        }

        fn makes(&self, host: &str, flags: u8) -> NewKey {
            let attested = [&[0; 16][..], &[0, 3], b"abc", &[0xA0]].concat();
            let key = self.pair.public_key().as_der().unwrap();
            NewKey {
                id: URL_SAFE_NO_PAD.encode("abc"),
                client_data: client_data("webauthn.create", "https://pm.example"),
                authenticator_data: URL_SAFE_NO_PAD.encode(self.data(host, flags, &attested)),
                public_key: URL_SAFE_NO_PAD.encode(key.as_ref()),
                algorithm: -7,
                name: "a key".into(),
            }
        }

        fn signs(&mut self, flags: u8) -> Assertion {
            self.counter += 1;
            let data = self.data("pm.example", flags, &[]);
            let client = client_data("webauthn.get", "https://pm.example");
            let signed = [&data[..], &sha256(URL_SAFE_NO_PAD.decode(&client).unwrap())].concat();
            let signature = self.pair.sign(&SystemRandom::new(), &signed).unwrap();
            Assertion {
                id: URL_SAFE_NO_PAD.encode("abc"),
                client_data: client,
                authenticator_data: URL_SAFE_NO_PAD.encode(data),
                signature: URL_SAFE_NO_PAD.encode(signature.as_ref()),
                user_handle: None,
                remember: false,
            }
        }
    }

    #[test]
    fn a_key_that_was_made_signs_in_and_counts_on() {
        let mut device = Device::new();
        let mut key = new_key(&party(), &device.makes("pm.example", 0x45)).unwrap();
        for _ in 0..2 {
            key.counter = check(&party(), &key, &device.signs(0x05)).unwrap();
        }
        let again = device.signs(0x05);
        device.counter = 0;
        assert_eq!(check(&party(), &key, &device.signs(0x05)), Err(Fault::Counter));
        assert_eq!(check(&party(), &key, &again), Ok(3));
        assert_eq!(check(&party(), &key, &device.signs(0x01)), Err(Fault::Unverified));
        let mut other = Device::new();
        other.counter = 9;
        assert_eq!(check(&party(), &key, &other.signs(0x05)), Err(Fault::Signature));
    }

    #[test]
    fn nothing_made_elsewhere_is_taken() {
        let device = Device::new();
        assert_eq!(new_key(&party(), &device.makes("evil.example", 0x45)), Err(Fault::Elsewhere));
        assert_eq!(new_key(&party(), &device.makes("pm.example", 0x41)), Err(Fault::Unverified));
        assert_eq!(new_key(&party(), &device.makes("pm.example", 0x05)), Err(Fault::Malformed));
        let good = client_data("webauthn.get", "https://pm.example");
        assert_eq!(challenge(&party(), &good, "webauthn.get").as_deref(), Ok("Y2hhbGxlbmdl"));
        for (kind, origin) in [
            ("webauthn.create", "https://pm.example"),
            ("webauthn.get", "https://pm.example.evil.test"),
            ("webauthn.get", "https://pm.example:444"),
            ("webauthn.get", "http://pm.example"),
        ] {
            assert_eq!(
                challenge(&party(), &client_data(kind, origin), "webauthn.get"),
                Err(Fault::Elsewhere),
                "{origin}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd_to_be_refused(data in proptest::collection::vec(any::<u8>(), 0..200), key in any::<Vec<u8>>()) {
            let new = NewKey {
                id: URL_SAFE_NO_PAD.encode("abc"),
                client_data: URL_SAFE_NO_PAD.encode(&data),
                authenticator_data: URL_SAFE_NO_PAD.encode(&data),
                public_key: URL_SAFE_NO_PAD.encode(&key),
                algorithm: -7,
                name: String::new(),
            };
            prop_assert!(new_key(&party(), &new).is_err());
            prop_assert!(challenge(&party(), &new.client_data, "webauthn.get").is_err());
        }
    }
}
