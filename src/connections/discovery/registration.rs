//! Becoming a client of an issuer without anybody's help (RFC 7591).

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use zeroize::Zeroizing;

use super::Refused;
use super::learned::Learned;
use crate::connections::catalogue::ClientAuth;
use crate::egress::{self, Limits, Redirects};
use crate::json;

const WHAT: &str = "where clients register";
const MAX_DEPTH: usize = 16;
/// The longest id and secret.
const LONGEST: usize = 4_096;

/// A client as the issuer knows it. Never printed.
pub(super) struct Registered {
    pub(super) id: String,
    pub(super) secret: Option<Zeroizing<String>>,
    pub(super) method: ClientAuth,
    /// When the secret ends, in milliseconds since the epoch; `None` when it does not.
    pub(super) expires_at_ms: Option<i64>,
}

/// What is told of this client wherever it is told (RFC 7591, section 2).
pub(super) fn members(redirect: &str, method: &str) -> Value {
    json!({
        "client_name": "Playmaker",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    })
}

/// Registers a client that people come back to at `redirect`.
pub(super) async fn register(
    learned: &Learned<'_>,
    endpoint: Url,
    redirect: &str,
    method: &'static str,
    now_ms: i64,
) -> Result<Registered, Refused> {
    let mut asked = members(redirect, method);
    let is_local = Url::parse(redirect).is_ok_and(|url| url.scheme() == "http");
    asked["application_type"] = if is_local { "native" } else { "web" }.into();
    let request = egress::Request {
        method: Method::POST,
        headers: HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("application/json")),
        ]),
        body: Some(Bytes::from(asked.to_string())),
        provenance: learned.provenance(&endpoint),
        url: endpoint,
        limits: Limits::METADATA,
        redirects: Redirects::None,
    };
    let answer = learned.egress.send(request).await.map_err(|failure| Refused::of(failure, WHAT))?;
    let status = answer.status;
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(Refused::Unreachable(WHAT));
    }
    if !status.is_success() {
        return Err(Refused::NoClient("the issuer registers no client"));
    }
    let body = answer.body.bytes().await.map_err(|failure| Refused::of(failure, WHAT))?;
    read(&body, redirect, method, now_ms).ok_or(Refused::NoClient("what the issuer registered is of no use"))
}

#[derive(Deserialize)]
struct Answer {
    client_id: String,
    client_secret: Option<Zeroizing<String>>,
    client_secret_expires_at: Option<i64>,
    redirect_uris: Option<Vec<String>>,
    token_endpoint_auth_method: Option<String>,
}

/// The client of an answer (RFC 7591, section 3.2.1), which may differ from what was asked for.
pub(super) fn read(body: &[u8], redirect: &str, asked: &str, now_ms: i64) -> Option<Registered> {
    let value = json::strict(std::str::from_utf8(body).ok()?, MAX_DEPTH)?;
    let answer: Answer = serde_json::from_value(value).ok()?;
    let fits =
        |text: &str| (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    if !fits(&answer.client_id) || answer.redirect_uris.is_some_and(|all| !all.iter().any(|one| one == redirect)) {
        return None;
    }
    let method = match answer.token_endpoint_auth_method.as_deref().unwrap_or(asked) {
        "none" => ClientAuth::None,
        "client_secret_basic" => ClientAuth::ClientSecretBasic,
        "client_secret_post" => ClientAuth::ClientSecretPost,
        _ => return None,
    };
    if method == ClientAuth::None {
        return Some(Registered { id: answer.client_id, secret: None, method, expires_at_ms: None });
    }
    let secret = answer.client_secret.filter(|secret| fits(secret))?;
    // 0 is a secret that does not end.
    let expires_at_ms = match answer.client_secret_expires_at.unwrap_or(0) {
        0 => None,
        at => Some(at.checked_mul(1_000).filter(|end| *end > now_ms)?),
    };
    Some(Registered { id: answer.client_id, secret: Some(secret), method, expires_at_ms })
}
