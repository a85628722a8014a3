//! Clients prove themselves the way they registered, and no other (security case 49).

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use super::{BACK, P, Scene, VERIFIER, form, text};
use crate::support::people::Answer;

const NOW: i64 = 1_790_847_000;

impl Scene {
    async fn exchange_with(&self, client: &str, authorization: Option<&str>, more: &[(&str, &str)]) -> Answer {
        let code = self.code(client, &[]).await;
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
        ];
        pairs.extend(more);
        let caller = self.server.anyone();
        let caller = match authorization {
            Some(value) => caller.with("authorization", value),
            None => caller,
        };
        form(&caller, "/oauth/token", &pairs).await
    }
}

fn basic(id: &str, secret: &str) -> String {
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret))))
}

/// Security case 49. In the conformance suite: `auth/token-endpoint-auth-basic`, `auth/token-endpoint-auth-post`,
/// `auth/token-endpoint-auth-none`.
#[tokio::test]
async fn each_method_is_taken_from_clients_that_registered_it() {
    let scene = Scene::new().await;
    for method in ["none", "client_secret_basic", "client_secret_post"] {
        let made = scene.registered(json!({ "token_endpoint_auth_method": method })).await;
        let id = text(&made, "client_id");
        let secret = made["client_secret"].as_str().unwrap_or("pms_none").to_owned();
        let header = basic(&id, &secret);
        for (tried, authorization, more) in [
            ("none", None, vec![("client_id", id.as_str())]),
            ("client_secret_basic", Some(header.as_str()), vec![]),
            ("client_secret_post", None, vec![("client_id", id.as_str()), ("client_secret", secret.as_str())]),
        ] {
            let answer = scene.exchange_with(&id, authorization, &more).await;
            if tried == method {
                answer.done(200);
            } else {
                assert_eq!(answer.oauth_error(401), "invalid_client", "{method} by {tried}");
                let challenge = if authorization.is_some() { "Basic realm=\"oauth\"" } else { "" };
                assert_eq!(answer.header("www-authenticate"), challenge);
            }
        }
    }
}

/// Security case 49.
#[tokio::test]
async fn a_wrong_secret_and_two_ways_at_once_are_refused() {
    let scene = Scene::new().await;
    let made = scene.registered(json!({ "token_endpoint_auth_method": "client_secret_basic" })).await;
    let (id, secret) = (text(&made, "client_id"), text(&made, "client_secret"));
    for header in
        [basic(&id, "pms_wrong"), basic(&id, ""), basic("client_nobody", &secret), "Basic !".into(), "Bearer x".into()]
    {
        let answer = scene.exchange_with(&id, Some(&header), &[]).await;
        assert_eq!(answer.oauth_error(401), "invalid_client", "{header}");
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"oauth\"");
    }
    let good = basic(&id, &secret);
    for more in [[("client_secret", secret.as_str())], [("client_assertion", "a.b.c")], [("client_id", "client_other")]]
    {
        assert_eq!(scene.exchange_with(&id, Some(&good), &more).await.oauth_error(400), "invalid_request");
    }
    scene.exchange_with(&id, Some(&good), &[("client_id", &id)]).await.done(200);
}

/// In the conformance suite: `auth/pre-registration`.
#[tokio::test]
async fn a_configured_client_is_known_by_its_digest() {
    let secret = "s:cret+ü of the desk";
    let entry = json!([{
        "id": "desk", "name": "Desk", "redirect_uris": [BACK], "method": "client_secret_basic",
        "sha256": playmaker::digest::sha256_hex(secret),
    }]);
    let scene = Scene::with(&[("OAUTH_CLIENTS", &entry.to_string())]).await;
    let answer = scene.exchange_with("desk", Some(&basic("desk", secret)), &[]).await;
    assert!(answer.done(200)["refresh_token"].is_string());
}

/// A key pair on P-256: the private part, and the public one as a JWK.
fn pair(kid: &str) -> (EncodingKey, Value) {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let point = pair.public_key().as_ref()[1..].to_vec();
    let (x, y) = (URL_SAFE_NO_PAD.encode(&point[..32]), URL_SAFE_NO_PAD.encode(&point[32..]));
    let jwk = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, "use": "sig", "alg": "ES256" });
    (EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref()), jwk)
}

fn assertion(key: &EncodingKey, kid: &str, claims: &Value) -> String {
    let mut header = Header::new(Algorithm::ES256);
    header.kid = Some(kid.to_owned());
    jsonwebtoken::encode(&header, claims, key).unwrap()
}

#[tokio::test]
async fn an_assertion_proves_its_signer_once() {
    const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let scene = Scene::new().await;
    let (key, jwk) = pair("one");
    let (stranger, _) = pair("one");
    let metadata = json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks": { "keys": [jwk] } });
    let made = scene.registered(metadata).await;
    let id = text(&made, "client_id");
    let claims = |jti: &str| json!({ "iss": id, "sub": id, "aud": P, "exp": NOW + 300, "iat": NOW, "jti": jti });
    let prove = |text: String| {
        let (scene, id) = (&scene, &id);
        async move { scene.exchange_with(id, None, &[("client_assertion", &text), ("client_assertion_type", TYPE)]).await }
    };
    let first = assertion(&key, "one", &claims("1"));
    prove(first.clone()).await.done(200);
    assert_eq!(prove(first).await.oauth_error(401), "invalid_client", "a second time");
    let mut at_token = claims("2");
    at_token["aud"] = json!(["https://other.example", "https://pm.example/oauth/token"]);
    prove(assertion(&key, "one", &at_token)).await.done(200);
    let changed = |member: &str, value: Value| {
        let mut claims = claims(member);
        claims[member] = value;
        assertion(&key, "one", &claims)
    };
    for bad in [
        assertion(&stranger, "one", &claims("3")),
        assertion(&key, "two", &claims("4")),
        changed("iss", json!("client_other")),
        changed("aud", json!("https://other.example")),
        changed("exp", json!(NOW - 60)),
        changed("exp", json!(NOW + 361)),
        changed("exp", Value::Null),
        changed("nbf", json!(NOW + 61)),
        changed("iat", json!(NOW + 61)),
        changed("jti", json!("")),
        changed("jti", Value::Null),
        "a.b.c".to_owned(),
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims("5"), &EncodingKey::from_secret(b"x").unwrap())
            .unwrap(),
    ] {
        let told = prove(bad.clone()).await;
        assert_eq!((told.status, text(&told.json(), "error")), (401, "invalid_client".to_owned()), "{bad}");
    }
    let untyped = scene.exchange_with(&id, None, &[("client_assertion", "a.b.c"), ("client_id", &id)]).await;
    assert_eq!(untyped.oauth_error(400), "invalid_request");
}
