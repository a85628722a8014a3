//! What the program is measured beside: rmcp's own server with a key check, a bare axum handler, and an HTTP API.

use std::io::{Error, Result, Write};
use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

/// What the HTTP API answers.
pub const PART: &str = r#"{"number":"P-1007","name":"Brake cable, 1.5 m","stock":14,"price":"4.20"}"#;

/// Serves the peer of that name until the process is ended.
pub async fn serve(name: &str, answer: &Path, key: &str) -> Result<()> {
    let router = match name {
        "rmcp" => rmcp_server(answer, key, false)?,
        "rmcp-json" => rmcp_server(answer, key, true)?,
        "axum" => bare(answer)?,
        "api" => Router::new().route("/parts/{number}", get(|| async { ([(CONTENT_TYPE, "application/json")], PART) })),
        _ => return Err(Error::other("no such peer")),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", listener.local_addr()?)?;
    out.flush()?;
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router).await
}

/// The limit: the same body, given without looking at anything.
fn bare(answer: &Path) -> Result<Router> {
    let body = Bytes::from(std::fs::read(answer)?);
    let handler = move |_: Bytes| {
        let body = body.clone();
        async move { ([(CONTENT_TYPE, "text/event-stream")], body) }
    };
    Ok(Router::new().route("/mcp", post(handler)))
}

/// The least that rmcp needs, without sessions, behind a check of the key.
fn rmcp_server(answer: &Path, key: &str, json_response: bool) -> Result<Router> {
    let parts = Parts::of(&std::fs::read_to_string(answer)?)?;
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = json_response;
    let service =
        StreamableHttpService::new(move || Ok(parts.clone()), Arc::new(NeverSessionManager::default()), config);
    let known: Arc<[u8]> = digest(&SHA256, key.as_bytes()).as_ref().into();
    Ok(Router::new().nest_service("/mcp", service).layer(middleware::from_fn_with_state(known, check)))
}

async fn check(State(known): State<Arc<[u8]>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = given.and_then(|given| given.strip_prefix("Bearer "));
    match key {
        Some(key) if digest(&SHA256, key.as_bytes()).as_ref() == &*known => next.run(request).await,
        _ => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// The blocks of the answer, as a program that has its playbooks in memory would hold them.
#[derive(Clone)]
struct Parts {
    texts: Arc<[String]>,
    structured: Arc<Value>,
}

impl Parts {
    /// Takes them out of the program's own answer.
    fn of(event: &str) -> Result<Self> {
        let data =
            event.lines().find_map(|line| line.strip_prefix("data: ")).ok_or_else(|| Error::other("no event"))?;
        let mut answer: Value = serde_json::from_str(data)?;
        let result = answer["result"].take();
        let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = blocks.iter().filter_map(|block| block["text"].as_str().map(str::to_owned)).collect();
        Ok(Self { texts, structured: Arc::new(result["structuredContent"].clone()) })
    }
}

impl ServerHandler for Parts {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::default();
        info.capabilities = ServerCapabilities::builder().enable_tools().build();
        info
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let mut result = CallToolResult::success(self.texts.iter().map(ContentBlock::text).collect());
        result.is_error = None;
        result.structured_content = Some((*self.structured).clone());
        Ok(result.into())
    }
}
