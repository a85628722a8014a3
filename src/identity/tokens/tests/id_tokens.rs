//! ID tokens: for this client and this attempt alone, and never taken for access tokens.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ISSUER, MockIssuer, NOW_MS, NOW_S, Signer, identity, ok, set, with};
use crate::clock::ManualClock;
use crate::egress::{Client, Policy};
use crate::identity::tokens::{Asked, Failure, IdTokens, Published};

const CLIENT: &str = "studio";

fn payload(issuer: &str) -> Value {
    json!({
        "iss": issuer, "sub": "ada", "aud": CLIENT, "nonce": "n-1", "iat": NOW_S - 1, "exp": NOW_S + 300,
        "auth_time": NOW_S - 5, "email": "ada@acme.test", "email_verified": true, "name": "Ada", "org_id": "acme",
    })
}

async fn taken_by(signer: &Signer) -> (MockIssuer, IdTokens) {
    let mock = MockIssuer::new().await;
    mock.answer("/jwks", ok("", set(&[signer]).to_string()));
    let clock = Arc::new(ManualClock::at(NOW_MS));
    let jwks = mock.url("/jwks").parse().unwrap();
    let keys = Published::of(ISSUER, Some(jwks), Client::new(Policy::default()).unwrap(), clock.clone());
    (mock, IdTokens::of_provider(ISSUER, CLIENT, keys, clock))
}

fn header(signer: &Signer) -> Value {
    json!({ "alg": signer.algorithm, "kid": signer.id })
}

async fn verdict(tokens: &IdTokens, text: &str, anew_since_ms: Option<i64>) -> &'static str {
    match tokens.check(text, Asked { nonce: "n-1", anew_since_ms }).await {
        Ok(_) => "good",
        Err(Failure::Refused(refused)) => refused.cause(),
        Err(Failure::Unavailable) => "no keys",
    }
}

/// Security case 4, from the other side: only an ID token tells who signed in.
#[tokio::test]
async fn an_id_token_is_for_this_client_and_this_attempt() {
    let signer = Signer::rsa("k1", "RS256");
    let (_mock, tokens) = taken_by(&signer).await;
    let signed = |payload: &Value| signer.token_with(&header(&signer), payload);
    let good = payload(ISSUER);
    let several = with(good.clone(), "aud", json!([CLIENT, "another"]));
    for (what, payload, expected) in [
        ("as it should be", good.clone(), "good"),
        ("its client named twice", with(good.clone(), "azp", json!(CLIENT)), "good"),
        ("several audiences, ours in front", with(several.clone(), "azp", json!(CLIENT)), "good"),
        ("several audiences, nobody in front", several.clone(), "made for another client"),
        ("several audiences, another in front", with(several, "azp", json!("another")), "made for another client"),
        ("another audience", with(good.clone(), "aud", json!("another")), "made for another client"),
        ("another nonce", with(good.clone(), "nonce", json!("n-2")), "made for another attempt"),
        ("no nonce", with(good.clone(), "nonce", Value::Null), "made for another attempt"),
        ("another issuer", with(good.clone(), "iss", json!(format!("{ISSUER}/"))), "of another issuer"),
        ("ended", with(good.clone(), "exp", json!(NOW_S - 61)), "ended"),
        (
            "without an end",
            with(good.clone(), "exp", Value::Null),
            "exp, nbf or iat is missing or no number of seconds",
        ),
        (
            "without its time",
            with(good.clone(), "iat", Value::Null),
            "exp, nbf or iat is missing or no number of seconds",
        ),
        ("two days old", with(good.clone(), "iat", json!(NOW_S - 90_000)), "issued in the future or too long ago"),
    ] {
        assert_eq!(verdict(&tokens, &signed(&payload), None).await, expected, "{what}");
    }
    for typ in ["at+jwt", "logout+jwt", "application/at+jwt"] {
        let text = signer.token_with(&with(header(&signer), "typ", json!(typ)), &good);
        assert_eq!(verdict(&tokens, &text, None).await, "not an access token by its type", "{typ}");
    }
    let text = signer.token_with(&with(header(&signer), "typ", json!("JWT")), &good);
    assert_eq!(verdict(&tokens, &text, None).await, "good");
    let another = Signer::rsa("k1", "RS256");
    let forged = another.token_with(&header(&another), &good);
    assert_eq!(verdict(&tokens, &forged, None).await, "its signature is wrong");
    let unsigned = signer.token_with(&json!({ "alg": "none" }), &good);
    assert_eq!(verdict(&tokens, &unsigned, None).await, "its algorithm is not on the list");
}

#[tokio::test]
async fn a_fresh_proof_is_no_older_than_its_request_where_the_issuer_says() {
    let signer = Signer::es256("k1");
    let (_mock, tokens) = taken_by(&signer).await;
    let at = |auth_time: Value| signer.token_with(&header(&signer), &with(payload(ISSUER), "auth_time", auth_time));
    for (auth_time, expected) in [
        (json!(NOW_S - 5), "good"),
        (json!(NOW_S - 60), "good"),
        (Value::Null, "good"),
        (json!(NOW_S - 90), "of a sign-in before the one that was asked for"),
    ] {
        assert_eq!(verdict(&tokens, &at(auth_time.clone()), Some(NOW_MS - 10_000)).await, expected, "{auth_time}");
    }
    assert_eq!(verdict(&tokens, &at(json!(NOW_S - 90)), None).await, "good", "any sign-in does");
}

#[tokio::test]
async fn an_issuer_outside_says_the_org_too_and_a_provider_does_not() {
    let signer = Signer::es256("k1");
    let (mock, provider) = taken_by(&signer).await;
    let text = signer.token_with(&header(&signer), &payload(ISSUER));
    let asked = Asked { nonce: "n-1", anew_since_ms: None };
    let told = provider.check(&text, asked).await.unwrap();
    assert_eq!((told.subject.as_str(), told.org.as_deref(), told.role), ("ada", None, None));
    assert_eq!((told.email.as_deref(), told.email_verified), (Some("ada@acme.test"), true));
    let settings = identity(ISSUER, &[("IDENTITY_JWKS_URL", &mock.url("/jwks"))]);
    let clock = Arc::new(ManualClock::at(NOW_MS));
    let keys = Published::new(&settings, Client::new(Policy::default()).unwrap(), clock.clone());
    let told = IdTokens::of_issuer(&settings, CLIENT, keys, clock).check(&text, asked).await.unwrap();
    assert_eq!((told.org.as_deref(), told.role.map(|role| role.word())), (Some("acme"), Some("member")));
}
