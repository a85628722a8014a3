//! When a token is good, for what, and for whom.

use serde_json::{Value, json};

use super::{
    ISSUER, NOW_MS, NOW_S, PUBLIC, Signer, external_payload, external_verdict, identity, key_set, own_payload,
    own_verdict, with,
};
use crate::identity::tokens::{Rules, check};

const NUMBER: &str = "exp, nbf or iat is missing or no number of seconds";
const IAT: &str = "issued in the future or too long ago";
const AUDIENCE: &str = "its audience is no text and no list of 1 to 16 texts";

/// Security case 2: ended, not yet valid, and what is no time at all.
#[test]
fn times_are_numbers_within_a_minute_of_skew() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let verdict = |member: &str, value: Value| own_verdict(&signer.token(&with(own_payload(), member, value)), &keys);
    for (member, value, expected) in [
        ("exp", json!(NOW_S + 1), "good"),
        ("exp", json!(NOW_S - 59), "good"),
        ("exp", json!(NOW_S - 60), "ended"),
        ("exp", json!(0), "ended"),
        ("exp", json!(NOW_S as f64 + 0.5), "good"),
        ("exp", json!(9_007_199_254_740_992_u64), "good"),
        ("exp", json!(9_007_199_254_740_994_u64), NUMBER),
        ("exp", json!(1e300), NUMBER),
        ("exp", json!(-1), NUMBER),
        ("exp", json!((NOW_S + 60).to_string()), NUMBER),
        ("exp", json!([NOW_S + 60]), NUMBER),
        ("exp", json!(true), NUMBER),
        ("exp", Value::Null, NUMBER),
        ("nbf", json!(NOW_S + 60), "good"),
        ("nbf", json!(NOW_S + 61), "not valid yet"),
        ("nbf", json!("0"), NUMBER),
        ("iat", json!(NOW_S + 60), "good"),
        ("iat", json!(NOW_S + 61), IAT),
        ("iat", Value::Null, NUMBER),
        ("auth_time", json!("yesterday"), NUMBER),
    ] {
        assert_eq!(verdict(member, value.clone()), expected, "{member} {value}");
    }
    let null = signer
        .token_of_text(&signer.header().to_string(), &own_payload().to_string().replacen('{', r#"{"nbf":null,"#, 1));
    assert_eq!(own_verdict(&null, &keys), NUMBER);
}

#[test]
fn a_token_of_an_issuer_outside_is_at_most_a_day_old() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let payload = with(external_payload(ISSUER), "exp", json!(NOW_S + 1_000_000));
    for (issued, expected) in [
        (json!(NOW_S - 86_400), "good"),
        (json!(NOW_S - 86_401), IAT),
        (json!(NOW_S + 61), IAT),
        (Value::Null, "good"),
        (json!("x"), NUMBER),
    ] {
        let token = signer.token(&with(payload.clone(), "iat", issued.clone()));
        assert_eq!(external_verdict(&token, &keys, &[]), expected, "{issued}");
    }
}

/// Security case 3, the form; what an audience reaches is the resource's own table.
#[test]
fn an_audience_is_a_text_or_a_list_of_texts() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let audiences = |value: Value| {
        let token = signer.token(&with(own_payload(), "aud", value));
        check(&token, &keys, &Rules::own(PUBLIC), NOW_MS)
            .map(|claims| claims.audiences.clone())
            .map_err(|refused| refused.cause())
    };
    assert_eq!(audiences("https://PM.example/mcp/".into()).unwrap(), ["https://PM.example/mcp/"]);
    assert_eq!(audiences(json!(["a", "b"])).unwrap(), ["a", "b"]);
    assert_eq!(audiences(json!(vec!["a"; 16])).unwrap().len(), 16);
    for value in
        [json!(vec!["a"; 17]), json!([]), json!([1]), json!(["a", null]), json!({ "a": 1 }), json!(7), Value::Null]
    {
        assert_eq!(audiences(value.clone()).unwrap_err(), AUDIENCE, "{value}");
    }
}

#[test]
fn a_subject_is_a_text_of_1_to_255_bytes() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    for value in [json!(""), json!("x".repeat(256)), json!(7), Value::Null] {
        for (token, verdict) in [
            (signer.token(&with(own_payload(), "sub", value.clone())), own_verdict as fn(&str, &_) -> &'static str),
            (signer.token(&with(external_payload(ISSUER), "sub", value.clone())), |text, keys| {
                external_verdict(text, keys, &[])
            }),
        ] {
            assert_eq!(verdict(&token, &keys), "its subject is no text of 1 to 255 bytes", "{value}");
        }
    }
    let longest = signer.token(&with(own_payload(), "sub", "x".repeat(255).into()));
    assert_eq!(own_verdict(&longest, &keys), "good");
}

#[test]
fn a_token_bound_to_its_sender_is_refused() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    for cnf in [json!({ "jkt": "x" }), json!({ "x5t#S256": "x" }), json!({}), json!(1)] {
        let token = signer.token(&with(own_payload(), "cnf", cnf.clone()));
        assert_eq!(own_verdict(&token, &keys), "bound to a sender by cnf", "{cnf}");
        let token = signer.token(&with(external_payload(ISSUER), "cnf", cnf.clone()));
        assert_eq!(external_verdict(&token, &keys, &[]), "bound to a sender by cnf", "{cnf}");
    }
}

/// Security case 4: one subject at two issuers is two people.
#[test]
fn a_person_is_issuer_and_subject() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let other = "https://other.example.com";
    let person = |issuer: &str| {
        let token = signer.token(&external_payload(issuer));
        let claims = check(&token, &keys, &Rules::external(&identity(issuer, &[])), NOW_MS).unwrap();
        (claims.issuer.clone(), claims.subject.clone())
    };
    assert_eq!(person(ISSUER).1, person(other).1);
    assert_ne!(person(ISSUER), person(other));
    let token = signer.token(&external_payload(ISSUER));
    assert!(check(&token, &keys, &Rules::external(&identity(other, &[])), NOW_MS).is_err());
}
