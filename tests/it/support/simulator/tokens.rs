//! The token endpoint of the simulated provider, and where its tokens are revoked.

use axum::Json;
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use playmaker::digest::sha256;
use serde_json::{Map, Value, json};

use super::grants::Given;
use super::quirks::{Answers, Fault, Proof, Quirks, WORDS};
use super::requests::Request;
use super::{CLIENT, SECRET, State};

impl State {
    /// Codes and refresh tokens become tokens, unless a fault of the test comes first.
    pub(super) async fn token(&self, request: &Request) -> Response {
        let fault = self.quirks.lock().unwrap().faults.pop_front();
        if let Some(response) = fault.as_ref().and_then(instead) {
            return response;
        }
        let response = self.granted(request);
        match fault {
            Some(Fault::Hang) => {
                *self.held.lock().unwrap() += 1;
                self.released.acquire().await.unwrap().forget();
                *self.held.lock().unwrap() -= 1;
                response
            }
            Some(Fault::Cut) => ([(CONTENT_TYPE, "application/json")], "{\"access_token\": \"sim-ac").into_response(),
            _ => response,
        }
    }

    /// The client says that it wants a token no more; the whole family ends (RFC 7009, section 2.1).
    pub(super) fn revoke(&self, request: &Request) -> Response {
        if !proves(request, self.quirks().proof) {
            return error(StatusCode::UNAUTHORIZED, "invalid_client");
        }
        self.grants().revoke(request.member("token"));
        StatusCode::OK.into_response()
    }

    fn granted(&self, request: &Request) -> Response {
        let (quirks, now) = (self.quirks(), self.now_ms());
        if request.method != "POST" || request.is_json != quirks.wants_json {
            return error(StatusCode::BAD_REQUEST, "invalid_request");
        }
        if !proves(request, quirks.proof) {
            return error(StatusCode::UNAUTHORIZED, "invalid_client");
        }
        let given = match request.member("grant_type") {
            "authorization_code" => {
                let code = self.grants().take(request.member("code"));
                let code = code.filter(|code| {
                    let verifier = URL_SAFE_NO_PAD.encode(sha256(request.member("code_verifier")));
                    let proved = code.challenge.as_ref().is_none_or(|challenge| *challenge == verifier);
                    let resource = code.resource.as_deref().unwrap_or_default() == request.member("resource");
                    proved && resource && code.redirect == request.member("redirect_uri")
                });
                code.map(|code| self.grants().begin(code, &quirks, now))
            }
            "refresh_token" => self.grants().renew(request.member("refresh_token"), &quirks, now),
            _ => return error(StatusCode::BAD_REQUEST, "unsupported_grant_type"),
        };
        given.map_or_else(|| error(StatusCode::BAD_REQUEST, "invalid_grant"), |given| answer(&given, &quirks))
    }
}

/// What comes in place of an answer, where nothing is done at all.
fn instead(fault: &Fault) -> Option<Response> {
    Some(match fault {
        Fault::Status(status) => (StatusCode::from_u16(*status).unwrap(), WORDS).into_response(),
        Fault::Later(status, seconds) => {
            (StatusCode::from_u16(*status).unwrap(), [(RETRY_AFTER, seconds.to_string())], WORDS).into_response()
        }
        Fault::Refuse(code) => error(StatusCode::BAD_REQUEST, code),
        Fault::RefuseIn200(code) => error(StatusCode::OK, code),
        Fault::Html => Html(format!("<h1>{WORDS}</h1>")).into_response(),
        Fault::Huge => {
            let huge = format!("{{\"access_token\": \"sim-huge\", \"padding\": \"{}\"}}", "x".repeat(10 << 20));
            ([(CONTENT_TYPE, "application/json")], huge).into_response()
        }
        Fault::Hang | Fault::Cut => return None,
    })
}

fn error(status: StatusCode, code: &str) -> Response {
    (status, Json(json!({ "error": code, "error_description": WORDS }))).into_response()
}

/// Whether the request proves the client the one way that is taken, and no other way besides (RFC 6749, section 2.3).
fn proves(request: &Request, proof: Proof) -> bool {
    let encoded =
        |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20");
    let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(CLIENT), encoded(SECRET))));
    let (named, secret) = (request.member("client_id") == CLIENT, request.member("client_secret"));
    match proof {
        Proof::Basic => request.authorization == basic && secret.is_empty(),
        Proof::Post => named && secret == SECRET && request.authorization.is_empty(),
        Proof::None => named && secret.is_empty() && request.authorization.is_empty(),
    }
}

fn answer(given: &Given, quirks: &Quirks) -> Response {
    let mut members = Map::new();
    members.insert("access_token".into(), given.access_token.as_str().into());
    members.insert("token_type".into(), "Bearer".into());
    if let Some(refresh) = &given.refresh_token {
        members.insert("refresh_token".into(), refresh.as_str().into());
    }
    if let Some(life) = &quirks.expires_in {
        members.insert("expires_in".into(), life.clone());
    }
    if quirks.says_scopes {
        members.insert("scope".into(), given.scopes.join(" ").into());
    }
    match quirks.answers {
        Answers::Json => Json(Value::Object(members)).into_response(),
        Answers::Nested => Json(json!({ "ok": true, "authed_user": members })).into_response(),
        Answers::Form => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in &members {
                form.append_pair(name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            }
            ([(CONTENT_TYPE, "application/x-www-form-urlencoded")], form.finish()).into_response()
        }
    }
}
