//! The MCP endpoints: the caller, its org and its playbook are checked here, the rest in [`crate::mcp`].

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::any;

use super::entrance::RequestId;
use super::{authenticate, problems, through};
use crate::app::App;
use crate::error::Result;
use crate::identity::{Caller, Resource};
use crate::ledger::Via;
use crate::mcp::{self, Agent, Stopping};
use crate::operations::{Endpoint, admission, noted};
use crate::playbooks::Playbook;

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
    match agent(app, endpoint, parameters, request.headers(), request.extensions(), id.clone()).await {
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
    extensions: &http::Extensions,
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
    let caller = through(&caller, Via::Mcp, headers, extensions);
    let playbook = admitted(app, &caller, &resource, named("org"), named("playbook")).await;
    let playbook = playbook.inspect_err(|problem| app.refusals.note(&caller, &resource.path(), problem))?;
    Ok(Agent { app: app.clone(), caller, endpoint, playbook, request_id })
}

/// The caller may use the endpoint: its org, the org's standing, a scope of it, and the playbook where it has one.
async fn admitted(
    app: &Arc<App>,
    caller: &Arc<Caller>,
    resource: &Resource,
    org: Option<&str>,
    playbook: Option<&str>,
) -> Result<Option<Playbook>> {
    if let Some(org) = org {
        admission::org(caller, org)?;
    }
    admission::living_endpoint(app, caller).await?;
    admission::endpoint(caller, resource)?;
    match playbook {
        Some(id) => Ok(Some(mcp::endpoint_playbook(app, caller, id).await?)),
        None => Ok(None),
    }
}
