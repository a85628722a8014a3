//! One client of one revision, which says what it is told to say and shows every byte of the answer.

use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

/// Every revision, older before newer.
pub const REVISIONS: [&str; 6] = ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];
/// The revision whose requests are complete in themselves.
pub const MODERN: &str = "2026-07-28";
/// What every client accepts.
pub const BOTH: &str = "application/json, text/event-stream";

/// What a silent stream carries.
pub const HEARTBEAT: &str = ": heartbeat\n\n";

/// A client.
pub struct Talk {
    http: Client,
    url: String,
    revision: &'static str,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    headers: HeaderMap,
    /// Its body.
    pub text: String,
}

/// Sends requests as they are, over connections of this client alone.
pub fn client() -> Client {
    #[expect(clippy::disallowed_methods, reason = "a test's own requests, not the program's")]
    let builder = Client::builder();
    builder.no_proxy().build().unwrap()
}

impl Talk {
    /// A client of `revision` at an endpoint.
    pub fn at(url: String, revision: &'static str) -> Self {
        Self { http: client(), url, revision }
    }

    /// Whether it speaks the revision without a handshake.
    pub fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// A bare POST to the endpoint.
    pub fn post(&self) -> RequestBuilder {
        self.http.post(&self.url)
    }

    /// A request of another method of HTTP.
    pub fn with(&self, method: reqwest::Method) -> RequestBuilder {
        self.http.request(method, &self.url)
    }

    /// A message as this revision writes it, with the headers that belong to it; without an `id` it is a notification.
    pub fn message(&self, id: Option<u32>, method: &str, mut params: Value) -> RequestBuilder {
        let mut request = self.post().header("accept", BOTH).header("content-type", "application/json");
        // The version header came with 2025-06-18, and belongs to what follows the handshake.
        if self.revision >= "2025-06-18" && method != "initialize" {
            request = request.header("mcp-protocol-version", self.revision);
        }
        if self.is_modern() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
            });
            request = request.header("mcp-method", method);
            if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
                request = request.header("mcp-name", name);
            }
        }
        let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        if let Some(id) = id {
            message["id"] = id.into();
        }
        request.body(message.to_string())
    }

    /// Asks, and reads the answer.
    pub async fn ask(&self, method: &str, params: Value) -> Answer {
        Answer::of(self.message(Some(7), method, params)).await
    }

    /// The result of a request that is handled.
    pub async fn result(&self, method: &str, params: Value) -> Value {
        let mut message = self.ask(method, params).await.handled();
        assert!(message.get("error").is_none(), "{} {method}: {message}", self.revision);
        message["result"].take()
    }

    /// The error of a request that is handled.
    pub async fn error(&self, method: &str, params: Value) -> Value {
        let mut message = self.ask(method, params).await.handled();
        assert!(message.get("result").is_none(), "{} {method}: {message}", self.revision);
        message["error"].take()
    }

    /// The result of a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Calls a tool and hands over its stream, once it is open.
    pub async fn open(&self, tool: &str, arguments: Value) -> Response {
        let params = json!({ "name": tool, "arguments": arguments });
        let response = self.message(Some(7), "tools/call", params).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(response.headers(), "content-type")),
            (200, "text/event-stream")
        );
        response
    }
}

impl Answer {
    /// Sends a request and reads its answer.
    pub async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("the server answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.expect("the answer has an end") }
    }

    /// A header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        header(&self.headers, name)
    }

    /// The one message of a stream.
    pub fn handled(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        for (name, value) in
            [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")]
        {
            assert_eq!(self.header(name), value);
        }
        assert!(!self.header("x-request-id").is_empty() && self.header("mcp-session-id").is_empty());
        let message = event(&self.text);
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(7)));
        message
    }

    /// A JSON-RPC error before the request was handled.
    pub fn refused(&self, status: u16, code: i32) -> Value {
        let message: Value = serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{}", self.text));
        assert_eq!((self.status, &message["error"]["code"]), (status, &json!(code)), "{message}");
        assert_eq!(self.header("content-type"), "application/json");
        message
    }

    /// A problem document.
    pub fn problem(&self, status: u16, reason: &str) -> Value {
        let problem: Value = serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{}", self.text));
        assert_eq!((self.status, &problem["reason"]), (status, &json!(reason)), "{problem}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        problem
    }
}

/// The message of a stream: heartbeats, if it took a while, and then one event.
pub fn event(text: &str) -> Value {
    let event = text.trim_start_matches(HEARTBEAT);
    let message = event.strip_prefix("event: message\ndata: ").and_then(|rest| rest.strip_suffix("\n\n"));
    let message = message.filter(|one| !one.contains('\n')).unwrap_or_else(|| panic!("no single event: {text}"));
    serde_json::from_str(message).unwrap()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}
