//! The client side of MCP: how Playmaker reaches tool servers that speak it, over HTTP or as a process of the machine.
//!
//! Start at [`Upstream`]: it opens the server when it is first needed, lists its tools and calls them, within the bounds
//! of `tool-servers.md` 2.1. It caches no list, checks no arguments against a schema and scrubs no results: those are
//! its callers' matters. Words of failures, listed texts and stderr lines are scrubbed here, since they are cut here.
//!
//! The client of `rmcp` is not used. Its transport has no place for what is asked of ours: the guarded client of
//! [`crate::egress`] with a bound on every answer, one session shared by all users and renewed on 404, waits that follow
//! `Retry-After`, 24 h of memory for the revision, header marks known from an earlier list, and results kept whole for
//! the record. The messages are few and small, so they are written here as plain JSON.

mod answer;
mod ask;
mod breaker;
mod headers;
mod http;
mod listing;
mod message;
mod process;
mod revision;
#[cfg(test)]
mod tests;
mod trouble;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

pub use answer::Called;
pub use headers::HeaderMark;
pub use http::HttpEntry;
pub use listing::{Hints, ListedTool, Listing};
pub use process::ProcessEntry;
pub use trouble::{Because, Trouble, WORDS_BYTES};

use crate::clock::SharedClock;
use crate::egress;
use answer::Next;
use ask::{Ask, Progress, Refusal, Reply};
use breaker::Breaker;
use listing::Pages;
use message::RpcError;

/// To open a connection, or to start a process, and to agree on a revision.
const OPENING: Duration = Duration::from_secs(10);
/// To list all tools.
const LISTING: Duration = Duration::from_secs(10);
/// For one call.
const CALLING: Duration = Duration::from_secs(30);
/// How often a call is repeated where the server asks just for that.
const REPEATS: usize = 3;

/// Replaces the secrets of one server in a text.
pub type Scrub = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Waits; a test puts its own here.
pub type Sleep = Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// What a server is reached with besides its address.
#[derive(Clone)]
pub struct Surroundings {
    /// The present.
    pub clock: SharedClock,
    /// How waits are waited.
    pub sleep: Sleep,
    /// Takes the server's secrets out of texts.
    pub scrub: Scrub,
}

impl Surroundings {
    /// Those of a running server.
    pub fn new(clock: SharedClock, scrub: Scrub) -> Self {
        Self { clock, sleep: Arc::new(|time| Box::pin(tokio::time::sleep(time))), scrub }
    }
}

/// Whom a call is for; sent along in `_meta`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallContext {
    /// The call's id, the same in every attempt.
    pub call_id: String,
    /// The run it belongs to.
    pub run_id: Option<String>,
    /// The trace it belongs to (W3C Trace Context).
    pub traceparent: Option<String>,
}

/// One MCP server, shared by everybody who uses it with one credential.
///
/// Dropping the future of a call cancels the call.
pub struct Upstream {
    wire: Wire,
    breaker: Breaker,
    scrub: Scrub,
    list_changes: Arc<AtomicU64>,
}

enum Wire {
    Http(http::Http),
    Process(Box<process::Process>),
}

impl Upstream {
    /// A server reached by streamable HTTP through `egress`.
    pub fn http(entry: HttpEntry, egress: egress::Client, surroundings: Surroundings) -> Self {
        let list_changes = Arc::new(AtomicU64::new(0));
        Self {
            breaker: Breaker::new(surroundings.clock.clone()),
            scrub: surroundings.scrub.clone(),
            wire: Wire::Http(http::Http::new(entry, egress, surroundings, list_changes.clone())),
            list_changes,
        }
    }

    /// A server that is a process of this machine, started on first use.
    pub fn process(entry: ProcessEntry, surroundings: Surroundings) -> Self {
        let list_changes = Arc::new(AtomicU64::new(0));
        Self {
            breaker: Breaker::new(surroundings.clock.clone()),
            scrub: surroundings.scrub.clone(),
            wire: Wire::Process(Box::new(process::Process::new(entry, surroundings, list_changes.clone()))),
            list_changes,
        }
    }

    /// Lists all tools, anew each time.
    pub async fn list(&self) -> Result<Listing, Trouble> {
        self.breaker.admit()?;
        let listed = async {
            self.open().await?;
            timeout(LISTING, self.list_pages())
                .await
                .unwrap_or_else(|_| Err(Trouble::timed_out("The server did not list its tools within 10 seconds.")))
        };
        let listed = listed.await.map_err(|trouble| self.scrubbed(trouble));
        match &listed {
            Ok(_) => self.breaker.succeeded(),
            Err(trouble) => self.breaker.failed(trouble),
        }
        listed
    }

