//! One request and its answer, independent of how they travel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::message::RpcError;
use super::revision::Revision;
use super::trouble::Trouble;
use super::{CallContext, ListedTool};

/// One request, independent of how it travels.
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    pub(super) tool: Option<&'a ListedTool>,
    pub(super) context: Option<&'a CallContext>,
    /// The most bytes of the answer.
    pub(super) answer_bytes: usize,
    /// The most time of one attempt.
    pub(super) time: Duration,
}

impl Ask<'_> {
    /// Asking again changes nothing: a reading, or a tool that says so.
    pub(super) fn is_read_only(&self) -> bool {
        self.tool.is_none_or(|tool| tool.annotations.is_read_only())
    }

    /// A second attempt does no harm.
    pub(super) fn may_be_repeated(&self) -> bool {
        self.tool.is_none_or(|tool| tool.annotations.may_be_repeated())
    }

    /// The parameters as a revision wants them, with their `_meta`.
    pub(super) fn params_in(&self, revision: Revision) -> Map<String, Value> {
        let mut params = self.params.clone();
        let meta = revision.meta(self.context);
        if !meta.is_empty() {
            params.insert("_meta".into(), Value::Object(meta));
        }
        params
    }
}

/// The answer to a request.
pub(super) struct Reply {
    pub(super) outcome: Result<Value, Refusal>,
    pub(super) server_request_id: Option<String>,
}

/// An answer that is no result.
pub(super) enum Refusal {
    /// A JSON-RPC error.
    Rpc(RpcError),
    /// 403 with `insufficient_scope`.
    Rights,
}

/// How far a request got, for when its future is dropped by a time limit.
#[derive(Default)]
pub(super) struct Progress {
    sent: AtomicBool,
    id: AtomicU64,
    server_request_id: Mutex<Option<String>>,
}

impl Progress {
    pub(super) fn sending(&self, id: u64) {
        self.id.store(id, Ordering::SeqCst);
        self.sent.store(true, Ordering::SeqCst);
    }

    pub(super) fn not_sent(&self) {
        self.sent.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_sent(&self) -> bool {
        self.sent.load(Ordering::SeqCst)
    }

    pub(super) fn jsonrpc_id(&self) -> Option<u64> {
        Some(self.id.load(Ordering::SeqCst)).filter(|id| *id > 0)
    }

    pub(super) fn answered_as(&self, server_request_id: Option<String>) {
        if server_request_id.is_some() {
            *self.server_request_id.lock().unwrap_or_else(PoisonError::into_inner) = server_request_id;
        }
    }

    /// The trouble with what is known of its request.
    pub(super) fn explain(&self, mut trouble: Trouble) -> Trouble {
        trouble.sent |= self.is_sent();
        trouble.jsonrpc_id = self.jsonrpc_id();
        trouble.server_request_id = self.server_request_id.lock().unwrap_or_else(PoisonError::into_inner).take();
        trouble
    }
}

/// Where an answer holds the server's own id of the request: a member of the result's `_meta`.
pub(super) fn id_in_meta(outcome: &Result<Value, RpcError>, key: Option<&str>) -> Option<String> {
    match outcome.as_ref().ok()?.get("_meta")?.get(key?)? {
        Value::String(id) => Some(id.chars().take(256).collect()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}
