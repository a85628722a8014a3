//! Token requests as they are written, and answers of every form.

use std::collections::BTreeMap;

use proptest::prelude::*;
use url::Url;
use zeroize::Zeroizing;

use super::answer;
use super::request::written;
use super::{Authentication, Client, Endpoint, Grant, Refusal, Signer, SigningAlgorithm, Tokens};
use crate::connections::catalogue::{AnswerForm, RequestBody, TokenAnswer};
use crate::egress::Provenance;

const NOW_MS: i64 = 1_790_847_000_000;

fn endpoint(authentication: Authentication, body: RequestBody) -> Endpoint {
    Endpoint {
        url: Url::parse("https://provider.example/token").unwrap(),
        provenance: Provenance::Person,
        client: Client { id: "a client".into(), authentication },
        body,
        answer: TokenAnswer::default(),
        codes: vec!["bad_code".into()],
        token_params: BTreeMap::from([("audience".into(), "api".into()), ("grant_type".into(), "other".into())]),
        refresh_params: BTreeMap::new(),
        resource: Some("https://server.example/mcp".into()),
    }
}

fn read(
    status: u16,
    content_type: Option<&str>,
    body: &[u8],
    rules: &TokenAnswer,
    now_ms: i64,
) -> Result<Tokens, Refusal> {
    let asked = Endpoint { answer: rules.clone(), ..endpoint(Authentication::None, RequestBody::Form) };
    answer::read((status, content_type, body), &asked, now_ms)
}

fn secret(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.into())
}

#[test]
fn a_request_is_written_as_the_file_says() {
    let code = Grant::Code { code: "c&d", verifier: Some("v"), redirect: "https://us.example/connect/return" };
    let (headers, body) = written(&endpoint(Authentication::Basic(secret("s:+")), RequestBody::Form), code, NOW_MS);
    assert_eq!(headers["authorization"], "Basic YSUyMGNsaWVudDpzJTNBJTJC", "each part is encoded by itself");
    assert_eq!(
        body,
        "audience=api&code=c%26d&code_verifier=v&grant_type=authorization_code&\
         redirect_uri=https%3A%2F%2Fus.example%2Fconnect%2Freturn&resource=https%3A%2F%2Fserver.example%2Fmcp"
    );
    let refresh = Grant::Refresh { refresh_token: "r" };
    let (headers, body) = written(&endpoint(Authentication::Post(secret("s")), RequestBody::Json), refresh, NOW_MS);
    assert!(!headers.contains_key("authorization") && headers["content-type"] == "application/json");
    assert_eq!(
        body,
        r#"{"client_id":"a client","client_secret":"s","grant_type":"refresh_token","refresh_token":"r","resource":"https://server.example/mcp"}"#
    );
    for authentication in [Authentication::None, Authentication::Post(secret(""))] {
        let (_, body) = written(&endpoint(authentication, RequestBody::Form), refresh, NOW_MS);
        assert!(!String::from_utf8_lossy(&body).contains("client_secret"), "an empty secret is never sent");
    }
}

