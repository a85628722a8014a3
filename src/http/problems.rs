//! A [`Problem`] as an HTTP answer (RFC 9457), with the headers its reason asks for.

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};

use crate::error::{Challenge, Problem};

/// The media type of a problem document.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// The answer that tells `problem`.
pub fn response(problem: &Problem) -> Response {
    let mut response = Response::new(Body::from(problem.document().to_string()));
    *response.status_mut() =
        http::StatusCode::from_u16(problem.status()).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = problem.retry_after_s() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(challenge) = problem.challenge_of() {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge_text(challenge)));
    }
    if let Some(methods) = problem.allowed_methods() {
        headers.insert(ALLOW, HeaderValue::from_static(methods));
    }
    response
}

/// The challenge on the wire (RFC 6750, section 3), where no sign-in names its metadata.
const fn challenge_text(challenge: Challenge) -> &'static str {
    match challenge {
        Challenge::Missing => "Bearer",
        Challenge::InvalidRequest => "Bearer error=\"invalid_request\"",
        Challenge::InvalidToken => "Bearer error=\"invalid_token\"",
        Challenge::InsufficientScope => "Bearer error=\"insufficient_scope\"",
    }
}
