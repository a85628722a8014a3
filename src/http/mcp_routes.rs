//! The MCP endpoints: the caller, its org and its playbook are checked here, the rest in [`crate::mcp`].

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::any;

use super::entrance::RequestId;
use super::{authenticate, problems};
use crate::app::App;
use crate::error::Result;
use crate::identity::Resource;
use crate::mcp::{self, Agent, Stopping};
use crate::operations::{Endpoint, admission, noted};

/// Each endpoint, with and without a slash at its end.
pub(super) fn routes() -> Router<Arc<App>> {
    let mut router = Router::new();
    for (path, endpoint) in [
        ("/mcp", Endpoint::Own),
        ("/orgs/{org}/mcp", Endpoint::Org),
        ("/orgs/{org}/playbooks/{playbook}/mcp", Endpoint::Playbook),
    ] {
        let handler = move |State(app): State<Arc<App>>, parameters: RawPathParams, request: Request| async move {
            serve(&app, endpoint, &parameters, request).await
        };
        router = router.route(path, any(handler)).route(&format!("{path}/"), any(handler));
    }
    router
}

async fn serve(app: &Arc<App>, endpoint: Endpoint, parameters: &RawPathParams, request: Request) -> Response {
    let id = request.extensions().get::<RequestId>().map_or_else(|| Arc::from(""), |id| id.0.clone());
    match agent(app, endpoint, parameters, request.headers(), id.clone()).await {
        Ok(agent) => {
            let stopping = Stopping::from(app.lifecycle.token().clone());
            mcp::serve_request(agent, request, &stopping, app.heartbeat).await
        }
        Err(problem) => problems::response(&noted(problem, &id)),
    }
}

async fn agent(
    app: &Arc<App>,
    endpoint: Endpoint,
    parameters: &RawPathParams,
    headers: &http::HeaderMap,
    request_id: Arc<str>,
) -> Result<Agent> {
    let named = |name: &str| parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let resource = match (endpoint, named("org"), named("playbook")) {
        (Endpoint::Own, ..) => Resource::Own,
        (_, Some(org), None) => Resource::Org(org.to_owned()),
        (_, org, playbook) => {
            Resource::Playbook(org.unwrap_or_default().to_owned(), playbook.unwrap_or_default().to_owned())
        }
    };
    let caller = authenticate(app, headers, &resource).await?;
    if let Some(org) = named("org") {
        admission::org(&caller, org)?;
    }
    admission::endpoint(&caller, &resource)?;
    let playbook = match named("playbook") {
        Some(id) => Some(mcp::endpoint_playbook(app, &caller, id).await?),
        None => None,
    };
    Ok(Agent { app: app.clone(), caller, endpoint, playbook, request_id })
}
