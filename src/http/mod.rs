//! The HTTP surface: the router, the chain every request passes, the routes of operations, problem documents.
//!
//! Read [`router`] first: it is the whole public surface. The order of the checks is `http-api.md` 1.7.

mod authentication;
mod body;
mod challenge;
mod client_document;
mod cookies;
mod csrf;
mod entrance;
mod framing;
mod health;
mod invitation_routes;
mod key_pages;
mod mcp_routes;
mod oauth;
mod oauth_routes;
mod operation_routes;
mod org_routes;
mod origin;
mod page_routes;
mod pages;
pub mod problems;
mod resource_routes;
mod returning;
mod sender;
mod serve;
mod settings_routes;
mod sign_in_routes;
mod unread;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware;
use axum::response::Response;
use axum::routing::{any, get};

pub use authentication::{Session, authenticate, same_origin, studio_session};
pub use body::read_body;
pub use entrance::RequestId;
pub use mcp_routes::serve_mcp;
pub use origin::{origin, through};
pub use sender::Sender;
pub use serve::{MOST_CONNECTIONS, serve, serve_at_most};

use crate::app::App;
use crate::error::{Problem, Reason};
use crate::identity::Resource;

/// Everything the server answers.
pub fn router(app: Arc<App>) -> Router {
    let operations = operation_routes::routes(&app);
    let oauth = oauth_routes::routes(&app);
    let orgs = org_routes::routes(&app);
    Router::new()
        .route("/health", get(health::health).fallback(|| only("GET, HEAD")))
        .route("/ready", get(health::ready).fallback(|| only("GET, HEAD")))
        .route("/openapi.json", get(health::openapi).fallback(|| only("GET, HEAD")))
        .merge(operations)
        .merge(mcp_routes::routes())
        .merge(resource_routes::routes())
        .merge(client_document::routes())
        .merge(oauth)
        .merge(page_routes::routes())
        .merge(sign_in_routes::routes())
        .merge(settings_routes::routes())
        .merge(orgs)
        .merge(invitation_routes::routes())
        .fallback(any(unknown_path))
        .layer(middleware::from_fn_with_state(app.clone(), entrance::pass))
        .with_state(app)
}

/// What a known path answers to a method it does not have.
async fn only(allow: &'static str) -> Response {
    problems::response(&method_not_allowed(allow))
}

/// 405 naming the methods there are.
pub fn method_not_allowed(allow: &'static str) -> Problem {
    Problem::new(Reason::MethodNotAllowed, "This path has no such method; Allow names those it has.").allow(allow)
}

async fn unknown_path(axum::extract::State(app): axum::extract::State<Arc<App>>, request: Request) -> Response {
    if app.access.is_closed()
        && let Err(problem) =
            authenticate(&app, request.headers(), &Resource::Server, &Sender::of(request.extensions())).await
    {
        return problems::response(&problem);
    }
    problems::response(&Problem::not_found(
        "There is nothing at this path. The OpenAPI document at /openapi.json lists every route.",
    ))
}
