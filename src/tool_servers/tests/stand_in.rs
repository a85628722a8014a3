//! One HTTP server that is an MCP server at `/mcp` and an HTTP API at `/api`; it keeps what it was asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What reached the server.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

#[derive(Clone, Default)]
pub(super) struct StandIn {
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Told when a slow call began.
    pub(super) began: Arc<Notify>,
    /// What `/api/limited` and `/mcp` answer instead, where set.
    pub(super) status: Arc<Mutex<Option<StatusCode>>>,
    pub(super) base: String,
}

pub(super) const SECRET: &str = "s3cret-value-of-the-server";
/// What `/locked/mcp` wants as `X-Token`.
pub(super) const TOKEN: &str = "Token token-of-the-person";

impl StandIn {
    pub(super) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let this = Self { base, ..Self::default() };
        let router = Router::new().fallback(serve).with_state(this.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        this
    }

    pub(super) fn seen(&self, path: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.path == path).cloned().collect()
    }

    /// The calls of MCP tools.
    pub(super) fn calls(&self) -> Vec<Seen> {
        self.seen("/mcp").into_iter().filter(|seen| seen.body["method"] == "tools/call").collect()
    }

    pub(super) fn answer_with(&self, status: u16) {
        *self.status.lock().unwrap() = StatusCode::from_u16(status).ok();
    }
}

async fn serve(State(this): State<StandIn>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body: Bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = parts.uri.path_and_query().unwrap().to_string();
    let token = parts.headers.get("x-token").map_or("", |value| value.to_str().unwrap()).to_owned();
    let unchanged = parts.headers.get("if-none-match").is_some_and(|mark| mark == "\"v1\"");
    this.seen.lock().unwrap().push(Seen { path: path.clone(), headers: parts.headers, body: body.clone() });
    if let Some(status) = *this.status.lock().unwrap() {
        return (status, "refused by the stand-in").into_response();
    }
    if path == "/locked/mcp" && token != TOKEN {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    if path.ends_with("/mcp") {
        return mcp(&this, &body).await;
    }
    match path.split('?').next().unwrap() {
        "/openapi.json" if unchanged => StatusCode::NOT_MODIFIED.into_response(),
        "/openapi.json" => ([("etag", "\"v1\"")], document(&this.base).to_string()).into_response(),
        "/api/notes/7" => (
            [("x-request-id", "r-1"), ("content-type", "application/json")],
            json!({ "id": 7, "text": "Buy milk" }).to_string(),
        )
            .into_response(),
        "/api/notes" => json_answer(&json!({ "made": true })),
        "/api/broken" => (StatusCode::INTERNAL_SERVER_ERROR, "it broke").into_response(),
        _ => (StatusCode::NOT_FOUND, json!({ "error": "no such note" }).to_string()).into_response(),
    }
}

async fn mcp(this: &StandIn, body: &Value) -> Response {
    let result = match body["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"] }),
        "tools/list" => json!({ "tools": tools() }),
        "tools/call" => {
            call(this, body["params"]["name"].as_str().unwrap_or_default(), &body["params"]["arguments"]).await
        }
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    json_answer(&json!({ "jsonrpc": "2.0", "id": body["id"], "result": result }))
}

async fn call(this: &StandIn, tool: &str, arguments: &Value) -> Value {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    match tool {
        "find_contact" => json!({ "content": text("Found."), "structuredContent": { "asked": arguments } }),
        "leak" => {
            json!({ "content": text(&format!("the key is {SECRET}")), "structuredContent": { SECRET: [SECRET] } })
        }
        "refuse" => json!({ "isError": true, "content": text("No such contact.") }),
        "long" => json!({ "content": text(&"long ".repeat(20_000)) }),
        _ => {
            this.began.notify_one();
            std::future::pending().await
        }
    }
}

fn tools() -> Value {
    let named = |name: &str, description: &str, read_only: bool| {
        json!({
            "name": name, "description": description, "annotations": { "readOnlyHint": read_only },
            "inputSchema": {
                "type": "object", "properties": { "name": { "type": "string" }, "key": {} }, "additionalProperties": false
            }
        })
    };
    json!([
        named("find_contact", "Finds a person by name.", true),
        named("leak", "Tells too much.", true),
        named("refuse", "Refuses.", false),
        named("long", "Answers at length.", true),
        named("slow", "Never answers.", false),
        named("slow_read", "Never answers either.", true),
        { "name": "bad name" },
    ])
}

/// The document of the API.
pub(super) fn document(base: &str) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Notes", "version": "1" },
        "servers": [{ "url": format!("{base}/api") }],
        "paths": {
            "/notes/{id}": { "get": {
                "operationId": "getNote", "summary": "Read a note",
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
                "responses": { "200": { "description": "ok", "content": { "application/json": {} } } }
            } },
            "/notes": { "post": {
                "operationId": "addNote", "summary": "Write a note",
                "parameters": [{ "name": "Idempotency-Key", "in": "header", "schema": { "type": "string" } }],
                "requestBody": { "required": true, "content": { "application/json": { "schema": {
                    "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } }
                } } } },
                "responses": { "200": { "description": "ok" } }
            } },
            "/broken": { "post": { "operationId": "breakIt", "responses": { "200": { "description": "ok" } } } }
        }
    })
}

fn json_answer(value: &Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}
