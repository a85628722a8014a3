//! MCP over streamable HTTP (`tool-servers.md` 3.1, 3.2), with the retries of 2.4 that concern the transport.
//!
//! Start at [`Http::ask`]. One POST is in `post`, what is agreed with the server in `session`, sending again in `patience`.

mod events;
mod patience;
mod post;
mod session;

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use super::Surroundings;
use super::ask::{self, Ask, Progress, Refusal, Reply};
use super::headers::header_value;
use super::message::{self, HEADER_MISMATCH, RpcError};
use super::revision::Era;
use super::trouble::Trouble;
use crate::egress::{Client, Provenance};
use crate::tool_servers::patience::Repeat;
use post::{Outgoing, Posted};
use session::{Agreed, METHOD, Memory};

/// How a server is reached by HTTP. It holds the credential, so it has no `Debug`.
#[derive(Clone)]
pub struct HttpEntry {
    /// The endpoint, with a credential that travels in the query.
    pub url: Url,
    /// The fixed headers, with a credential that travels in a header or a cookie.
    pub headers: HeaderMap,
    /// Who wrote the address.
    pub provenance: Provenance,
    /// Where to find the server's own id of a request: a response header, or a member of the result's `_meta`.
    pub request_id: Option<String>,
}

/// A server reached by HTTP.
pub(super) struct Http(Arc<Shared>);

struct Shared {
    entry: HttpEntry,
    egress: Client,
    surroundings: Surroundings,
    list_changes: Arc<AtomicU64>,
    ids: AtomicU64,
    memory: Mutex<Memory>,
    users: AtomicUsize,
    last_used_ms: AtomicI64,
    itself: Weak<Shared>,
}

impl Http {
    pub(super) fn new(
        entry: HttpEntry,
        egress: Client,
        surroundings: Surroundings,
        list_changes: Arc<AtomicU64>,
    ) -> Self {
        Self(Arc::new_cyclic(|itself| Shared {
            last_used_ms: AtomicI64::new(surroundings.clock.now_ms()),
            entry,
            egress,
            surroundings,
            list_changes,
            ids: AtomicU64::new(0),
            memory: Mutex::default(),
            users: AtomicUsize::new(0),
            itself: itself.clone(),
        }))
    }

    /// Agrees on a revision where that was not done.
    pub(super) async fn open(&self) -> Result<(), Trouble> {
        self.0.agreed().await.map(|_| ())
    }

    /// Whether the server speaks 2026-07-28.
    pub(super) async fn is_modern(&self) -> bool {
        let memory = self.0.memory.lock().await;
        memory.agreed.as_ref().is_some_and(|agreed| agreed.revision.era() == Era::Modern)
    }

    /// Sends a request and reads its answer. A session that is gone is opened again once, and so is a server that turns
    /// out to speak in the other era's way.
    pub(super) async fn ask(&self, ask: &Ask<'_>, progress: &Progress) -> Result<Reply, Trouble> {
        let _using = Using::new(&self.0);
        let mut reopened = false;
        loop {
            let agreed = self.0.agreed().await?;
            let posted = self.0.ask_once(ask, &agreed, progress).await?;
            match stale(&posted, &agreed) {
                Some(era_failed) if !reopened => {
                    reopened = true;
                    self.0.forget(&agreed, era_failed).await;
                    progress.not_sent();
                }
                _ => return self.0.reply(posted, progress),
            }
        }
    }

    /// Ends the session.
    pub(super) async fn close(&self) {
        self.0.end().await;
    }
}

impl Shared {
    fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn scrub(&self, text: &str) -> String {
        (self.surroundings.scrub)(text)
    }

