//! How answers are written: the one event of a stream, the JSON of a refusal, the document of an HTTP trouble.

use axum::body::Body;
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::Value;

use super::message::Refused;
use super::rpc::RpcError;
use crate::error::Problem;

/// What is written when a stream stayed silent.
pub(super) const HEARTBEAT_COMMENT: Bytes = Bytes::from_static(b": heartbeat\n\n");

const BEFORE_DATA: &[u8] = b"event: message\ndata: ";

#[derive(Serialize)]
struct Success<'a, R> {
    jsonrpc: &'static str,
    id: &'a Value,
    result: &'a R,
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    error: &'a RpcError,
}

/// The event that carries a result.
pub(super) fn result_event(id: &Value, result: &impl Serialize) -> Bytes {
    let jsonrpc = "2.0";
    event(&Success { jsonrpc, id, result }).unwrap_or_else(|error| {
        tracing::error!(error = %error, "a result could not be written as JSON");
        error_event(id, &RpcError::internal())
    })
}

/// The event that carries an error.
pub(super) fn error_event(id: &Value, error: &RpcError) -> Bytes {
    let (jsonrpc, id) = ("2.0", Some(id));
    // An error is text and plain data, whose writing cannot fail; if it ever did, the stream would end without an answer.
    event(&Failure { jsonrpc, id, error }).unwrap_or_default()
}

fn event(message: &impl Serialize) -> Result<Bytes, serde_json::Error> {
    let mut out = Vec::with_capacity(1024);
    out.extend_from_slice(BEFORE_DATA);
    serde_json::to_writer(&mut out, message)?;
    // A line break between the tokens of a value written elsewhere would end the event's line; inside texts they are escaped.
    for byte in &mut out[BEFORE_DATA.len()..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    out.extend_from_slice(b"\n\n");
    Ok(Bytes::from(out))
}

/// The stream's answer, whose body brings the event.
pub(super) fn stream_response(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// A request refused before it is handled: a JSON-RPC error with its own status.
pub(super) fn refusal(status: StatusCode, refused: &Refused) -> Response<Body> {
    let (jsonrpc, id, error) = ("2.0", refused.id.as_ref(), &*refused.error);
    json_response(status, "application/json", &Failure { jsonrpc, id, error })
}

/// 202 to a notification.
pub(super) fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// An HTTP trouble as a problem document (RFC 9457).
pub(super) fn problem_response(problem: &Problem) -> Response<Body> {
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, "application/problem+json", &problem.document());
    let headers = response.headers_mut();
    if let Some(methods) = problem.allowed_methods() {
        headers.insert(ALLOW, HeaderValue::from_static(methods));
    }
    if let Some(seconds) = problem.retry_after_s() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn json_response(status: StatusCode, kind: &'static str, document: &impl Serialize) -> Response<Body> {
    let mut response = Response::new(Body::from(serde_json::to_vec(document).unwrap_or_default()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