    /// Calls a tool with arguments that were checked before.
    pub async fn call(
        &self,
        tool: &ListedTool,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Called, Trouble> {
        self.breaker.admit()?;
        if let Err(trouble) = self.open().await {
            let trouble = self.scrubbed(trouble);
            self.breaker.failed(&trouble);
            return Err(trouble);
        }
        let progress = Progress::default();
        let called = timeout(CALLING, self.call_until_done(tool, arguments, context, &progress))
            .await
            .unwrap_or_else(|_| Err(Trouble::timed_out("The tool did not answer within 30 seconds.")));
        match called {
            Ok(called) => {
                self.breaker.succeeded();
                Ok(called)
            }
            Err(trouble) => {
                let trouble = self.scrubbed(progress.explain(trouble));
                if !trouble.sent {
                    self.breaker.failed(&trouble);
                }
                Err(trouble)
            }
        }
    }

    /// Ends the session or the process. The server may be used again, and is then opened anew.
    pub async fn close(&self) {
        match &self.wire {
            Wire::Http(http) => http.close().await,
            Wire::Process(process) => process.close().await,
        }
    }

    /// Counts the times the server said that its tools changed, or was opened anew: a list read at another count is old.
    pub fn list_changes(&self) -> u64 {
        self.list_changes.load(Ordering::SeqCst)
    }

    async fn open(&self) -> Result<(), Trouble> {
        let opened = async {
            match &self.wire {
                Wire::Http(http) => http.open().await,
                Wire::Process(process) => process.open().await,
            }
        };
        timeout(OPENING, opened)
            .await
            .unwrap_or_else(|_| Err(Trouble::timed_out("The server did not open within 10 seconds.")))
    }

    async fn ask(&self, ask: &Ask<'_>, progress: &Progress) -> Result<Reply, Trouble> {
        match &self.wire {
            Wire::Http(http) => http.ask(ask, progress).await,
            Wire::Process(process) => process.ask(ask, progress).await,
        }
    }

    async fn list_pages(&self) -> Result<Listing, Trouble> {
        let marks_count = match &self.wire {
            Wire::Http(http) => http.is_modern().await,
            Wire::Process(_) => false,
        };
        let mut pages = Pages::new(marks_count, self.list_changes(), &self.scrub);
        let mut cursor = None;
        let mut bytes_left = listing::LIST_BYTES;
        for _ in 0..listing::PAGES {
            let mut params = Map::new();
            if let Some(cursor) = cursor.take() {
                params.insert("cursor".into(), Value::String(cursor));
            }
            let ask = Ask {
                method: "tools/list",
                params,
                tool: None,
                context: None,
                answer_bytes: bytes_left,
                time: LISTING,
            };
            let page = match self.ask(&ask, &Progress::default()).await?.outcome {
                Ok(page) => page,
                Err(Refusal::Rights) => {
                    return Err(Trouble::failing(answer::RIGHTS_REFUSED).of_status(::http::StatusCode::FORBIDDEN));
                }
                Err(Refusal::Rpc(error)) => return Err(self.refused("The server does not list its tools", &error)),
            };
            bytes_left = bytes_left.saturating_sub(page.to_string().len());
            if bytes_left == 0 {
                return Err(Trouble::failing("The server's list of tools is over 16 MiB."));
            }
            cursor = pages.take(page)?;
            if cursor.is_none() {
                return Ok(pages.finish());
            }
        }
        Err(Trouble::failing(format!("The server's list of tools has more than {} pages.", listing::PAGES)))
    }

    async fn call_until_done(
        &self,
        tool: &ListedTool,
        arguments: &Map<String, Value>,
        context: &CallContext,
        progress: &Progress,
    ) -> Result<Called, Trouble> {
        let mut params = Map::new();
        params.insert("name".into(), tool.name.as_str().into());
        params.insert("arguments".into(), Value::Object(arguments.clone()));
        let mut ask = Ask {
            method: "tools/call",
            params,
            tool: Some(tool),
            context: Some(context),
            answer_bytes: 16 << 20,
            time: CALLING,
        };
        let mut repeats = 0;
        loop {
            let reply = self.ask(&ask, progress).await?;
            let next = match reply.outcome {
                Ok(result) => answer::read(Ok(result)),
                Err(Refusal::Rpc(error)) => answer::read(Err(error)),
                Err(Refusal::Rights) => {
                    Next::Done(answer::tool_error(answer::RIGHTS_REFUSED, json!({ "status": 403 })))
                }
            };
            let mut called = match next {
                Next::Done(called) => called,
                Next::Repeat(state) if repeats < REPEATS => {
                    repeats += 1;
                    ask.params.insert("requestState".into(), state);
                    continue;
                }
                Next::Repeat(_) => answer::repeated_too_often(),
                Next::Failed(words) => return Err(Trouble::failing((self.scrub)(&words)).after_sending()),
            };
            called.jsonrpc_id = progress.jsonrpc_id();
            called.server_request_id = reply.server_request_id;
            return Ok(called);
        }
    }

    fn refused(&self, what: &str, error: &RpcError) -> Trouble {
        Trouble::failing(format!("{what}: {}", (self.scrub)(&error.message)))
    }

    /// Our own words hold no secret, so that this is only for what a server put into them.
    fn scrubbed(&self, mut trouble: Trouble) -> Trouble {
        trouble.detail = trouble::tidy(&(self.scrub)(&trouble.detail), WORDS_BYTES);
        trouble
    }
}
