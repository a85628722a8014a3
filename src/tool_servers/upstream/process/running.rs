//! A process that runs: its requests told apart by id, and its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::clock::SharedClock;
use crate::tool_servers::upstream::message::{self, Incoming, RpcError};
use crate::tool_servers::upstream::revision::Revision;

/// Messages that wait to be written before a caller waits for that.
pub(super) const QUEUE: usize = 64;

type Outcome = Result<Value, RpcError>;

/// A message to be written, and whether that was begun.
pub(super) struct Outgoing {
    /// One line without its end.
    pub(super) line: Vec<u8>,
    /// Set before the first byte is written.
    pub(super) written: Arc<AtomicBool>,
}

impl From<Value> for Outgoing {
    fn from(message: Value) -> Self {
        Self { line: message.to_string().into_bytes(), written: Arc::default() }
    }
}

/// The process ended before it answered.
#[derive(Debug)]
pub(super) struct Ended {
    /// Whether the request was written, wholly or in part.
    pub(super) written: bool,
}

/// A running process. When nobody holds it any more it is ended.
pub(super) struct Running {
    pub(super) wire: Arc<Lines>,
    pub(super) revision: OnceLock<Revision>,
    /// Asks the process to end; its supervisor does so.
    pub(super) stop: CancellationToken,
    /// Done when the process has ended.
    pub(super) over: CancellationToken,
    pub(super) _stop_when_dropped: DropGuard,
}

/// Both directions of a process's messages.
pub(super) struct Lines {
    writer: mpsc::Sender<Outgoing>,
    /// Who waits for which answer; `None` once there will be no more answers.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Outcome>>>>,
    ids: AtomicU64,
    clock: SharedClock,
    last_used_ms: AtomicI64,
    list_changes: Arc<AtomicU64>,
}

impl Lines {
    pub(super) fn new(writer: mpsc::Sender<Outgoing>, clock: SharedClock, list_changes: Arc<AtomicU64>) -> Self {
        Self {
            writer,
            waiting: Mutex::new(Some(HashMap::new())),
            ids: AtomicU64::new(0),
            last_used_ms: AtomicI64::new(clock.now_ms()),
            clock,
            list_changes,
        }
    }

    /// Sends a request and waits for its answer. Dropping the future tells the process that nobody waits, where
    /// `cancellable`; the first requests are not, since a server takes nothing else before them.
    pub(super) async fn request(
        &self,
        method: &str,
        params: &Map<String, Value>,
        cancellable: bool,
        sending: impl FnOnce(u64),
    ) -> Result<Outcome, Ended> {
        let id = self.ids.fetch_add(1, Ordering::SeqCst) + 1;
        let (answered, answer) = oneshot::channel();
        match self.waiting().as_mut() {
            Some(waiting) => waiting.insert(id, answered),
            None => return Err(Ended { written: false }),
        };
        let outgoing = Outgoing::from(message::request(id, method, params));
        let mut waiting = Waiting { lines: self, id, written: outgoing.written.clone(), cancellable };
        sending(id);
        if self.writer.send(outgoing).await.is_err() {
            waiting.cancellable = false;
            return Err(Ended { written: false });
        }
        let outcome = answer.await;
        waiting.cancellable = false;
        outcome.map_err(|_| Ended { written: waiting.written.load(Ordering::SeqCst) })
    }

    /// Sends a message that has no answer, where there is room for it.
    pub(super) fn send(&self, message: Value) {
        let _ = self.writer.try_send(message.into());
    }

    /// Takes one line of the process. What is no message is skipped.
    pub(super) fn take(&self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let Some(messages) = Incoming::read(line) else {
            tracing::warn!(bytes = line.len(), "a tool server wrote a line that is no message");
            return;
        };
        for message in messages {
            match message {
                Incoming::Answer { id: Some(id), outcome } => {
                    let waiting = self.waiting().as_mut().and_then(|waiting| waiting.remove(&id));
                    if let Some(answered) = waiting {
                        let _ = answered.send(outcome);
                    }
                }
                Incoming::Answer { id: None, .. } => {}
                Incoming::Request { id, method } => self.send(message::answer_to(id, &method)),
                Incoming::Notification { method } if method == "notifications/tools/list_changed" => {
                    self.list_changes.fetch_add(1, Ordering::SeqCst);
                }
                Incoming::Notification { .. } => {}
            }
        }
    }

    /// No more answers come: everybody who waits learns so.
    pub(super) fn end(&self) {
        *self.waiting() = None;
    }

    /// Whether there may be answers still.
    pub(super) fn is_open(&self) -> bool {
        self.waiting().is_some()
    }

    /// Takes no more requests where nobody used the process for `bound_ms`. Otherwise tells in how many milliseconds
    /// that may be so; `None` while somebody uses it.
    pub(super) fn end_where_idle(&self, bound_ms: i64) -> Option<i64> {
        let mut waiting = self.waiting();
        if waiting.as_ref().is_some_and(|waiting| !waiting.is_empty()) {
            return None;
        }
        let idle_ms = self.clock.now_ms() - self.last_used_ms.load(Ordering::SeqCst);
        if idle_ms >= bound_ms {
            *waiting = None;
            return Some(0);
        }
        Some((bound_ms - idle_ms).clamp(1, bound_ms))
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Outcome>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose answer somebody waits for.
struct Waiting<'a> {
    lines: &'a Lines,
    id: u64,
    written: Arc<AtomicBool>,
    cancellable: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let lines = self.lines;
        lines.last_used_ms.store(lines.clock.now_ms(), Ordering::SeqCst);
        if let Some(waiting) = lines.waiting().as_mut() {
            waiting.remove(&self.id);
        }
        if self.cancellable {
            lines.send(message::cancelled(self.id));
        }
    }
}
