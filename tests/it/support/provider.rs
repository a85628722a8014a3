//! A provider of identities of somebody else, inside the test: whoever is said to sign in there does, and it counts who asks
//! for tokens.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, StatusCode, Uri};
use playmaker::digest::sha256;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Studio's client there.
pub const CLIENT: &str = "studio";
/// Its secret, with a character that has to be encoded.
pub const SECRET: &str = "a secret:of studio";

/// The provider. It ends with the test.
pub struct Provider {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    issuer: String,
    key: EcdsaKeyPair,
    /// What a code is good for: the challenge and the claims.
    codes: Mutex<HashMap<String, (String, Value)>>,
    requests: Mutex<Vec<(String, HashMap<String, String>)>>,
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The parameters of an address.
pub fn query(address: &str) -> HashMap<String, String> {
    let url = url::Url::parse(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    url.query_pairs().into_owned().collect()
}

impl Provider {
    /// One on a port of its own.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            issuer: format!("http://localhost:{}", address.port()),
            key: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            codes: Mutex::default(),
            requests: Mutex::default(),
        });
        let shared = state.clone();
        let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let state = shared.clone();
            async move { state.answer(&uri, &headers, &body) }
        });
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state }
    }

    /// Its identifier.
    pub fn issuer(&self) -> String {
        format!("http://localhost:{}", self.address.port())
    }

    /// Its entry of `SIGN_IN_PROVIDERS`, with these members besides.
    pub fn entry(&self, name: &str, more: Value) -> Value {
        let mut entry = json!({
            "name": name, "title": "Acme", "issuer": self.issuer(), "client_id": CLIENT,
            "client_secret": "${ACME_SECRET}",
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    }

    /// The token requests that reached it: their `Authorization` and their form.
    pub fn token_requests(&self) -> Vec<(String, HashMap<String, String>)> {
        self.state.requests.lock().unwrap().clone()
    }

    /// Somebody of these claims signs in at the address a browser was sent to; the path and query it comes back to.
    pub fn signs_in(&self, visited: &str, now_ms: i64, claims: Value) -> String {
        assert!(visited.starts_with(&format!("{}/authorize?", self.issuer())), "{visited}");
        let asked = query(visited);
        assert_eq!((asked["response_type"].as_str(), asked["client_id"].as_str()), ("code", CLIENT));
        assert_eq!(asked["code_challenge_method"], "S256");
        let now = now_ms / 1_000;
        let mut payload = json!({
            "iss": self.issuer(), "aud": CLIENT, "nonce": asked["nonce"], "iat": now, "exp": now + 300,
        });
        payload.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
        let code = format!("code-{}", self.state.codes.lock().unwrap().len());
        self.state.codes.lock().unwrap().insert(code.clone(), (asked["code_challenge"].clone(), payload));
        self.answers(visited, &[("code", &code)])
    }

    /// The path and query a browser comes back to with these parameters, the state and who answers.
    pub fn answers(&self, visited: &str, parameters: &[(&str, &str)]) -> String {
        let asked = query(visited);
        let mut back = url::Url::parse(&asked["redirect_uri"]).unwrap();
        back.query_pairs_mut()
            .extend_pairs(parameters)
            .append_pair("state", &asked["state"])
            .append_pair("iss", &self.issuer());
        format!("{}?{}", back.path(), back.query().unwrap())
    }
}

impl State {
    fn answer(&self, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Response {
        match uri.path() {
            "/.well-known/openid-configuration" => Json(json!({
                "issuer": self.issuer, "jwks_uri": format!("{}/jwks", self.issuer),
                "authorization_endpoint": format!("{}/authorize", self.issuer),
                "token_endpoint": format!("{}/token", self.issuer),
                "end_session_endpoint": format!("{}/sign-out", self.issuer),
                "authorization_response_iss_parameter_supported": true,
                "code_challenge_methods_supported": ["S256"],
            }))
            .into_response(),
            "/jwks" => {
                let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
                let key = json!({ "kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y), "kid": "k1" });
                Json(json!({ "keys": [key] })).into_response()
            }
            "/token" => self.token(headers, body),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    fn token(&self, headers: &HeaderMap, body: &Bytes) -> Response {
        let form: HashMap<String, String> = url::form_urlencoded::parse(body).into_owned().collect();
        let credential = headers.get("authorization").map_or("", |value| value.to_str().unwrap()).to_owned();
        self.requests.lock().unwrap().push((credential, form.clone()));
        let known = self.codes.lock().unwrap().remove(&form["code"]);
        let Some((_, payload)) = known.filter(|(challenge, _)| *challenge == encoded(sha256(&form["code_verifier"])))
        else {
            let refusal = json!({ "error": "invalid_grant", "error_description": "words of the provider" });
            return (StatusCode::BAD_REQUEST, Json(refusal)).into_response();
        };
        let header = json!({ "alg": "ES256", "kid": "k1" });
        let message = format!("{}.{}", encoded(header.to_string()), encoded(payload.to_string()));
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        let token = format!("{message}.{}", encoded(signature.as_ref()));
        let answer = json!({ "access_token": "a-token-of-acme", "token_type": "Bearer", "id_token": token });
        Json(answer).into_response()
    }
}