#[test]
fn an_answer_is_read_by_what_it_says_it_is_then_by_its_look() {
    let json = r#"{"access_token":"a","token_type":"BEARER","scope":"x y","refresh_token":"r"}"#;
    let form = "access_token=a&scope=x%20y&refresh_token=r";
    for (content_type, body, reads) in [
        (Some("application/json"), json, true),
        (Some("text/plain"), json, true),
        (None, form, true),
        (Some("application/x-www-form-urlencoded; charset=utf-8"), form, true),
        (Some("application/json"), form, false),
        (Some("text/html"), "<p>a=b</p>", false),
        (Some("application/json"), r#"{"access_token":"a","access_token":"b"}"#, false),
        (None, "access_token=a&access_token=b", false),
        (Some("application/json"), r#"{"access_token":""}"#, false),
        (Some("application/json"), r#"{"access_token":"a\n"}"#, false),
        (Some("application/json"), r#"{"access_token":"a","token_type":"mac"}"#, false),
    ] {
        let read = read(200, content_type, body.as_bytes(), &TokenAnswer::default(), NOW_MS);
        assert_eq!(read.is_ok(), reads, "{content_type:?} {body}");
        if let Ok(tokens) = read {
            assert_eq!((tokens.access_token.as_str(), tokens.refresh_token.unwrap().as_str()), ("a", "r"));
            assert_eq!(tokens.grant.scopes.unwrap(), ["x", "y"]);
        }
    }
}

#[test]
fn members_stand_where_the_file_says() {
    let rules = TokenAnswer {
        access_token: Some("/authed_user/access_token".into()),
        scope: Some("/authed_user/scope".into()),
        error_in_200: true,
        default_lifetime: Some(7_200),
        ..TokenAnswer::default()
    };
    let body = br#"{"ok":true,"authed_user":{"access_token":"a","scope":"x,y"}}"#;
    let tokens = read(200, None, body, &rules, NOW_MS).ok().unwrap();
    assert_eq!(tokens.grant.scopes.unwrap(), ["x", "y"]);
    assert_eq!(tokens.grant.expires_at_ms, Some(NOW_MS + 7_200_000));
    let refused = read(200, None, br#"{"ok":false,"error":"bad_code"}"#, &rules, NOW_MS).err().unwrap();
    assert_eq!((refused.code.as_deref(), refused.status, refused.is_answer), (Some("bad_code"), Some(200), true));
}

#[test]
fn the_end_of_a_token_is_taken_from_wherever_it_is_told() {
    use base64::Engine;
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(r#"{"exp":1790850600}"#);
    let jwt = format!(r#"{{"access_token":"e30.{claims}.sig"}}"#);
    for (body, end_s) in [
        (r#"{"access_token":"a","expires_in":60}"#, Some(60)),
        (r#"{"access_token":"a","expires_in":"3600"}"#, Some(3_600)),
        (r#"{"access_token":"a","expires_in":90.7}"#, Some(90)),
        (r#"{"access_token":"a","expires_in":0}"#, Some(60)),
        (r#"{"access_token":"a","expires_in":1e300}"#, Some(31_536_000)),
        (r#"{"access_token":"a","expires_at":1790848000}"#, Some(1_000)),
        (r#"{"access_token":"a","expires_at":"2026-10-01T10:30:00Z"}"#, Some(3_600)),
        (r#"{"access_token":"a","expires_in":null}"#, None),
        (&jwt, Some(3_600)),
        (r#"{"access_token":"a"}"#, None),
    ] {
        let tokens = read(200, None, body.as_bytes(), &TokenAnswer::default(), NOW_MS).ok().unwrap();
        assert_eq!(tokens.grant.expires_at_ms, end_s.map(|end| NOW_MS + end * 1_000), "{body}");
    }
}

#[test]
fn no_text_of_a_provider_s_choosing_is_kept() {
    let rules = TokenAnswer::default();
    for (error, kept) in [
        ("invalid_grant", Some("invalid_grant")),
        ("bad_code", Some("bad_code")),
        ("unheard_of", None),
        ("gho_0123456789abcdef0123456789abcdef", None),
        ("<b>no</b>", None),
    ] {
        let body = format!(r#"{{"error":"{error}","error_description":"a secret"}}"#);
        let refused = read(400, Some("application/json"), body.as_bytes(), &rules, NOW_MS).err().unwrap();
        assert_eq!((refused.code.as_deref(), refused.is_answer), (kept, true));
        assert!(!format!("{refused:?}").contains("secret") && !format!("{refused:?}").contains("gho_"));
    }
    for (status, is_answer) in [(400, true), (401, true), (408, false), (425, false), (429, false), (500, false)] {
        assert_eq!(read(status, None, b"", &rules, NOW_MS).err().unwrap().is_answer, is_answer, "{status}");
    }
}

/// RFC 7523, section 3: who asks, for whom, for how long, and once.
#[test]
fn a_client_is_proved_by_what_its_own_key_signs() {
    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let ids = crate::ids::Ids::new(std::sync::Arc::new(crate::ids::SystemEntropy));
    let pem = |der: &[u8]| {
        let body = STANDARD.encode(der);
        let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
    };
    let of_curve = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let of_edwards = Ed25519KeyPair::generate().unwrap();
    let of_primes = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
    let curve = pem(of_curve.to_pkcs8v1().unwrap().as_ref());
    let edwards = pem(of_edwards.to_pkcs8v1().unwrap().as_ref());
    let primes = pem(AsDer::<Pkcs8V1Der<'_>>::as_der(&of_primes).unwrap().as_ref());
    for (algorithm, own) in [
        (SigningAlgorithm::ES256, &curve),
        (SigningAlgorithm::EdDSA, &edwards),
        (SigningAlgorithm::RS256, &primes),
        (SigningAlgorithm::PS256, &primes),
    ] {
        for other in [&curve, &edwards, &primes] {
            assert_eq!(Signer::of(other, algorithm, &ids).is_some(), other == own, "{algorithm:?}");
        }
        let signer = Signer::of(own, algorithm, &ids).unwrap();
        let endpoint = endpoint(Authentication::PrivateKeyJwt(Box::new(signer)), RequestBody::Form);
        let refresh = Grant::Refresh { refresh_token: "r" };
        let sent = || {
            let (headers, body) = written(&endpoint, refresh, NOW_MS);
            assert!(!headers.contains_key("authorization"));
            url::form_urlencoded::parse(&body).into_owned().collect::<BTreeMap<String, String>>()
        };
        let (first, second) = (sent(), sent());
        assert_eq!(first["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        let claims = |sent: &BTreeMap<String, String>| -> serde_json::Value {
            let part = sent["client_assertion"].split('.').nth(1).unwrap();
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
        };
        let (one, two) = (claims(&first), claims(&second));
        assert_eq!(
            (&one["iss"], &one["sub"], &one["aud"]),
            (&"a client".into(), &"a client".into(), &endpoint.url.as_str().into())
        );
        assert_eq!(one["exp"].as_i64().unwrap() - one["iat"].as_i64().unwrap(), 60);
        assert_ne!(one["jti"], two["jti"], "each is good for once");
        let kept = Client::of_text(&endpoint.client.text(), &ids).unwrap();
        assert_eq!(kept.text(), endpoint.client.text());
    }
    assert!(Signer::of("not a key", SigningAlgorithm::ES256, &ids).is_none());
}

proptest! {
    #[test]
    fn no_answer_does_any_harm(status in 100_u16..600, body in proptest::collection::vec(any::<u8>(), 0..200)) {
        for answer in [AnswerForm::Auto, AnswerForm::Json, AnswerForm::Form] {
            let rules = TokenAnswer { answer, ..TokenAnswer::default() };
            if let Ok(tokens) = read(status, None, &body, &rules, NOW_MS) {
                prop_assert!((200..300).contains(&status) && !tokens.access_token.is_empty());
            }
        }
    }
}
