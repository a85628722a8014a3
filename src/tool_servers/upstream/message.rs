//! JSON-RPC 2.0 as MCP uses it: what is written and what is read.
//!
//! Results stay plain JSON: the record keeps the whole answer, members we do not know included.

use serde_json::{Map, Value, json};

/// An error a server answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RpcError {
    /// Its code.
    pub(super) code: i64,
    /// The server's words, not yet scrubbed.
    pub(super) message: String,
    /// What else it says.
    pub(super) data: Value,
}

/// The revision of the request is not supported (2026-07-28).
pub(super) const UNSUPPORTED_REVISION: i64 = -32022;
/// A client capability is missing (2026-07-28).
pub(super) const MISSING_CAPABILITY: i64 = -32021;
/// Headers and body differ (2026-07-28).
pub(super) const HEADER_MISMATCH: i64 = -32020;
/// The client is asked to open an address first (2025-11-25).
pub(super) const ADDRESS_REQUIRED: i64 = -32042;
/// Parameters that do not fit.
pub(super) const INVALID_PARAMS: i64 = -32602;

impl RpcError {
    /// Whether it is the complaint of a server of 2026-07-28 about how a request is put.
    pub(super) fn speaks_modern(&self) -> bool {
        match self.code {
            UNSUPPORTED_REVISION | MISSING_CAPABILITY | HEADER_MISMATCH => true,
            INVALID_PARAMS => self.message.contains("_meta") || self.data.to_string().contains("_meta"),
            _ => false,
        }
    }

    /// The error as the record keeps it.
    pub(super) fn to_value(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if !self.data.is_null() {
            error["data"] = self.data.clone();
        }
        json!({ "error": error })
    }
}

/// One message from a server.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    /// The answer to a request of ours; no id where the server could not read ours.
    Answer {
        /// The id of our request.
        id: Option<u64>,
        /// The result or the error.
        outcome: Result<Value, RpcError>,
    },
    /// The server asks something of us.
    Request {
        /// Its id, to be given back unchanged.
        id: Value,
        /// What it asks.
        method: String,
    },
    /// The server tells something.
    Notification {
        /// What it tells.
        method: String,
    },
}

impl Incoming {
    /// Reads a message, or each of a batch (2025-03-26); `None` where the text is not JSON-RPC.
    pub(super) fn read(text: &[u8]) -> Option<Vec<Self>> {
        match serde_json::from_slice(text).ok()? {
            Value::Array(batch) => batch.into_iter().map(Self::of).collect(),
            single => Self::of(single).map(|message| vec![message]),
        }
    }

    fn of(message: Value) -> Option<Self> {
        let Value::Object(mut message) = message else {
            return None;
        };
        let id = message.remove("id").unwrap_or(Value::Null);
        if let Some(Value::String(method)) = message.remove("method") {
            return Some(if id.is_null() { Self::Notification { method } } else { Self::Request { id, method } });
        }
        let outcome = if let Some(error) = message.remove("error") {
            Err(read_error(error)?)
        } else {
            Ok(message.remove("result")?)
        };
        Some(Self::Answer { id: number(&id), outcome })
    }
}

fn read_error(error: Value) -> Option<RpcError> {
    let Value::Object(mut error) = error else {
        return None;
    };
    Some(RpcError {
        code: error.get("code")?.as_i64()?,
        message: match error.remove("message") {
            Some(Value::String(message)) => message,
            _ => String::new(),
        },
        data: error.remove("data").unwrap_or(Value::Null),
    })
}

/// Our ids are numbers; some servers give them back as text.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: &Map<String, Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification of ours.
pub(super) fn notification(method: &str, params: Option<Value>) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(params) = params {
        message["params"] = params;
    }
    message
}

/// Tells the server that nobody waits for the answer to request `id` any more.
pub(super) fn cancelled(id: u64) -> Value {
    notification("notifications/cancelled", Some(json!({ "requestId": id, "reason": "The caller no longer waits." })))
}

/// The answer to a request of the server: a ping is answered, and nothing else is offered.
pub(super) fn answer_to(id: Value, method: &str) -> Value {
    if method == "ping" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "Playmaker offers no such method." } })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_kind_of_message_is_told_apart() {
        let read = |text: &str| Incoming::read(text.as_bytes());
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"7","result":{}}"#),
            Some(vec![Incoming::Answer { id: Some(7), outcome: Ok(json!({})) }])
        );
        assert!(matches!(
            read(r#"[{"jsonrpc":"2.0","method":"notifications/message"},{"id":"a","method":"ping"}]"#).as_deref(),
            Some([Incoming::Notification { .. }, Incoming::Request { .. }])
        ));
        assert!(matches!(
            read(r#"{"id":null,"error":{"code":-32022,"message":"no"}}"#).as_deref(),
            Some([Incoming::Answer { id: None, outcome: Err(error) }]) if error.speaks_modern()
        ));
        assert_eq!(read("{}"), None);
        assert_eq!(read("<html>"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Incoming::read(&bytes);
        }
    }
}
