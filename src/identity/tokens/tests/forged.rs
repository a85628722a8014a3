//! Tokens that are not good here: each trick by itself, everything else right.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::signer::encoded;
use super::{
    ISSUER, NOW_MS, PUBLIC, Signer, external_payload, external_verdict, identity, key_set, own_payload, own_verdict,
    with,
};
use crate::identity::tokens::{KeySet, Rules, check};

#[test]
fn a_token_of_each_algorithm_is_good() {
    let own = Signer::es256("k");
    assert_eq!(own_verdict(&own.token(&own_payload()), &key_set(&[&own])), "good");
    for signer in [
        Signer::es256("k"),
        Signer::es384("k"),
        Signer::ed25519("k"),
        Signer::rsa("k", "RS256"),
        Signer::rsa("k", "PS256"),
    ] {
        let token = signer.token(&external_payload(ISSUER));
        assert_eq!(external_verdict(&token, &key_set(&[&signer]), &[]), "good", "{}", signer.algorithm);
    }
}

/// Security case 2.
#[test]
fn a_text_of_another_form_is_refused() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let good = signer.token(&own_payload());
    let (message, signature) = good.rsplit_once('.').unwrap();
    let header = signer.header().to_string();
    let payload = own_payload().to_string();
    let long_header = with(signer.header(), "x", "y".repeat(1_100).into());
    let deep: Value = serde_json::from_str(&format!("{}1{}", "[".repeat(16), "]".repeat(16))).unwrap();
    for (text, cause) in [
        (String::new(), "not three parts in base64url"),
        ("garbage".into(), "not three parts in base64url"),
        ("a.b".into(), "not three parts in base64url"),
        (format!("{good}.{signature}"), "not three parts in base64url"),
        (format!("{message}."), "not three parts in base64url"),
        (format!("{good}="), "not three parts in base64url"),
        (format!("{good}\n"), "not three parts in base64url"),
        (format!(" {good}"), "not three parts in base64url"),
        (good.replace('.', ".."), "not three parts in base64url"),
        (format!("{}é", &good[..good.len() - 1]), "not three parts in base64url"),
        ("x".repeat(8_193), "longer than 8 KiB"),
        (signer.token(&with(own_payload(), "x", "y".repeat(8_192).into())), "longer than 8 KiB"),
        (signer.token_with(&long_header, &own_payload()), HEADER),
        (signer.token_of_text("not json", &payload), HEADER),
        (signer.token_of_text("[]", &payload), HEADER),
        (signer.token_of_text(r#"{"alg":"ES256","typ":"at+jwt","kid":"k","alg":"none"}"#, &payload), HEADER),
        (signer.token_of_text(&header, "not json"), PAYLOAD),
        (signer.token_of_text(&header, "\"text\""), PAYLOAD),
        (signer.token_of_text(&header, &payload.replacen('{', r#"{"org":"other","#, 1)), PAYLOAD),
        (signer.token_of_text(&header, &payload.replacen('{', r#"{"x":[{"a":1,"a":2}],"#, 1)), PAYLOAD),
        (signer.token(&with(own_payload(), "x", deep)), PAYLOAD),
        (signer.token_with(&with(signer.header(), "crit", json!(["exp"])), &own_payload()), "its header has crit"),
        (signer.token_with(&with(signer.header(), "crit", json!([])), &own_payload()), "its header has crit"),
    ] {
        assert_eq!(own_verdict(&text, &keys), cause, "{text}");
    }
}

const HEADER: &str = "its header is not a small object of JSON with each member once";
const PAYLOAD: &str = "its payload is not an object of JSON with each member once";
const TYPE: &str = "not an access token by its type";
const ALGORITHM: &str = "its algorithm is not on the list";
const SIGNATURE: &str = "its signature is wrong";
const UNKNOWN: &str = "its key is not in the key set";
const UNFIT: &str = "its key is not for its algorithm";

/// Security case 2.
#[test]
fn a_changed_token_is_refused() {
    let (signer, other) = (Signer::es256("k"), Signer::es256("k"));
    let keys = key_set(&[&signer]);
    assert_eq!(own_verdict(&other.token(&own_payload()), &keys), SIGNATURE);
    let good = signer.token(&own_payload());
    let better = signer.token(&with(own_payload(), "org", "other".into()));
    let parts = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let (good, better) = (parts(&good), parts(&better));
    assert_eq!(own_verdict(&[&*good[0], &*better[1], &*good[2]].join("."), &keys), SIGNATURE);
    assert_eq!(own_verdict(&[&*good[0], &*good[1], &*better[2]].join("."), &keys), SIGNATURE);
}

/// Security case 2 and 4: a token of another issuer, though the key is known.
#[test]
fn the_issuer_is_compared_as_written() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    for issuer in [
        json!("https://pm.example/"),
        json!("https://PM.example"),
        json!("https://evil.example"),
        json!([PUBLIC]),
        Value::Null,
    ] {
        let token = signer.token(&with(own_payload(), "iss", issuer.clone()));
        assert_eq!(own_verdict(&token, &keys), "of another issuer", "{issuer}");
    }
    let external = signer.token(&external_payload(ISSUER));
    assert_eq!(own_verdict(&external, &keys), "of another issuer");
    let slash = signer.token(&external_payload("https://id.example.com/"));
    assert_eq!(external_verdict(&slash, &keys, &[]), "of another issuer");
}

/// Security case 4: an ID token or a refresh token is never an access token.
#[test]
fn the_type_tells_an_access_token() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let typed = |typ: Value, payload: &Value| signer.token_with(&with(signer.header(), "typ", typ), payload);
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt", "Application/At+Jwt"] {
        assert_eq!(own_verdict(&typed(typ.into(), &own_payload()), &keys), "good", "{typ}");
    }
    for typ in
        [json!("JWT"), json!("application/jwt"), json!("id+jwt"), json!("rt+jwt"), json!(""), json!(1), Value::Null]
    {
        assert_eq!(own_verdict(&typed(typ.clone(), &own_payload()), &keys), TYPE, "{typ}");
    }

    let plain = external_payload(ISSUER);
    let strict = [("IDENTITY_TOKEN_TYPE", "at+jwt")];
    for typ in [json!("JWT"), json!("jwt"), json!("application/JWT"), Value::Null] {
        assert_eq!(external_verdict(&typed(typ.clone(), &plain), &keys, &[]), "good", "{typ}");
        assert_eq!(external_verdict(&typed(typ.clone(), &plain), &keys, &strict), TYPE, "{typ}");
        for member in ["nonce", "at_hash", "c_hash"] {
            let token = typed(typ.clone(), &with(plain.clone(), member, "x".into()));
            assert_eq!(external_verdict(&token, &keys, &[]), TYPE, "{typ} {member}");
        }
        let token = typed(typ.clone(), &with(plain.clone(), "scope", Value::Null));
        assert_eq!(external_verdict(&token, &keys, &[]), TYPE, "{typ} without scope");
        for (member, word) in [("typ", "Refresh"), ("typ", "ID"), ("token_use", "id")] {
            let token = typed(typ.clone(), &with(plain.clone(), member, word.into()));
            assert_eq!(external_verdict(&token, &keys, &[]), TYPE, "{typ} {member} {word}");
        }
    }
    let scp = with(with(plain.clone(), "scope", Value::Null), "scp", json!(["org:read"]));
    assert_eq!(external_verdict(&typed("JWT".into(), &scp), &keys, &[]), "good");
    assert_eq!(external_verdict(&typed("dpop+jwt".into(), &plain), &keys, &[]), TYPE);
}

/// Security case 5: `alg` none, unknown, outside the list, or with a shared secret made of the public key.
#[test]
fn an_algorithm_outside_the_list_is_refused() {
    let rsa = Signer::rsa("k", "RS256");
    let keys = key_set(&[&rsa]);
    let payload = external_payload(ISSUER);
    for algorithm in
        [json!("none"), json!("None"), json!("NONE"), json!(""), json!("rs256"), json!("XS1"), json!(256), Value::Null]
    {
        let header = with(rsa.header(), "alg", algorithm.clone());
        assert_eq!(external_verdict(&rsa.token_with(&header, &payload), &keys, &[]), ALGORITHM, "{algorithm}");
        let message = format!("{}.{}", encoded(header.to_string()), encoded(payload.to_string()));
        assert_eq!(external_verdict(&format!("{message}."), &keys, &[]), "not three parts in base64url");
    }
    let public = rsa.jwk()["n"].as_str().unwrap().to_owned();
    for (name, hash) in [
        ("HS256", aws_lc_rs::hmac::HMAC_SHA256),
        ("HS384", aws_lc_rs::hmac::HMAC_SHA384),
        ("HS512", aws_lc_rs::hmac::HMAC_SHA512),
    ] {
        let header = with(rsa.header(), "alg", name.into());
        let message = format!("{}.{}", encoded(header.to_string()), encoded(payload.to_string()));
        let tag = aws_lc_rs::hmac::sign(&aws_lc_rs::hmac::Key::new(hash, public.as_bytes()), message.as_bytes());
        assert_eq!(external_verdict(&format!("{message}.{}", encoded(tag)), &keys, &[]), ALGORITHM, "{name}");
    }
    let further = Signer::rsa("k", "RS512");
    let (token, keys) = (further.token(&payload), key_set(&[&further]));
    assert_eq!(external_verdict(&token, &keys, &[]), ALGORITHM, "not on the list by default");
    assert_eq!(external_verdict(&token, &keys, &[("IDENTITY_ALGORITHMS", "RS512")]), "good");
    let ed = Signer::ed25519("k");
    assert_eq!(own_verdict(&ed.token(&own_payload()), &key_set(&[&ed])), ALGORITHM, "ours are ES256 alone");
}

/// Security case 5: the type of the key is bound to the algorithm, and a key to its own.
#[test]
fn a_key_is_for_its_own_algorithms_alone() {
    let payload = external_payload(ISSUER);
    let (p256, p384, ed, rsa) =
        (Signer::es256("a"), Signer::es384("b"), Signer::ed25519("c"), Signer::rsa("d", "RS256"));
    let keys = key_set(&[&p256, &p384, &ed, &rsa]);
    for (signer, id) in [(&p256, "b"), (&p384, "a"), (&ed, "a"), (&rsa, "c"), (&p256, "d")] {
        let token = signer.token_with(&with(signer.header(), "kid", id.into()), &payload);
        assert_eq!(external_verdict(&token, &keys, &[]), UNFIT, "{} {id}", signer.algorithm);
    }
    let mut for_pss = rsa.jwk();
    for_pss["alg"] = "PS256".into();
    let keys = KeySet::read(&json!({ "keys": [for_pss] })).unwrap();
    assert_eq!(external_verdict(&rsa.token(&payload), &keys, &[]), UNFIT);
}

/// Security case 5: r = s = 0, and halves of zero.
#[test]
fn an_ecdsa_signature_of_zeros_is_refused() {
    for signer in [Signer::es256("k"), Signer::es384("k")] {
        let keys = key_set(&[&signer]);
        let token = signer.token(&external_payload(ISSUER));
        let (message, _) = token.rsplit_once('.').unwrap();
        let real = signer.sign(message);
        let half = real.len() / 2;
        for forged in [
            vec![0; real.len()],
            [&vec![0; half], &real[half..]].concat(),
            [&real[..half], &vec![0; half]].concat(),
            real[1..].to_vec(),
            [&[0], real.as_slice()].concat(),
            vec![0xff; real.len()],
            vec![0x30, 6, 2, 1, 0, 2, 1, 0],
        ] {
            assert_eq!(external_verdict(&format!("{message}.{}", encoded(forged)), &keys, &[]), SIGNATURE);
        }
    }
}

/// Security case 6: a key id is only compared; keys and addresses in the header are ignored.
#[test]
fn what_a_header_says_of_keys_is_ignored() {
    let (signer, evil) = (Signer::es256("k"), Signer::es256("k"));
    let keys = key_set(&[&signer]);
    for id in ["../../etc/passwd", "' OR 1=1 --", "http://127.0.0.1:1/key", "", "K", "k ", "\u{0}"] {
        let token = signer.token_with(&with(signer.header(), "kid", id.into()), &own_payload());
        assert_eq!(own_verdict(&token, &keys), UNKNOWN, "{id}");
    }
    for id in [json!("k".repeat(257)), json!(1), json!(["k"]), json!({ "k": 1 })] {
        let token = signer.token_with(&with(signer.header(), "kid", id.clone()), &own_payload());
        assert_eq!(own_verdict(&token, &keys), "its key id is no text of 256 bytes at most", "{id}");
    }
    let huge = signer.token_with(&with(signer.header(), "kid", "k".repeat(10_000).into()), &own_payload());
    assert_eq!(own_verdict(&huge, &keys), "longer than 8 KiB");
    for (member, value) in [
        ("jwk", evil.jwk()),
        ("jku", "http://127.0.0.1:1/jwks".into()),
        ("x5u", "http://127.0.0.1:1/cert".into()),
        ("x5c", json!(["MAAA"])),
    ] {
        let forged = evil.token_with(&with(evil.header(), member, value.clone()), &own_payload());
        assert_eq!(own_verdict(&forged, &keys), SIGNATURE, "{member}");
        let good = signer.token_with(&with(signer.header(), member, value), &own_payload());
        assert_eq!(own_verdict(&good, &keys), "good", "{member}");
    }
}

#[test]
fn without_a_key_id_the_only_key_that_fits_is_taken() {
    let (one, two, rsa) = (Signer::es256("a"), Signer::es256("b"), Signer::rsa("c", "RS256"));
    let token = one.token_with(&with(one.header(), "kid", Value::Null), &external_payload(ISSUER));
    assert_eq!(external_verdict(&token, &key_set(&[&one, &rsa]), &[]), "good");
    assert_eq!(external_verdict(&token, &key_set(&[&two, &rsa]), &[]), SIGNATURE);
    assert_eq!(external_verdict(&token, &key_set(&[&one, &two]), &[]), UNKNOWN);
    assert_eq!(external_verdict(&token, &key_set(&[&rsa]), &[]), UNKNOWN);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No text makes the check panic, and none that was not signed passes.
    #[test]
    fn any_text_is_refused(text in any_text()) {
        let rules = Rules::external(&identity(ISSUER, &[]));
        prop_assert!(check(&text, &KeySet::default(), &rules, NOW_MS).is_err());
        prop_assert!(check(&text, &KeySet::default(), &Rules::own(PUBLIC), NOW_MS).is_err());
    }

    /// No payload, however odd, makes the check of a signed token panic.
    #[test]
    fn any_signed_payload_is_judged(members in proptest::collection::btree_map(claim_name(), crate::json::any_json(), 0..8)) {
        let signer = Signer::es256("k");
        let keys = key_set(&[&signer]);
        for mut payload in [own_payload(), external_payload(ISSUER)] {
            let external = payload.get("azp").is_some();
            for (name, value) in &members {
                payload[name] = value.clone();
            }
            let token = signer.token(&payload);
            let _ = if external { external_verdict(&token, &keys, &[]) } else { own_verdict(&token, &keys) };
        }
    }

    /// Any one changed character makes a token bad.
    #[test]
    fn any_changed_character_makes_a_token_bad(at in any::<proptest::sample::Index>(), with in "[A-Za-z0-9_.-]") {
        let signer = Signer::es256("k");
        let mut token = signer.token(&own_payload());
        let at = at.index(token.len());
        prop_assume!(token[at..=at] != with);
        token.replace_range(at..=at, &with);
        prop_assert_ne!(own_verdict(&token, &key_set(&[&signer])), "good");
    }
}

fn claim_name() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "exp",
            "nbf",
            "iat",
            "aud",
            "sub",
            "scope",
            "scp",
            "org",
            "org_id",
            "org_role",
            "role",
            "email",
            "name",
            "jti",
            "gid",
            "cnf",
            "auth_time",
            "email_verified",
            "iss",
            "client_id",
        ])
        .prop_map(str::to_owned),
        ".{0,8}",
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    let json = || crate::json::any_json().prop_map(|value| encoded(value.to_string()));
    let header = prop_oneof![
        json(),
        Just(encoded(r#"{"alg":"ES256","typ":"at+jwt"}"#)),
        Just(encoded(r#"{"alg":"RS256","typ":"at+jwt","kid":"k"}"#)),
    ];
    let payload = prop_oneof![
        json(),
        Just(encoded(own_payload().to_string())),
        Just(encoded(external_payload(ISSUER).to_string())),
    ];
    let signature = proptest::collection::vec(any::<u8>(), 0..100).prop_map(encoded);
    prop_oneof![
        ".{0,64}",
        "[A-Za-z0-9_.=-]{0,200}",
        (header, payload, signature).prop_map(|(header, payload, signature)| format!("{header}.{payload}.{signature}")),
    ]
}
