//! The endpoint from outside: raw requests through a small service, for what `mcp.md` 2 and 3 promise.

mod anything;
mod bodies;
mod client;
mod eras;
mod order;
mod results;
mod streams;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};

use super::{
    CallRequest, CallResult, Capabilities, Content, InputRequired, Json, PromptMessages, RpcError, ServerInfo, Service,
    Stopping,
};
use crate::error::Problem;
use crate::http::serve_mcp;
use crate::limits::Bodies;

/// A service with one tool for each way a call can go.
#[derive(Clone, Default)]
pub(super) struct Probe {
    /// Told when a call that waits was dropped.
    pub(super) dropped: Arc<AtomicBool>,
    /// Rings when a call that waits was dropped.
    pub(super) gone: Arc<tokio::sync::Notify>,
    /// Lets calls of `wait` end.
    pub(super) released: Arc<tokio::sync::Notify>,
    pub(super) tools_alone: bool,
}

/// Tells when it is dropped.
struct Told(Arc<AtomicBool>, Arc<tokio::sync::Notify>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        self.1.notify_one();
    }
}

impl Service for Probe {
    fn server(&self) -> ServerInfo {
        ServerInfo { name: "playmaker", title: "Playmaker", version: "0" }
    }

    fn capabilities(&self) -> Capabilities {
        if self.tools_alone { Capabilities::TOOLS } else { Capabilities::ALL }
    }

    async fn instructions(&self) -> Result<String, RpcError> {
        Ok("This connection acts as a test.".to_owned())
    }

    async fn tools(&self) -> Result<Vec<Json>, RpcError> {
        Ok(vec![Json::of(&json!({ "name": "echo", "inputSchema": { "type": "object" } }))?])
    }

    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        request: &CallRequest,
    ) -> Result<CallResult, RpcError> {
        match name {
            "echo" => CallResult::success("Echoed.", &arguments),
            "refuse" => CallResult::failure(&Problem::invalid("/name", "must be text")),
            "ask" => Ok(CallResult {
                content: vec![Content::Text("Open the link.".to_owned())],
                input: Some(InputRequired {
                    requests: Json::of(&json!({ "approve": { "method": "elicitation/create", "params": {} } }))?,
                    state: Some("sealed".to_owned()),
                }),
                ..CallResult::default()
            }),
            "request" => CallResult::success(
                "Told.",
                &json!({
                    "client": request.client_name,
                    "capabilities": request.client_capabilities,
                    "responses": request.input_responses,
                    "state": request.request_state,
                    "trace": request.trace_parent,
                }),
            ),
            "wait" => {
                let _told = Told(self.dropped.clone(), self.gone.clone());
                self.released.notified().await;
                CallResult::success("Waited.", &json!({}))
            }
            "panic" => panic!("the handler broke"),
            _ => Err(RpcError::unknown_tool(name)),
        }
    }

    async fn resources(&self) -> Result<Vec<Json>, RpcError> {
        Ok(vec![Json::of(&json!({ "uri": "guide://terminology", "name": "terminology" }))?])
    }

    async fn read_resource(&self, uri: &str, _request: &CallRequest) -> Result<Option<Vec<Json>>, RpcError> {
        let contents = Json::of(&json!({ "uri": uri, "mimeType": "text/markdown", "text": "Words" }))?;
        Ok((uri == "guide://terminology").then(|| vec![contents]))
    }

    async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        _request: &CallRequest,
    ) -> Result<PromptMessages, RpcError> {
        if name != "remember" {
            return Err(RpcError::unknown_prompt(name));
        }
        let message = json!({ "role": "user", "content": { "type": "text", "text": arguments["what"] } });
        Ok(PromptMessages {
            description: Some("Keeps something.".to_owned()),
            messages: vec![Json::of(&message)?],
            input: None,
        })
    }
}

/// A request as a test writes it, and what came back.
pub(super) struct Post {
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Post {
    /// A body with the headers every client sends.
    pub(super) fn raw(body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        let body = body.into();
        Self { headers, body }
    }

    /// A legacy request with the id 1.
    pub(super) fn legacy(method: &str, params: Value) -> Self {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        Self::raw(message.to_string())
    }

    /// A modern request with the id 1 and every header it needs.
    pub(super) fn modern(method: &str, mut params: Value) -> Self {
        let name = ["name", "uri"].iter().find_map(|member| params[*member].as_str().map(str::to_owned));
        let meta = params["_meta"].take();
        let mut meta = meta.as_object().cloned().unwrap_or_default();
        let revision = "2026-07-28";
        for (member, value) in [("protocolVersion", json!(revision)), ("clientCapabilities", json!({}))] {
            meta.entry(format!("io.modelcontextprotocol/{member}")).or_insert(value);
        }
        params["_meta"] = Value::Object(meta);
        let mut post = Self::legacy(method, params).with("mcp-protocol-version", revision).with("mcp-method", method);
        if let Some(name) = name {
            post = post.with("mcp-name", &name);
        }
        post
    }

    /// The same with one more header.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same without a header.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(given, _)| *given != name);
        self
    }

    /// Sends it to `service` and gives the answer before its body is read.
    pub(super) async fn open(self, service: Probe, stopping: &Stopping, heartbeat: Duration) -> Response<Body> {
        let mut request = Request::post("/mcp");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Body::from(self.body)).unwrap();
        serve_mcp(service, request, &Bodies::default(), stopping, heartbeat).await
    }

    /// Sends it and reads the whole answer.
    pub(super) async fn send(self) -> Answered {
        self.send_to(Probe::default()).await
    }

    /// Sends it to `service` and reads the whole answer.
    pub(super) async fn send_to(self, service: Probe) -> Answered {
        let response = self.open(service, &Stopping::new(), super::HEARTBEAT).await;
        let (parts, body) = response.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        let header = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        Answered {
            status: parts.status.as_u16(),
            kind: header("content-type").unwrap_or_default(),
            allow: header("allow"),
            text,
        }
    }
}

/// An answer, read whole.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) allow: Option<String>,
    pub(super) text: String,
}

impl Answered {
    /// The message: of the stream's one event, or of the JSON body.
    pub(super) fn message(&self) -> Value {
        let json = match self.kind.as_str() {
            "text/event-stream" => {
                let event = self.text.strip_prefix("event: message\ndata: ").unwrap();
                event.strip_suffix("\n\n").unwrap()
            }
            _ => &self.text,
        };
        serde_json::from_str(json).unwrap()
    }

    /// Status and code: what a table of refusals lists.
    pub(super) fn refusal(&self) -> (u16, i64) {
        (self.status, self.message()["error"]["code"].as_i64().unwrap_or_default())
    }

    /// The result of an answer that has one.
    pub(super) fn result(&self) -> Value {
        assert_eq!((self.status, self.kind.as_str()), (200, "text/event-stream"), "{}", self.text);
        let mut message = self.message();
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)));
        message["result"].take()
    }
}
