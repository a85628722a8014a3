//! A [`Problem`] as an HTTP answer (RFC 9457), with the headers its reason asks for. Its challenge
//! becomes a header at the entrance, which knows the path.

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};

use super::challenge::Pending;
use crate::error::Problem;

/// The media type of a problem document.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// 404 in the words of a path at which nothing stands, also for who may not know what does.
pub fn nothing() -> Problem {
    Problem::not_found("There is nothing at this path.")
}

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
    if let Some(methods) = problem.allowed_methods() {
        headers.insert(ALLOW, HeaderValue::from_static(methods));
    }
    if let Some(challenge) = problem.challenge_of() {
        response.extensions_mut().insert(Pending { challenge, scopes: problem.scopes_of().to_vec() });
    }
    response
}
