//! The MCP endpoints: the caller, its org and its playbook are checked here, the rest in [`crate::mcp`].

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use super::entrance::RequestId;
use super::{Sender, authenticate, problems, read_body, through};
use crate::app::App;
use crate::error::Result;
use crate::identity::{Caller, Resource};
use crate::ledger::Via;
use crate::limits::{Bodies, Stream};
use crate::mcp::{self, Agent, Service, Stopping};
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
        Ok((agent, stream)) => {
            let stopping = Stopping::from(app.lifecycle.token().clone());
            let answer = serve_mcp(agent, request, &app.limits.bodies, &stopping, app.heartbeat).await;
            answer.map(|body| Body::new(Counted { body, _stream: stream }))
        }
        Err(problem) => problems::response(&noted(problem, &id)),
    }
}

/// Serves a request whose caller was checked: its headers, then its body, then what it asks (`mcp.md` 2.3, from step 5).
pub async fn serve_mcp<S: Service>(
    service: S,
    request: Request,
    bodies: &Bodies,
    stopping: &Stopping,
    heartbeat: Duration,
) -> Response {
    let (parts, body) = request.into_parts();
    let read = match mcp::admit(&parts) {
        Ok(()) => read_body(bodies, body).await,
        Err(problem) => Err(problem),
    };
    match read {
        Ok(read) => mcp::serve(service, &parts, read, stopping, heartbeat).await,
        Err(problem) => problems::response(&problem),
    }
}

/// An answer that counts among its caller's open streams until it is sent or given up.
struct Counted {
    body: Body,
    _stream: Stream,
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

async fn agent(
    app: &Arc<App>,
    endpoint: Endpoint,
    parameters: &RawPathParams,
    headers: &http::HeaderMap,
    extensions: &http::Extensions,
    request_id: Arc<str>,
) -> Result<(Agent, Stream)> {
    let named = |name: &str| parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let resource = match (endpoint, named("org"), named("playbook")) {
        (Endpoint::Own, ..) => Resource::Own,
        (_, Some(org), None) => Resource::Org(org.to_owned()),
        (_, org, playbook) => {
            Resource::Playbook(org.unwrap_or_default().to_owned(), playbook.unwrap_or_default().to_owned())
        }
    };
    let caller = authenticate(app, headers, &resource, &Sender::of(extensions)).await?;
    let caller = through(&caller, Via::Mcp, headers, extensions);
    let stream = app.limits.stream(&caller)?;
    let playbook = admitted(app, &caller, &resource, named("org"), named("playbook")).await;
    let playbook = playbook.inspect_err(|problem| app.refusals.note(&caller, &resource.path(), problem))?;
    Ok((Agent { app: app.clone(), caller, endpoint, playbook, request_id }, stream))
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
