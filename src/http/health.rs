//! `/health`, `/ready` and `/openapi.json`: open routes without a caller (decisions D15, D16).

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::problems;
use crate::app::App;
use crate::error::Problem;

const OK: &str = r#"{"status":"ok"}"#;

/// Alive.
pub(super) async fn health() -> Response {
    json(OK)
}

/// Able to serve: the database answers and the secrets' canary opens. A stopping server never gets here.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.ready().await {
        Ok(()) => json(OK),
        Err(cause) => {
            tracing::warn!(%cause, "not ready");
            problems::response(&Problem::unavailable("Playmaker cannot serve just now. Try again shortly."))
        }
    }
}

/// The OpenAPI document, the same for everybody.
pub(super) async fn openapi(State(app): State<Arc<App>>) -> Response {
    json(app.operations.openapi())
}

fn json(text: impl Into<axum::body::Body>) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, text.into()).into_response()
}
