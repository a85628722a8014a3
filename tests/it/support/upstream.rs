//! A tool server of somebody else, inside the test: an MCP server with two tools, behind a key where the test wants one.
//!
//! It is not kind: whatever credential it is sent it repeats in its answers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The stand-in. It ends with the test.
pub struct Upstream {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    key: Option<String>,
    calls: AtomicUsize,
    requests: AtomicUsize,
    holds: AtomicBool,
    released: Notify,
    credentials: Mutex<Vec<String>>,
    received: Mutex<Vec<String>>,
}

impl Upstream {
    /// Takes anybody.
    pub async fn open() -> Self {
        Self::start(None).await
    }

    /// Takes only who sends this as a bearer credential.
    pub async fn behind(key: &str) -> Self {
        Self::start(Some(key.to_owned())).await
    }

    async fn start(key: Option<String>) -> Self {
        let state = Arc::new(State { key, ..State::default() });
        let shared = state.clone();
        let router = Router::new().fallback(move |headers: HeaderMap, body: Bytes| {
            let state = shared.clone();
            async move { state.answer(&headers, &body).await }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Calls of tools that reached it.
    pub fn calls(&self) -> usize {
        self.state.calls.load(Ordering::SeqCst)
    }

    /// Requests of any kind that reached it.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// What it was sent as `Authorization`, request by request.
    pub fn credentials(&self) -> Vec<String> {
        self.state.credentials.lock().unwrap().clone()
    }

    /// Everything it was sent, request by request: the headers and the body, in one text.
    pub fn received(&self) -> Vec<String> {
        self.state.received.lock().unwrap().clone()
    }

    /// From now on a call of a tool is not answered until [`Self::release`].
    pub fn hold(&self) {
        self.state.holds.store(true, Ordering::SeqCst);
    }

    /// Answers what was held.
    pub fn release(&self) {
        self.state.holds.store(false, Ordering::SeqCst);
        self.state.released.notify_waiters();
    }
}

impl State {
    async fn answer(&self, headers: &HeaderMap, body: &Bytes) -> Response {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let given = headers.get("authorization").map_or("", |value| value.to_str().unwrap_or_default()).to_owned();
        self.credentials.lock().unwrap().push(given.clone());
        self.received.lock().unwrap().push(format!("{headers:?}\n{}", String::from_utf8_lossy(body)));
        if self.key.as_ref().is_some_and(|key| given != format!("Bearer {key}")) {
            let words = format!("{given} is not the key");
            return (StatusCode::UNAUTHORIZED, Json(json!({ "error": words }))).into_response();
        }
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "stand-in", "version": "1" },
            }),
            "tools/list" => json!({ "tools": [
                {
                    "name": "look_up",
                    "description": format!("Looks something up. You are {given}."),
                    "inputSchema": { "type": "object", "properties": { "word": { "type": "string" } } },
                    "annotations": { "readOnlyHint": true },
                },
                { "name": "order", "description": "Orders something.", "inputSchema": { "type": "object" } },
            ] }),
            "tools/call" => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                while self.holds.load(Ordering::SeqCst) {
                    self.released.notified().await;
                }
                let words = format!("Done for {given} with {}.", message["params"]["arguments"]);
                json!({ "content": [{ "type": "text", "text": words }], "isError": false })
            }
            method => {
                let error = json!({ "code": -32601, "message": format!("Method not found: {method}") });
                return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
            }
        };
        Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
    }
}
