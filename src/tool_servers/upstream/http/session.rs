//! What was agreed with a server: its revision, remembered for a day, and in the older revisions its session.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};

use super::Shared;
use super::post::{Outgoing, Posted};
use crate::egress::{Limits, Redirects, Request};
use crate::tool_servers::patience::Repeat;
use crate::tool_servers::upstream::message;
use crate::tool_servers::upstream::revision::{self, Era, Revision, Verdict};
use crate::tool_servers::upstream::trouble::Trouble;

/// How long the revision of a server is remembered.
const MEMORY_MS: i64 = 24 * 60 * 60 * 1000;
/// A session without use is ended after this.
const IDLE_MS: i64 = 5 * 60 * 1000;
/// An answer to a probe is small.
const ANSWER_BYTES: usize = 1 << 20;
/// Asides and endings are given up after this.
const ASIDE: Duration = Duration::from_secs(5);

/// The header with the revision.
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header with the method (2026-07-28).
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// What both sides agreed on.
pub(super) struct Agreed {
    /// The revision.
    pub(super) revision: Revision,
    session: Option<HeaderValue>,
    since_ms: i64,
}

impl Agreed {
    /// Whether the server keeps a session for us.
    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// The headers every message carries from now on.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.revision.has_header() {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(self.revision.name()));
        }
        if let Some(session) = &self.session {
            headers.insert(SESSION_ID, session.clone());
        }
        headers
    }
}

/// What is known of a server between uses.
#[derive(Default)]
pub(super) struct Memory {
    /// What is agreed now.
    pub(super) agreed: Option<Arc<Agreed>>,
    era: Option<(Era, i64)>,
}

/// Why an older server's way did not work.
enum Unlike {
    /// The server speaks in the modern way after all.
    Modern,
    /// It cannot be used.
    Trouble(Trouble),
}

impl From<Trouble> for Unlike {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl Shared {
    /// What is agreed with the server, asking it where that is not known. One caller asks, the others wait for it.
    pub(super) async fn agreed(self: &Arc<Self>) -> Result<Arc<Agreed>, Trouble> {
        let mut memory = self.memory.lock().await;
        let now = self.surroundings.clock.now_ms();
        if let Some(agreed) = memory.agreed.clone().filter(|agreed| now - agreed.since_ms < MEMORY_MS) {
            return Ok(agreed);
        }
        let remembered = memory.era.filter(|(_, since)| now - since < MEMORY_MS).map(|(era, _)| era);
        let agreed = match remembered {
            Some(Era::Legacy) => match self.initialize().await {
                Ok(agreed) => agreed,
                Err(Unlike::Modern) => self.probe().await?,
                Err(Unlike::Trouble(trouble)) => return Err(trouble),
            },
            _ => self.probe().await?,
        };
        let agreed = Arc::new(agreed);
        if let Some(old) = memory.agreed.replace(agreed.clone()) {
            self.end_aside(&old);
        }
        let era = agreed.revision.era();
        if remembered != Some(era) {
            memory.era = Some((era, now));
        }
        if agreed.has_session() {
            self.list_changes.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(end_when_idle(Arc::downgrade(self), Arc::downgrade(&agreed)));
        }
        Ok(agreed)
    }

    /// Forgets what was agreed, unless somebody agreed anew meanwhile; the era too where `era_failed`.
    pub(super) async fn forget(&self, agreed: &Arc<Agreed>, era_failed: bool) {
        let mut memory = self.memory.lock().await;
        if memory.agreed.as_ref().is_some_and(|current| Arc::ptr_eq(current, agreed)) {
            memory.agreed = None;
            if era_failed {
                memory.era = None;
            }
        }
    }

    /// Asks in the modern way first.
    async fn probe(self: &Arc<Self>) -> Result<Agreed, Trouble> {
        let mut params = Map::new();
        params.insert("_meta".into(), Value::Object(Revision::PROBE.meta(None)));
        let mut headers = HeaderMap::new();
        headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(Revision::PROBE.name()));
        headers.insert(METHOD, HeaderValue::from_static("server/discover"));
        let posted = self.post_opening("server/discover", &params, headers).await?;
        let verdict = match &posted.outcome {
            Some(outcome) => revision::of_discovery(outcome),
            None => Verdict::Initialize,
        };
        match verdict {
            Verdict::Modern(revision) => Ok(self.agree(revision, None)),
            Verdict::Failing(words) => Err(Trouble::failing(self.scrub(&words))),
            Verdict::Initialize => self.initialize().await.map_err(|unlike| match unlike {
                Unlike::Modern => Trouble::failing("The server refuses both ways of opening it."),
                Unlike::Trouble(trouble) => trouble,
            }),
        }
    }

