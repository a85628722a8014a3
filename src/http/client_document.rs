//! What this server tells issuers of itself as their client (`connections.md` 7, step 7): a public fact.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::only;
use crate::app::App;

/// Where it is; the document names this address as the client's id.
const PATH: &str = "/oauth/client.json";

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(PATH, get(document).fallback(|| only("GET, HEAD")))
}

async fn document(State(app): State<Arc<App>>) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ];
    (headers, app.connections.client_document().to_string()).into_response()
}
