//! The errors of JSON-RPC 2.0 as this server gives them; the table of `mcp.md` 14.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::revision::{Era, Revision};

/// The most characters of a caller's own word that an error repeats.
const MAX_ECHO: usize = 128;

/// A JSON-RPC error, told to the client as it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RpcError {
    /// Its code.
    pub code: i32,
    /// What is wrong, in words.
    pub message: Cow<'static, str>,
    /// What a machine may need beside the words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self { code, message, data: None }
    }

    /// −32700: the body is not JSON.
    pub fn parse(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32700, message)
    }

    /// −32600: JSON, but not one JSON-RPC request or notification.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32600, message)
    }

    /// −32601: the revision has no such method, or this endpoint does not serve it.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(-32601, format!("Method not found: {}", cut(method)))
    }

    /// −32602: the method's parameters do not fit.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32602, message)
    }

    /// −32602: a tool this caller is not offered here, whether it exists or not.
    pub fn unknown_tool(name: &str) -> Self {
        Self::invalid_params(format!("Unknown tool: {}", cut(name)))
    }

    /// −32602: a prompt this caller is not offered here.
    pub fn unknown_prompt(name: &str) -> Self {
        Self::invalid_params(format!("Unknown prompt: {}", cut(name)))
    }

    /// An unknown resource: −32602, or −32002 in the revisions before 2026-07-28.
    pub(super) fn unknown_resource(uri: &str, era: Era) -> Self {
        let code = match era {
            Era::Modern => -32602,
            Era::Legacy => -32002,
        };
        let uri = cut(uri);
        Self::new(code, format!("Unknown resource: {uri}")).with(json!({ "uri": uri }))
    }

    /// −32603: a fault of ours outside any operation. The cause goes to the log alone.
    pub fn internal() -> Self {
        Self::new(-32603, "Something went wrong inside Playmaker. Try again.")
    }

    /// −32603: the server stopped while the request was in hand (decision D41).
    pub(super) fn stopping() -> Self {
        Self::new(-32603, "Playmaker stopped while it handled this request, so it may or may not have taken effect")
            .with(json!({ "reason": "stopping" }))
    }

    /// −32603: what the caller called with was taken away while the request was in hand.
    pub(super) fn no_longer_welcome() -> Self {
        Self::new(
            -32603,
            "The credential of this request stopped being valid while it was handled, so it may or may not have taken effect",
        )
        .with(json!({ "reason": "unauthenticated" }))
    }

    /// −32020: a header does not agree with the body.
    pub(super) fn header_mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32020, message)
    }

    /// −32021: the client did not say that it can do what the tool needs of it.
    pub(super) fn missing_capability(needed: &str) -> Self {
        Self::new(-32021, format!("The client did not declare the capability {needed}, which this tool needs."))
            .with(json!({ "requiredCapabilities": { needed: {} } }))
    }

    /// −32022: a revision this server does not speak.
    pub(super) fn unsupported_revision(requested: &str) -> Self {
        let requested = cut(requested);
        let supported = Revision::NEWEST_FIRST.map(Revision::text);
        Self::new(-32022, format!("Unsupported protocol version: {requested}"))
            .with(json!({ "supported": supported, "requested": requested }))
    }

    /// The same error with data.
    #[must_use]
    pub fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// The first characters of a caller's own word, as many as an error repeats.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(MAX_ECHO).collect()
}
