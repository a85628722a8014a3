//! What goes on the wire: refusals as RFC 6749 section 5.2 has them, redirects to clients, forms.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;

use crate::app::App;
use crate::error::{Problem, RETRY_AFTER_S, Reason};
use crate::http::{body, problems};
use crate::identity::oauth::parameters::Parameters;
use crate::identity::oauth::refusal::{Code, Refusal};
use crate::operations::noted;

/// The most bytes of a form.
const LONGEST_FORM: usize = 64 << 10;
const FORM: &str = "application/x-www-form-urlencoded";

/// A JSON answer that nobody keeps.
pub(super) fn json_answer(status: StatusCode, text: String) -> Response {
    let mut response = (status, text).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// A refusal as JSON. A failure of our own is logged once, under the request's id.
pub(super) fn refused(refusal: Refusal, request_id: &str) -> Response {
    if let Some(problem) = refusal.source.as_deref().filter(|problem| problem.reason() == Reason::TooManyRequests) {
        return problems::response(problem);
    }
    let body = json!({ "error": refusal.code.word(), "error_description": refusal.words });
    let status = StatusCode::from_u16(refusal.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_answer(status, body.to_string());
    if refusal.basic {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"oauth\""));
    }
    if refusal.code == Code::TemporarilyUnavailable {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
    logged(refusal, request_id);
    response
}

/// Logs what stands behind a refusal, where it is ours.
pub(super) fn logged(refusal: Refusal, request_id: &str) {
    if let Some(problem) = refusal.source {
        drop(noted(*problem, request_id));
    }
}

/// To an address of the client's, which was checked before.
pub(super) fn leave(status: StatusCode, address: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(address) else {
        return problems::response(&Problem::internal("a return address that no header can hold"));
    };
    (status, [(LOCATION, location), (CACHE_CONTROL, HeaderValue::from_static("no-store"))]).into_response()
}

/// The parameters of a form body.
pub(super) async fn form(app: &App, headers: &HeaderMap, body: Body) -> Result<Parameters, Refusal> {
    const WORDS: &str = "Send the parameters as application/x-www-form-urlencoded, at most 64 KiB";
    let mut types = headers.get_all(CONTENT_TYPE).iter().filter_map(|value| value.to_str().ok());
    let media_type = types.next().and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case(FORM) || types.next().is_some() {
        return Err(Refusal::request(WORDS));
    }
    let bytes: Bytes = body::read_body(&app.limits.bodies, body).await.map_err(|_| Refusal::request(WORDS))?;
    if bytes.len() > LONGEST_FORM { Err(Refusal::request(WORDS)) } else { Ok(Parameters::of(&bytes)) }
}
