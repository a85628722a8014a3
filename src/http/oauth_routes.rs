//! The routes of the built-in authorization server (`identity.md` 7.1). Where it is off they are not there, so that each
//! path answers as any unknown one.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use super::oauth::{authorize, consent, endpoints, registration};
use super::problems::nothing;
use super::{only, problems};
use crate::app::App;
use crate::error::Problem;
use crate::identity::Resource;
use crate::identity::oauth::AuthorizationServer;

/// Where the metadata lies (RFC 8414, section 3).
const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

/// The routes, where the authorization server is on.
pub(super) fn routes(app: &App) -> Router<Arc<App>> {
    if app.oauth.is_none() {
        return Router::new();
    }
    let mut router = Router::new();
    for path in [WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}/"), format!("{WELL_KNOWN}/{{*path}}")] {
        router = router.route(&path, get(metadata).fallback(|| only("GET, HEAD")));
    }
    router
        .route("/oauth/jwks", get(jwks).fallback(|| only("GET, HEAD")))
        .route("/oauth/authorize", get(authorize::get).post(authorize::post).fallback(|| only("GET, HEAD, POST")))
        .route("/oauth/consent", post(consent::post).fallback(|| only("POST")))
        .route("/oauth/token", post(endpoints::token).fallback(|| only("POST")))
        .route("/oauth/revoke", post(endpoints::revoke).fallback(|| only("POST")))
        .route("/oauth/introspect", post(endpoints::introspect).fallback(|| only("POST")))
        .route("/oauth/register", post(registration::register).fallback(|| only("POST")))
        .route("/authorize", get(guessed_authorize).post(guessed).fallback(|| only("GET, HEAD, POST")))
        .route("/token", post(guessed).fallback(|| only("POST")))
        .route("/register", post(guessed).fallback(|| only("POST")))
}

/// The authorization server, in a handler of a route that is there only with it.
pub(super) fn server(app: &App) -> Result<&AuthorizationServer, Problem> {
    app.oauth.as_ref().ok_or_else(nothing)
}

async fn metadata(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path();
    let of = path.strip_prefix(WELL_KNOWN).unwrap_or(path);
    let of = of.strip_suffix('/').unwrap_or(of);
    match (server(&app), Resource::at(of).filter(|resource| resource.path() == of)) {
        (Ok(server), Some(_)) => public(&server.metadata()),
        _ => problems::response(&Problem::not_found("There is no authorization server at this path.")),
    }
}

async fn jwks(State(app): State<Arc<App>>) -> Response {
    match server(&app) {
        Ok(server) => public(&server.key_set()),
        Err(problem) => problems::response(&problem),
    }
}

/// A public fact, the same for everybody.
fn public(document: &Value) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
    ];
    (headers, document.to_string()).into_response()
}

/// Clients of 2025-03-26 that found no metadata guess their paths.
async fn guessed_authorize(request: Request) -> Response {
    redirected(StatusCode::FOUND, &request)
}

async fn guessed(request: Request) -> Response {
    redirected(StatusCode::PERMANENT_REDIRECT, &request)
}

fn redirected(status: StatusCode, request: &Request) -> Response {
    let target = request.uri().path_and_query().map_or(request.uri().path(), |target| target.as_str());
    match HeaderValue::from_str(&format!("/oauth{target}")) {
        Ok(location) => {
            (status, [(LOCATION, location), (CACHE_CONTROL, HeaderValue::from_static("no-store"))]).into_response()
        }
        Err(_) => problems::response(&nothing()),
    }
}
