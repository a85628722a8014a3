//! Is a body one JSON-RPC request or notification? The table of `mcp.md` 2.2.

use serde_json::{Map, Value};

use super::rpc::RpcError;
use super::{MAX_BODY_BYTES, MAX_DEPTH};
use crate::json::{self, Fault};

/// One request, or one notification where it has no `id`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    /// Text or a whole number.
    pub(super) id: Option<Value>,
    /// What is asked.
    pub(super) method: String,
    /// Its parameters; none sent counts as an empty object.
    pub(super) params: Map<String, Value>,
}

/// A message refused, and the id to answer under where it could be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refused {
    pub(super) id: Option<Value>,
    pub(super) error: Box<RpcError>,
}

impl Message {
    /// The member `_meta` of the parameters, where it is an object.
    pub(super) fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get("_meta").and_then(Value::as_object)
    }
}

/// The objects in which no member may come twice.
fn watched(path: &[&str]) -> bool {
    matches!(path, [] | ["params"] | ["params", "_meta" | "arguments"])
}

/// Reads a body.
pub(super) fn read(body: &[u8]) -> Result<Message, Refused> {
    debug_assert!(body.len() <= MAX_BODY_BYTES, "the size is checked before the body is read");
    let unread = |words: &'static str| Refused { id: None, error: Box::new(RpcError::parse(words)) };
    let text = std::str::from_utf8(body).map_err(|_| unread("The body is not UTF-8."))?;
    let parsed = json::read(text, MAX_DEPTH, watched).map_err(|fault| match fault {
        Fault::Syntax => unread("The body is not valid JSON."),
        Fault::Depth => unread("The body nests more than 640 levels."),
    })?;
    match parsed.value {
        Value::Object(members) => shaped(members, parsed.repeated.as_deref()),
        Value::Array(_) => Err(refused(None, "Batches are not taken: send one message in each POST.")),
        _ => Err(refused(None, "The body must be one JSON-RPC message, an object.")),
    }
}

fn refused(id: Option<Value>, words: impl Into<std::borrow::Cow<'static, str>>) -> Refused {
    Refused { id, error: Box::new(RpcError::invalid_request(words)) }
}

fn shaped(mut members: Map<String, Value>, repeated: Option<&str>) -> Result<Message, Refused> {
    let given = members.remove("id");
    let id = given.clone().filter(is_id);
    if let Some(member) = repeated {
        let words = format!("The member {} is given twice.", super::rpc::cut(member));
        return Err(refused(id, words));
    }
    if given.is_some() && id.is_none() {
        return Err(refused(None, "id must be text or a whole number."));
    }
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refused(id, "jsonrpc must be \"2.0\"."));
    }
    if members.contains_key("result") || members.contains_key("error") {
        return Err(refused(id, "This server asks nothing of a client, so it takes no responses."));
    }
    let Some(Value::String(method)) = members.remove("method") else {
        return Err(refused(id, "method must be text."));
    };
    match members.remove("params") {
        None => Ok(Map::new()),
        Some(Value::Object(params)) => Ok(params),
        Some(_) => Err(refused(id.clone(), "params must be an object.")),
    }
    .map(|params| Message { id, method, params })
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}
