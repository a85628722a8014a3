//! An issuer outside changes its signing key: the new one is found at the first token it signed, the old one counts as long
//! as it is published, and for a while when the issuer does not answer (`identity.md` 5.3).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use playmaker::clock::Clock;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Load, holder, succeeded};
use crate::support::app::TestApp;
use crate::support::eventually;

const P: &str = "https://pm.example";
const MINUTE_MS: i64 = 60_000;

/// The issuer: what it publishes, and what it signs with.
#[derive(Default)]
struct Keys {
    published: Mutex<Vec<(String, Value)>>,
    signing: Mutex<Option<(String, EncodingKey)>>,
    down: Mutex<bool>,
    asked: AtomicUsize,
}

impl Keys {
    /// Publishes one more key.
    fn add(&self, kid: &str) -> EncodingKey {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let point = pair.public_key().as_ref()[1..].to_vec();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[..32]), URL_SAFE_NO_PAD.encode(&point[32..]));
        let jwk = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, "use": "sig", "alg": "ES256" });
        self.published.lock().unwrap().push((kid.to_owned(), jwk));
        EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref())
    }

    fn sign_with(&self, kid: &str, key: EncodingKey) {
        *self.signing.lock().unwrap() = Some((kid.to_owned(), key));
    }

    fn take_out_oldest(&self) {
        self.published.lock().unwrap().remove(0);
    }

    fn answer(&self) -> Response {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if *self.down.lock().unwrap() {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        let keys: Vec<Value> = self.published.lock().unwrap().iter().map(|(_, jwk)| jwk.clone()).collect();
        Json(json!({ "keys": keys })).into_response()
    }

    /// A token of now, as this issuer gives it to a person of the org `north`.
    fn token(&self, issuer: &str, now_ms: i64) -> String {
        let signing = self.signing.lock().unwrap();
        let (kid, key) = signing.as_ref().unwrap();
        let mut header = Header::new(Algorithm::ES256);
        (header.kid, header.typ) = (Some(kid.clone()), Some("at+jwt".to_owned()));
        let now = now_ms / 1_000;
        let claims = json!({
            "iss": issuer, "sub": "ada", "aud": format!("{P}/v1"), "iat": now, "exp": now + 900, "client_id": "desk",
            "scope": "org:read", "org_id": "north", "org_role": "admin", "name": "Ada", "jti": "one",
        });
        jsonwebtoken::encode(&header, &claims, key).unwrap()
    }
}

/// Five rotations, and an hour in which the issuer does not answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_issuers_key_is_rotated_under_load() {
    let keys = Arc::new(Keys::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let router = Router::new().route(
        "/jwks",
        get({
            let keys = keys.clone();
            async move || keys.answer()
        }),
    );
    tokio::spawn(async move { axum::serve(listener, router).await });
    let key = keys.add("key-0");
    keys.sign_with("key-0", key);

    let jwks = format!("{issuer}/jwks");
    let settings = [("PUBLIC_URL", P), ("IDENTITY_ISSUER", &issuer), ("IDENTITY_JWKS_URL", &jwks)];
    let settings = [&settings[..], &[("RATE_CALLER", "1000000/1000000")]].concat();
    let server = TestApp::with(&settings).await;
    let load = Load::begin(|_| {
        let (keys, issuer, clock, anyone) = (keys.clone(), issuer.clone(), server.clock.clone(), server.anyone());
        let (mut round, mut token) = (0, String::new());
        Box::new(move |now| {
            // A token is used for a whole round, so one of the key before is still around when the next one signs.
            if now != round {
                (round, token) = (now, keys.token(&issuer, clock.now_ms()));
            }
            let caller = holder(&anyone, &token);
            Box::pin(async move { succeeded(&caller.get("/v1/orgs/north/playbooks").await) })
        })
    });
    load.round().await;
    for number in 1..=5 {
        let kid = format!("key-{number}");
        let key = keys.add(&kid);
        let before = keys.asked.load(Ordering::SeqCst);
        keys.sign_with(&kid, key);
        load.round().await;
        assert_eq!(keys.asked.load(Ordering::SeqCst), before + 1, "one fetch for all who come with the new key");
        load.round().await;
        // Tokens of the old key have ended; it goes, and the next fetch is without it.
        keys.take_out_oldest();
        let before = keys.asked.load(Ordering::SeqCst);
        server.clock.advance_ms(11 * MINUTE_MS);
        load.round().await;
        let fetched = async || (keys.asked.load(Ordering::SeqCst) > before).then_some(());
        eventually("the set is fetched once it is no longer fresh", fetched).await;
    }
    *keys.down.lock().unwrap() = true;
    for _ in 0..6 {
        server.clock.advance_ms(11 * MINUTE_MS);
        load.round().await;
    }
    assert!(load.end().await >= 20 * super::CALLERS);
}
