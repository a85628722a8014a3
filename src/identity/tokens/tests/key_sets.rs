//! What of a published key set is kept.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::signer::encoded;
use super::{ISSUER, Signer, external_payload, external_verdict, set, with};
use crate::identity::tokens::KeySet;

/// How many of these entries are kept.
fn kept(entries: &[Value]) -> usize {
    KeySet::read(&json!({ "keys": entries })).unwrap().len()
}

#[test]
fn what_is_no_key_set_is_not_read() {
    for document in [json!({}), json!([]), json!({ "keys": {} }), json!({ "keys": null }), json!("keys")] {
        assert!(KeySet::read(&document).is_none(), "{document}");
    }
    assert!(KeySet::read(&json!({ "keys": [] })).unwrap().is_empty());
}

/// Security case 7: private and symmetric keys, keys for something else, weak and malformed ones.
#[test]
fn odd_keys_are_left_out() {
    let (ec, rsa, ed) = (Signer::es256("a"), Signer::rsa("b", "RS256"), Signer::ed25519("c"));
    assert_eq!(kept(&[ec.jwk(), rsa.jwk(), ed.jwk()]), 3);
    let weak = json!({ "kty": "RSA", "n": encoded([0xff; 128]), "e": "AQAB" });
    let padded = json!({ "kty": "RSA", "n": encoded([[0; 128], [0xff; 128]].concat()), "e": "AQAB" });
    let changed = |jwk: Value, member: &str, value: Value| with(jwk, member, value);
    for odd in [
        ec.private_jwk(),
        json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "x", "alg": "HS256" }),
        changed(rsa.jwk(), "d", "AQAB".into()),
        changed(rsa.jwk(), "p", "AQAB".into()),
        weak,
        padded,
        json!({ "kty": "RSA", "n": encoded(vec![0xff; 1025]), "e": "AQAB" }),
        changed(rsa.jwk(), "e", "AQ".into()),
        changed(rsa.jwk(), "e", "AA".into()),
        changed(rsa.jwk(), "e", "Ag".into()),
        changed(rsa.jwk(), "n", "not base64!".into()),
        changed(ec.jwk(), "use", "enc".into()),
        changed(ec.jwk(), "key_ops", json!(["deriveKey"])),
        changed(ec.jwk(), "alg", "ES384".into()),
        changed(ec.jwk(), "alg", "ECDH-ES".into()),
        changed(ec.jwk(), "alg", json!(256)),
        changed(ec.jwk(), "crv", "P-521".into()),
        changed(ec.jwk(), "crv", "P-384".into()),
        changed(ec.jwk(), "crv", "secp256k1".into()),
        changed(ec.jwk(), "x", "AAAA".into()),
        changed(ec.jwk(), "kid", json!(1)),
        changed(ec.jwk(), "kty", "ec".into()),
        changed(ed.jwk(), "crv", "Ed448".into()),
        changed(ed.jwk(), "crv", "X25519".into()),
        changed(ed.jwk(), "x", "AAAA".into()),
        json!("key"),
        json!(null),
    ] {
        assert_eq!(kept(std::slice::from_ref(&odd)), 0, "{odd}");
        assert_eq!(kept(&[odd.clone(), Signer::es256("z").jwk()]), 1, "the others stay: {odd}");
    }
    for fine in [
        changed(ec.jwk(), "use", Value::Null),
        changed(ec.jwk(), "key_ops", json!(["verify"])),
        changed(ec.jwk(), "alg", "ES256".into()),
        changed(ec.jwk(), "kid", Value::Null),
        changed(ec.jwk(), "x5c", json!(["MAAA"])),
    ] {
        assert_eq!(kept(std::slice::from_ref(&fine)), 1, "{fine}");
    }
}

/// Security case 7: of two keys with one id neither counts.
#[test]
fn a_double_id_names_neither_key() {
    let (one, two, third) = (Signer::es256("k"), Signer::es256("k"), Signer::es256("z"));
    let keys = KeySet::read(&set(&[&one, &two, &third])).unwrap();
    assert_eq!(keys.len(), 1);
    for (signer, verdict) in
        [(&one, "its key is not in the key set"), (&two, "its key is not in the key set"), (&third, "good")]
    {
        assert_eq!(external_verdict(&signer.token(&external_payload(ISSUER)), &keys, &[]), verdict);
    }
}

#[test]
fn at_most_64_keys_are_kept() {
    let signer = Signer::es256("k");
    let entries: Vec<Value> = (0..100).map(|number| with(signer.jwk(), "kid", format!("k{number}").into())).collect();
    assert_eq!(kept(&entries), 64);
}

#[test]
fn a_point_off_its_curve_verifies_nothing() {
    let signer = Signer::es256("k");
    let off = with(signer.jwk(), "y", encoded([7; 32]).into());
    let keys = KeySet::read(&json!({ "keys": [off] })).unwrap();
    assert_eq!(external_verdict(&signer.token(&external_payload(ISSUER)), &keys, &[]), "its signature is wrong");
}

proptest! {
    #[test]
    fn no_document_makes_it_panic(entries in proptest::collection::vec(crate::json::any_json(), 0..4), kty in "RSA|EC|OKP|oct|.{0,3}") {
        let mut entries = entries;
        for entry in &mut entries {
            if let Some(object) = entry.as_object_mut() {
                object.insert("kty".into(), kty.clone().into());
            }
        }
        let _ = KeySet::read(&json!({ "keys": entries }));
    }
}