    async fn initialize(self: &Arc<Self>) -> Result<Agreed, Unlike> {
        let posted = self.post_opening("initialize", &revision::initialize_params(), HeaderMap::new()).await?;
        let result = match &posted.outcome {
            Some(Ok(result)) => result,
            Some(Err(error)) if error.speaks_modern() => return Err(Unlike::Modern),
            Some(Err(_)) => return Err(Trouble::failing(self.scrub(&posted.words())).of_status(posted.status).into()),
            None => return Err(no_mcp(&posted).of_status(posted.status).into()),
        };
        let revision = revision::of_initialize(result).map_err(|words| Trouble::failing(self.scrub(&words)))?;
        let agreed = self.agree(revision, posted.headers.get(SESSION_ID).cloned());
        if revision.era() == Era::Legacy {
            let outgoing = self.aside(&agreed, message::notification("notifications/initialized", None));
            // A server that minds says so to the first request.
            self.post(&outgoing, None).await.map_err(Trouble::from)?;
        }
        Ok(agreed)
    }

    fn agree(&self, revision: Revision, session: Option<HeaderValue>) -> Agreed {
        tracing::debug!(mcp.revision = revision.name(), "agreed on a revision");
        Agreed { revision, session, since_ms: self.surroundings.clock.now_ms() }
    }

    /// Sends one of the first two requests; a 5xx or a refused credential ends the attempt.
    async fn post_opening(
        self: &Arc<Self>,
        method: &'static str,
        params: &Map<String, Value>,
        headers: HeaderMap,
    ) -> Result<Posted, Trouble> {
        let id = self.next_id();
        let outgoing = Outgoing {
            id: Some(id),
            body: message::request(id, method, params),
            headers,
            answer_bytes: ANSWER_BYTES,
            time: crate::tool_servers::upstream::OPENING,
        };
        let posted = self.exchange(&outgoing, None, Repeat::ReadOnly, None).await?;
        if posted.status.is_server_error() || posted.status.is_redirection() {
            return Err(Trouble::failing(self.scrub(&posted.words())).of_status(posted.status));
        }
        Ok(posted)
    }

    /// A message nobody waits for.
    fn aside(&self, agreed: &Agreed, body: Value) -> Outgoing {
        Outgoing { id: None, body, headers: agreed.headers(), answer_bytes: ANSWER_BYTES, time: ASIDE }
    }

    /// Sends a message nobody waits for, beside the request it belongs to. Outside of the runtime it is left unsent.
    pub(super) fn send_aside(&self, agreed: &Agreed, body: Value) {
        let (Some(shared), Ok(runtime)) = (self.itself.upgrade(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let outgoing = self.aside(agreed, body);
        runtime.spawn(async move {
            if let Err(failure) = shared.post(&outgoing, None).await {
                tracing::debug!(%failure, "a message to a tool server was not taken");
            }
        });
    }

    /// Ends the session, if there is one, and waits for that.
    pub(super) async fn end(&self) {
        let agreed = self.memory.lock().await.agreed.take();
        if let Some(request) = agreed.and_then(|agreed| self.ending(&agreed)) {
            let _ = self.egress.send(request).await;
        }
    }

    /// Ends a session without waiting.
    pub(super) fn end_aside(&self, agreed: &Agreed) {
        let (Some(request), Ok(runtime)) = (self.ending(agreed), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let egress = self.egress.clone();
        runtime.spawn(async move {
            let _ = egress.send(request).await;
        });
    }

    fn ending(&self, agreed: &Agreed) -> Option<Request> {
        agreed.session.as_ref()?;
        let mut headers = self.entry.headers.clone();
        headers.extend(agreed.headers());
        Some(Request {
            method: Method::DELETE,
            url: self.entry.url.clone(),
            headers,
            body: None,
            provenance: self.entry.provenance,
            limits: Limits { connect: ASIDE, first_byte: ASIDE, whole: ASIDE, body_bytes: ANSWER_BYTES },
            redirects: Redirects::None,
        })
    }
}

/// A body nobody could read, from a server that was asked to initialize.
fn no_mcp(posted: &Posted) -> Trouble {
    if matches!(posted.status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
        return Trouble::failing(format!(
            "The server answered with status {}: at this address it does not speak MCP over streamable HTTP. The older \
             transport, with a stream that is opened first, is not spoken here.",
            posted.status.as_u16()
        ));
    }
    if posted.status.is_success() {
        return Trouble::failing("The server does not speak MCP: its answer to initialize is no JSON-RPC.");
    }
    Trouble::failing(posted.words())
}

/// Ends a session that nobody used for five minutes.
async fn end_when_idle(shared: Weak<Shared>, agreed: Weak<Agreed>) {
    let mut wait_ms = IDLE_MS;
    loop {
        let Some(sleep) = shared.upgrade().map(|shared| shared.surroundings.sleep.clone()) else {
            return;
        };
        sleep(Duration::from_millis(wait_ms.unsigned_abs())).await;
        let (Some(shared), Some(agreed)) = (shared.upgrade(), agreed.upgrade()) else {
            return;
        };
        let idle_ms = shared.surroundings.clock.now_ms() - shared.last_used_ms.load(Ordering::SeqCst);
        let mut memory = shared.memory.lock().await;
        if memory.agreed.as_ref().is_none_or(|current| !Arc::ptr_eq(current, &agreed)) {
            return;
        }
        if shared.users.load(Ordering::SeqCst) == 0 && idle_ms >= IDLE_MS {
            memory.agreed = None;
            shared.end_aside(&agreed);
            return;
        }
        wait_ms = (IDLE_MS - idle_ms).clamp(1000, IDLE_MS);
    }
}
