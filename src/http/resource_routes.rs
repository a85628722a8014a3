//! The metadata of the protected resources (RFC 9728): public facts, the same for everybody, from the path alone.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::{only, problems};
use crate::app::App;
use crate::error::Problem;
use crate::identity::Resource;
use crate::identity::resource::WELL_KNOWN;

/// The path-inserted and root forms, and the appended form that one older family of clients asks for.
pub(super) fn routes() -> Router<Arc<App>> {
    let mut router = Router::new();
    let inserted = [WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}/"), format!("{WELL_KNOWN}/{{*path}}")];
    let appended = ["/mcp", "/tools/mcp", "/v1", "/orgs/{org}/mcp", "/orgs/{org}/playbooks/{playbook}/mcp"]
        .map(|path| format!("{path}{WELL_KNOWN}"));
    for path in inserted.into_iter().chain(appended) {
        router = router.route(&path, get(metadata).fallback(|| only("GET, HEAD")));
    }
    router
}

async fn metadata(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path();
    let of = path.strip_prefix(WELL_KNOWN).or_else(|| path.strip_suffix(WELL_KNOWN)).unwrap_or(path);
    let exact = |resource: &Resource| resource.path() == of.strip_suffix('/').unwrap_or(of);
    match (&app.settings.public_url, Resource::at(of).filter(exact)) {
        (Some(public_url), Some(resource)) => {
            let headers = [
                (CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
            ];
            (headers, resource.metadata(public_url, app.issuer().unwrap_or(public_url)).to_string()).into_response()
        }
        _ => problems::response(&Problem::not_found("There is no protected resource at this path.")),
    }
}
