//! One request from its headers to its answer: steps 5 to 10 of `mcp.md` 2.3.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::FutureExt;
use http::header::CONTENT_LENGTH;
use http::{Method as HttpMethod, Response, StatusCode, request::Parts};

use super::message::{self, Refused};
use super::methods::{self, Method};
use super::revision::Era;
use super::rpc::RpcError;
use super::service::Service;
use super::stream::{Answering, Work};
use super::{MAX_BODY_BYTES, Stopping, agreement, media, wire};
use crate::error::{Problem, Reason};

/// Serves a request that [`admit`] let through, whose body was read.
pub async fn serve<S: Service>(
    service: S,
    parts: &Parts,
    body: Bytes,
    stopping: &Stopping,
    heartbeat: Duration,
) -> Response<Body> {
    let (message, method, agreement) = match check(&service, parts, &body) {
        Checked::Handle(message, method, agreement) => (message, method, agreement),
        Checked::Notified => return wire::accepted(),
        Checked::Refused(status, refused) => return wire::refusal(status, &refused),
        Checked::Paced(problem) => return wire::problem_response(&problem),
    };
    // The message holds what it needs of it.
    drop(body);
    let id = message.id.clone().unwrap_or_default();
    let watch = service.watch();
    let mut work = guarded(service, method, agreement, message, id.clone());
    // Most answers need no waiting: asked once, they are one frame, with no timer and nothing to watch.
    let first = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
    wire::stream_response(match first {
        Poll::Ready(event) => Body::from(event),
        Poll::Pending => Body::new(Answering::new(work, id, stopping, heartbeat, watch)),
    })
}

/// Step 5, as far as the headers tell: method, `Accept`, `Content-Type` and a length that is too large already.
pub fn admit(parts: &Parts) -> Result<(), Problem> {
    if parts.method != HttpMethod::POST {
        let problem = Problem::new(Reason::MethodNotAllowed, "This endpoint takes POST alone.");
        return Err(problem.allow("POST, OPTIONS"));
    }
    if !media::accepts_both(&parts.headers) {
        return Err(Problem::new(
            Reason::NotAcceptable,
            "Accept must take both application/json and text/event-stream.",
        ));
    }
    if !media::is_json(&parts.headers) {
        return Err(Problem::new(
            Reason::UnsupportedMediaType,
            "The body must be application/json in UTF-8, not encoded.",
        ));
    }
    let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    match length.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length > MAX_BODY_BYTES as u64 => Err(too_large()),
        _ => Ok(()),
    }
}

fn too_large() -> Problem {
    Problem::new(Reason::ContentTooLarge, "The body is larger than 1 MiB.")
}

/// A request that passed the checks, or the answer it gets at once.
enum Checked {
    Handle(message::Message, Method, agreement::Agreement),
    Notified,
    Refused(StatusCode, Refused),
    Paced(Problem),
}

/// Steps 6 to 9.
fn check<S: Service>(service: &S, parts: &Parts, body: &[u8]) -> Checked {
    let message = match message::read(body) {
        Ok(message) => message,
        Err(refused) => return Checked::Refused(StatusCode::BAD_REQUEST, refused),
    };
    let refuse = |status, id, error| {
        let error = Box::new(error);
        Checked::Refused(status, Refused { id, error })
    };
    let agreement = match agreement::agree(&message, &parts.headers) {
        Ok(agreement) => agreement,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, message.id, error),
    };
    if message.id.is_none() {
        return Checked::Notified;
    }
    match Method::known(&message.method, agreement.era, service.capabilities()) {
        Some(method) => match undeclared(service, method, agreement.era, &message) {
            None => match paced(service, method, &message) {
                Ok(()) => Checked::Handle(message, method, agreement),
                Err(problem) => Checked::Paced(problem),
            },
            Some(error) => refuse(StatusCode::BAD_REQUEST, message.id, error),
        },
        None => {
            let status = match agreement.era {
                Era::Modern => StatusCode::NOT_FOUND,
                Era::Legacy => StatusCode::OK,
            };
            let error = RpcError::method_not_found(&message.method);
            refuse(status, message.id, error)
        }
    }
}

/// Whether a tool may be called at this pace.
fn paced<S: Service>(service: &S, method: Method, message: &message::Message) -> Result<(), Problem> {
    match message.params.get("name").and_then(serde_json::Value::as_str) {
        Some(tool) if method == Method::CallTool => service.pace(tool),
        _ => Ok(()),
    }
}

/// The error of a tool that needs more of its client than the client declares.
fn undeclared<S: Service>(service: &S, method: Method, era: Era, message: &message::Message) -> Option<RpcError> {
    if (method, era) != (Method::CallTool, Era::Modern) {
        return None;
    }
    let needed = service.needed_capability(message.params.get("name")?.as_str()?)?;
    let declared = message.meta()?.get(agreement::META_CAPABILITIES)?;
    declared.get(needed).is_none().then(|| RpcError::missing_capability(needed))
}

/// The work on an answer, in which even a panic becomes an error the client reads.
fn guarded<S: Service>(
    service: S,
    method: Method,
    agreement: agreement::Agreement,
    message: message::Message,
    id: serde_json::Value,
) -> Work {
    Box::pin(async move {
        let answer = methods::answer(&service, method, agreement, message);
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(event) => event,
            Err(_) => {
                tracing::error!(method = ?method, "a handler panicked");
                wire::error_event(&id, &RpcError::internal())
            }
        }
    })
}
