//! MCP over a process's standard input and output (`tool-servers.md` 3.3).
//!
//! Start at [`Process::ask`]. `supervisor` starts and ends the process, `running` tells its answers apart, `lines` reads.

mod lines;
mod running;
mod supervisor;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::timeout;

use super::Surroundings;
use super::ask::{self, Ask, Progress, Refusal, Reply};
use super::message;
use super::revision::{self, Era, Revision, Verdict};
use super::trouble::Trouble;
use running::{Ended, Running};

/// How long a process has to answer `server/discover`.
const DISCOVERY: Duration = Duration::from_secs(2);
/// So many ends by itself within the window, and the process is left alone for the pause.
const ENDS: usize = 3;
const WINDOW_MS: i64 = 60_000;
const PAUSE_MS: i64 = 30_000;

/// A program of this machine. Its environment holds secrets, so it has no `Debug`.
#[derive(Clone)]
pub struct ProcessEntry {
    /// The program; no shell reads it.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// The member of a result's `_meta` that holds the server's own id of a request.
    pub request_id: Option<String>,
}

/// A server that is a process, one for all who use it.
pub(super) struct Process {
    entry: ProcessEntry,
    surroundings: Surroundings,
    list_changes: Arc<AtomicU64>,
    running: tokio::sync::Mutex<Option<Arc<Running>>>,
    ends: Arc<Ends>,
    /// Whether the program was seen to be of the older era, so that it is not asked again in the modern way.
    legacy: AtomicBool,
}

/// When the process ended by itself lately.
#[derive(Default)]
pub(super) struct Ends(Mutex<VecDeque<i64>>);

impl Ends {
    fn note(&self, now_ms: i64) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ends.push_back(now_ms);
        if ends.len() > ENDS {
            ends.pop_front();
        }
    }

    fn paused(&self, now_ms: i64) -> bool {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (ends.front(), ends.back()) {
            (Some(first), Some(last)) => ends.len() == ENDS && last - first <= WINDOW_MS && now_ms - last < PAUSE_MS,
            _ => false,
        }
    }
}

impl Process {
    pub(super) fn new(entry: ProcessEntry, surroundings: Surroundings, list_changes: Arc<AtomicU64>) -> Self {
        Self {
            entry,
            surroundings,
            list_changes,
            running: tokio::sync::Mutex::new(None),
            ends: Arc::default(),
            legacy: AtomicBool::new(false),
        }
    }

    /// Starts the process where it does not run.
    pub(super) async fn open(&self) -> Result<(), Trouble> {
        self.running().await.map(|_| ())
    }

    /// Sends a request and reads its answer. A process that ended is started once more; the request is repeated only
    /// where it had not been written.
    pub(super) async fn ask(&self, ask: &Ask<'_>, progress: &Progress) -> Result<Reply, Trouble> {
        let mut restarted = false;
        loop {
            let running = self.running().await?;
            let revision = *running.revision.get().unwrap_or(&Revision::PROBE);
            let params = ask.params_in(revision);
            let outcome = running.wire.request(ask.method, &params, true, |id| progress.sending(id)).await;
            match outcome {
                Ok(outcome) => return Ok(self.reply(outcome, progress)),
                Err(Ended { written: false }) if !restarted => {
                    progress.not_sent();
                    restarted = true;
                }
                Err(Ended { written }) => {
                    if !written {
                        progress.not_sent();
                    }
                    return Err(Trouble::unreachable("The process of the server ended before it answered."));
                }
            }
        }
    }

    /// Ends the process and waits until it is gone.
    pub(super) async fn close(&self) {
        if let Some(running) = self.running.lock().await.take() {
            running.stop.cancel();
            running.over.cancelled().await;
        }
    }

    fn reply(&self, outcome: Result<Value, message::RpcError>, progress: &Progress) -> Reply {
        let server_request_id = ask::id_in_meta(&outcome, self.entry.request_id.as_deref());
        progress.answered_as(server_request_id.clone());
        Reply { outcome: outcome.map_err(Refusal::Rpc), server_request_id }
    }

    /// The running process, started where there is none; one caller starts it, the others wait.
    async fn running(&self) -> Result<Arc<Running>, Trouble> {
        let mut slot = self.running.lock().await;
        if let Some(running) = slot.as_ref().filter(|running| running.wire.is_open()) {
            return Ok(running.clone());
        }
        *slot = None;
        let mut restarted = false;
        loop {
            if self.ends.paused(self.surroundings.clock.now_ms()) {
                return Err(Trouble::unreachable(
                    "The process of the server ended again and again and is left alone for 30 seconds.",
                ));
            }
            let running = supervisor::start(&self.entry, &self.surroundings, &self.list_changes, &self.ends)?;
            match self.agree(&running).await {
                Ok(revision) => {
                    tracing::debug!(mcp.revision = revision.name(), "agreed on a revision");
                    let _ = running.revision.set(revision);
                    *slot = Some(running.clone());
                    return Ok(running);
                }
                Err(Disagreed::Ended) if !restarted => restarted = true,
                Err(Disagreed::Ended) => return Err(Trouble::unreachable("The process of the server ended at once.")),
                Err(Disagreed::Failing(words)) => return Err(Trouble::failing((self.surroundings.scrub)(&words))),
            }
        }
    }

    /// Asks in the modern way, then with `initialize`, on the same process.
    async fn agree(&self, running: &Running) -> Result<Revision, Disagreed> {
        if !self.legacy.load(Ordering::SeqCst) {
            let mut params = Map::new();
            params.insert("_meta".into(), Value::Object(Revision::PROBE.meta(None)));
            let asked = running.wire.request("server/discover", &params, false, |_| {});
            let verdict = match timeout(DISCOVERY, asked).await {
                Ok(Ok(outcome)) => revision::of_discovery(&outcome),
                Ok(Err(_)) => {
                    // Some older programs end at a first message they do not know: the next one is not asked this.
                    self.legacy.store(true, Ordering::SeqCst);
                    return Err(Disagreed::Ended);
                }
                Err(_) => Verdict::Initialize,
            };
            match verdict {
                Verdict::Modern(revision) => return Ok(revision),
                Verdict::Failing(words) => return Err(Disagreed::Failing(words)),
                Verdict::Initialize => {}
            }
        }
        let outcome = running
            .wire
            .request("initialize", &revision::initialize_params(), false, |_| {})
            .await
            .map_err(|_| Disagreed::Ended);
        // A program that cannot be initialized is asked in the modern way the next time.
        self.legacy.store(false, Ordering::SeqCst);
        let result =
            outcome?.map_err(|error| Disagreed::Failing(format!("The server refuses to start: {}", error.message)))?;
        let revision = revision::of_initialize(&result).map_err(Disagreed::Failing)?;
        if revision.era() == Era::Legacy {
            self.legacy.store(true, Ordering::SeqCst);
            running.wire.send(message::notification("notifications/initialized", None));
        }
        Ok(revision)
    }
}

/// Why a process that was started cannot be used.
enum Disagreed {
    /// It ended.
    Ended,
    /// It refuses; its words, not yet scrubbed.
    Failing(String),
}
