//! A server of the test's own making: it answers as the test says and keeps what it was asked.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use crate::egress::{Client, Policy, Provenance};
use crate::tool_servers::upstream::{HttpEntry, Surroundings, Upstream};

/// A request that reached the server.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) http: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Seen {
    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(self.http.as_str())
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// A result for this request, in JSON.
    pub(super) fn result(&self, result: Value) -> Response {
        answer(200, "application/json", &self.result_text(result))
    }

    pub(super) fn result_text(&self, result: Value) -> String {
        json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result }).to_string()
    }

    /// A JSON-RPC error for this request.
    pub(super) fn error(&self, status: u16, code: i64, data: Value) -> Response {
        let error = json!({ "code": code, "message": "refused by hunter22", "data": data });
        let text = json!({ "jsonrpc": "2.0", "id": self.body["id"], "error": error }).to_string();
        answer(status, "application/json", &text)
    }

    /// The answer of a modern server to anything but a call.
    pub(super) fn modern(&self) -> Response {
        match self.method() {
            "server/discover" => self.result(json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"] })),
            "tools/list" => self.result(json!({ "tools": [{ "name": "find", "inputSchema": { "type": "object" } }] })),
            _ => answer(404, "text/plain", ""),
        }
    }
}

pub(super) fn answer(status: u16, kind: &str, text: &str) -> Response {
    with_header(status, "content-type", kind, text)
}

pub(super) fn with_header(status: u16, name: &str, value: &str, text: &str) -> Response {
    Response::builder().status(status).header(name, value).body(Body::from(text.to_owned())).unwrap()
}

/// A running stand-in.
pub(super) struct StandIn {
    pub(super) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    arrived: Arc<tokio::sync::Notify>,
}

impl StandIn {
    /// Serves on loopback what `behaviour` answers.
    pub(super) async fn serve(behaviour: impl Fn(&Seen) -> Response + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let arrived = Arc::new(tokio::sync::Notify::new());
        let (log, bell, behaviour) = (seen.clone(), arrived.clone(), Arc::new(behaviour));
        let router = Router::new().fallback(move |http: Method, headers: HeaderMap, body: Bytes| {
            let request = Seen { http, headers, body: serde_json::from_slice(&body).unwrap_or_default() };
            let response = behaviour(&request);
            log.lock().unwrap().push(request);
            bell.notify_one();
            async { response }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, seen, arrived }
    }

    /// Each request's method, in order.
    pub(super) fn methods(&self) -> Vec<String> {
        self.all().iter().map(|seen| seen.method().to_owned()).collect()
    }

    pub(super) fn all(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The last request of a method, waiting for it where it has not come yet.
    pub(super) async fn last(&self, method: &str) -> Seen {
        loop {
            if let Some(seen) = self.all().into_iter().rev().find(|seen| seen.method() == method) {
                return seen;
            }
            self.arrived.notified().await;
        }
    }

    pub(super) fn upstream(&self, surroundings: Surroundings) -> Upstream {
        upstream(&self.address, surroundings)
    }
}

/// The upstream of an address.
pub(super) fn upstream(address: &str, surroundings: Surroundings) -> Upstream {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer hunter22".parse().unwrap());
    let entry = HttpEntry {
        url: address.parse().unwrap(),
        headers,
        provenance: Provenance::Operator,
        request_id: Some("X-Request-Id".into()),
    };
    Upstream::http(entry, Client::new(Policy::default()).unwrap(), surroundings)
}