    /// Takes note of what the server tells.
    fn note(&self, method: &str) {
        if method == "notifications/tools/list_changed" {
            self.list_changes.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn ask_once(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        agreed: &Arc<Agreed>,
        progress: &Progress,
    ) -> Result<Posted, Trouble> {
        let id = self.next_id();
        let mut headers = agreed.headers();
        let legacy = agreed.revision.era() == Era::Legacy;
        if !legacy {
            headers.insert(METHOD, HeaderValue::from_static(ask.method));
            headers.extend(argument_headers(ask));
        }
        let outgoing = Outgoing {
            id: Some(id),
            body: message::request(id, ask.method, &ask.params_in(agreed.revision)),
            headers,
            answer_bytes: ask.answer_bytes,
            time: ask.time,
        };
        let repeat = Repeat::of(ask.is_read_only(), ask.may_be_repeated());
        let mut cancelling = Cancelling { shared: self, agreed, id, armed: legacy };
        let posted = self.exchange(&outgoing, legacy.then_some(&**agreed), repeat, Some((progress, id))).await;
        // Answered or broken: there is nothing to cancel.
        cancelling.armed = false;
        posted
    }

    fn reply(&self, posted: Posted, progress: &Progress) -> Result<Reply, Trouble> {
        let key = self.entry.request_id.as_deref();
        let in_header = key
            .and_then(|key| posted.headers.get(HeaderName::from_bytes(key.as_bytes()).ok()?))
            .and_then(|id| id.to_str().ok())
            .map(|id| id.chars().take(256).collect::<String>());
        let in_meta = || ask::id_in_meta(posted.outcome.as_ref()?, key);
        let server_request_id = in_header.or_else(in_meta);
        progress.answered_as(server_request_id.clone());
        if posted.status == StatusCode::FORBIDDEN && asks_for_scope(&posted.headers) {
            return Ok(Reply { outcome: Err(Refusal::Rights), server_request_id });
        }
        let failed = posted.status == StatusCode::FORBIDDEN || posted.status.is_server_error();
        let words = posted.words();
        match posted.outcome {
            Some(Err(error)) if error.code == HEADER_MISMATCH => {
                // The marks of the tool changed: the list that was read is old.
                self.list_changes.fetch_add(1, Ordering::SeqCst);
                Err(Trouble::failing(self.scrub(&error.message)).of_status(posted.status).after_sending())
            }
            Some(outcome) if !failed => Ok(Reply { outcome: outcome.map_err(Refusal::Rpc), server_request_id }),
            None if posted.status.is_success() => {
                Err(Trouble::failing("The server's answer is no JSON-RPC.").of_status(posted.status).after_sending())
            }
            _ => Err(Trouble::failing(self.scrub(&words)).of_status(posted.status).after_sending()),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(agreed) = self.memory.get_mut().agreed.take() {
            self.end_aside(&agreed);
        }
    }
}

/// Whether an answer says that what was agreed no longer holds, and then whether the era itself is in doubt.
fn stale(posted: &Posted, agreed: &Agreed) -> Option<bool> {
    let complaint = |test: fn(&RpcError) -> bool| matches!(&posted.outcome, Some(Err(error)) if test(error));
    let refused = matches!(
        posted.status,
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_ACCEPTABLE
    );
    match agreed.revision.era() {
        Era::Legacy if complaint(RpcError::speaks_modern) => Some(true),
        Era::Legacy if agreed.has_session() && posted.status == StatusCode::NOT_FOUND => Some(false),
        // Some servers answer 400 for a session they forgot, with a code of the transport's own range.
        Era::Legacy
            if agreed.has_session() && posted.status == StatusCode::BAD_REQUEST && complaint(is_of_transport) =>
        {
            Some(false)
        }
        Era::Modern if complaint(|error| error.code == message::UNSUPPORTED_REVISION) => Some(true),
        Era::Modern if refused && (posted.outcome.is_none() || complaint(is_of_transport)) => Some(true),
        _ => None,
    }
}

/// Codes that servers of the older revisions use for sessions and handshakes.
fn is_of_transport(error: &RpcError) -> bool {
    (-32019..=-32000).contains(&error.code)
}

fn asks_for_scope(headers: &HeaderMap) -> bool {
    headers
        .get_all(http::header::WWW_AUTHENTICATE)
        .iter()
        .any(|challenge| challenge.to_str().is_ok_and(|challenge| challenge.contains("insufficient_scope")))
}

/// `Mcp-Name` and the headers of marked arguments.
fn argument_headers(ask: &Ask<'_>) -> Vec<(HeaderName, HeaderValue)> {
    let Some(tool) = ask.tool else {
        return Vec::new();
    };
    let mut headers = vec![(HeaderName::from_static("mcp-name"), header_value(&tool.name))];
    if let Some(Value::Object(arguments)) = ask.params.get("arguments") {
        headers.extend(tool.header_marks.iter().filter_map(|mark| mark.header_for(arguments)));
    }
    headers
}

/// Tells an older server that nobody waits any more, when the waiting future is dropped.
struct Cancelling<'a> {
    shared: &'a Shared,
    agreed: &'a Agreed,
    id: u64,
    armed: bool,
}

impl Drop for Cancelling<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.shared.send_aside(self.agreed, message::cancelled(self.id));
        }
    }
}

/// Counts a user of the session, and when it was last used.
struct Using<'a>(&'a Shared);

impl<'a> Using<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.users.fetch_add(1, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        self.0.last_used_ms.store(self.0.surroundings.clock.now_ms(), Ordering::SeqCst);
        self.0.users.fetch_sub(1, Ordering::SeqCst);
    }
}
