//! What the public conformance suite asks of a server under test, served by the product's own endpoint code.
//!
//! The suite knows its tools, resources and prompts by name (`test_…`), so a product cannot pass it as it is. This
//! program offers those things and nothing else; every byte of the protocol is written by `playmaker::mcp`.
//! `tests/conformance/run` starts the suite against it. Usage: `conformance_fixture [port]`, loopback only.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::serve::ListenerExt;
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Response, StatusCode};
use playmaker::http::serve_mcp;
use playmaker::limits::Bodies;
use playmaker::mcp::{
    CallRequest, CallResult, Capabilities, Json, PromptMessages, RpcError, ServerInfo, Service, Stopping,
};
use serde_json::{Map, Value, json};

#[path = "offered.rs"]
mod offered;
#[path = "rounds.rs"]
mod rounds;

struct Fixture;

fn all(values: Vec<Value>) -> Result<Vec<Json>, RpcError> {
    values.iter().map(Json::of).collect()
}

impl Service for Fixture {
    fn server(&self) -> ServerInfo {
        ServerInfo { name: "conformance-fixture", title: "Conformance fixture", version: env!("CARGO_PKG_VERSION") }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    async fn instructions(&self) -> Result<String, RpcError> {
        Ok("Offers what the conformance suite asks for.".to_owned())
    }

    async fn tools(&self) -> Result<Vec<Json>, RpcError> {
        all(offered::tools())
    }

    fn needed_capability(&self, tool: &str) -> Option<&'static str> {
        (tool == "test_missing_capability").then_some("sampling")
    }

    async fn call(
        &self,
        name: &str,
        _arguments: Map<String, Value>,
        request: &CallRequest,
    ) -> Result<CallResult, RpcError> {
        if let Some(result) = offered::call(name)? {
            return Ok(result);
        }
        rounds::call(name, request)
    }

    async fn resources(&self) -> Result<Vec<Json>, RpcError> {
        all(offered::resources())
    }

    async fn resource_templates(&self) -> Result<Vec<Json>, RpcError> {
        all(vec![json!({
            "uriTemplate": "test://template/{id}/data",
            "name": "template",
            "description": "Data under an id.",
            "mimeType": "application/json",
        })])
    }

    async fn read_resource(&self, uri: &str, _request: &CallRequest) -> Result<Option<Vec<Json>>, RpcError> {
        offered::resource(uri).map(|contents| all(vec![contents])).transpose()
    }

    async fn prompts(&self) -> Result<Vec<Json>, RpcError> {
        all(offered::prompts())
    }

    async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        request: &CallRequest,
    ) -> Result<PromptMessages, RpcError> {
        match name {
            "test_input_required_result_prompt" => rounds::prompt(request),
            _ => offered::prompt(name, &arguments),
        }
    }
}

/// The product checks `Host` and `Origin` before it calls the endpoint; here are the same rules of local mode.
fn local(headers: &HeaderMap) -> bool {
    let name = |authority: &str| {
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
    };
    let text = |header| headers.get(header).map(|value| value.to_str().unwrap_or_default());
    let origin = |origin: &str| origin.strip_prefix("http://").is_some_and(name);
    text(HOST).is_some_and(name) && text(ORIGIN).is_none_or(origin)
}

async fn endpoint(request: Request) -> Response<Body> {
    if !local(request.headers()) {
        let mut refused = Response::new(Body::empty());
        *refused.status_mut() = StatusCode::FORBIDDEN;
        return refused;
    }
    serve_mcp(Fixture, request, &Bodies::default(), &Stopping::new(), Duration::from_secs(5)).await
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the script that starts the fixture reads its address")]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    // An answer is one small write; without this it may wait for the acknowledgement of the one before.
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, Router::new().fallback(endpoint)).await
}
