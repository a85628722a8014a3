//! One live call: a place, the start recorded, the request, its answer recorded, the answer (`tool-servers.md` 9 to 12).
//!
//! The work goes on beside its caller: one that leaves, or a stop of the server, cuts the request, and that is recorded.

mod keys;
mod lease;
mod record;
mod send;
mod sweep;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::ToolServers;
use super::check::{Found, Refusal};
use super::live::Live;
use super::scrub::Scrubber;
use super::upstream::{Because, Trouble};
use crate::clock;
use crate::error::{Problem, Reason, Result};
use crate::ledger::Actor;
use keys::Begun;
use record::Ended;
use send::Sent;

/// The most bytes of a text and of an answer.
const SHOWN_BYTES: usize = 64 << 10;

/// A call somebody asked for. Names, permission, size and schema were checked.
#[derive(Clone)]
pub struct Call {
    /// The org.
    pub org: String,
    /// The playbook it acts as.
    pub playbook: String,
    /// Who asked for it.
    pub actor: Actor,
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The caller's key, under which the same call is made once.
    pub idempotency_key: Option<String>,
}

/// How a call that was made ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool did it.
    Result,
    /// The tool says that it failed, or refused the arguments.
    ToolError,
    /// The server failed; the call may have had its effect.
    ServerFailure,
    /// No answer came in time; the call may have had its effect.
    TimedOut,
}

/// What of an HTTP answer is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Http {
    /// The status.
    pub status: u16,
    /// The headers about paging, limits and the request's id.
    pub headers: BTreeMap<String, String>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The call's id, in its two events too.
    pub call_id: String,
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What a model reads, at most 64 KiB; the words of a failure.
    pub text: String,
    /// What programs read, where there is something of at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// The size of the whole result, or null.
    pub result_bytes: Option<u64>,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// When it was made.
    pub called_at: String,
    /// The HTTP answer, of an HTTP API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Http>,
    /// The server's own id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_request_id: Option<String>,
    /// How long the server asks to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// True for an answer given again under its key.
    #[serde(default, skip_serializing_if = "is_false")]
    pub replayed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer's signature")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What is recorded of a call when it begins.
pub(super) struct Started {
    pub(super) call: Call,
    pub(super) call_id: String,
    pub(super) event_id: String,
    pub(super) at: i64,
    pub(super) read_only: bool,
    pub(super) record_content: bool,
}

impl ToolServers {
    /// The answer recorded under the call's key, where the same call ended already; asks no server.
    ///
    /// # Errors
    /// `conflict` where the key stands for another call or for one that is under way.
    pub async fn recorded_answer(&self, call: &Call) -> Result<Option<Answer>> {
        keys::recorded(&self.needs.ledger, call, self.now_ms()).await
    }

    /// Makes the call.
    pub async fn execute(&self, found: Found, call: Call) -> Result<Answer> {
        if self.needs.lifecycle.is_stopping() {
            return Err(Problem::unavailable("The server is stopping, so the call was not made."));
        }
        let is_process = found.is_process();
        let place = self.places.take(&call.org, &call.server, is_process).await;
        let place = place.map_err(|_| Refusal::Busy.problem(&call.server, &call.tool))?;
        let pace = found.live.pace.admit(self.now_ms()).await;
        let pace = pace.map_err(|trouble| Refusal::Failed(trouble).problem(&call.server, &call.tool))?;
        let left = CancellationToken::new();
        let _cut_when_dropped = left.clone().drop_guard();
        let (answer, answered) = oneshot::channel();
        let this = self.clone();
        self.needs.lifecycle.spawn(async move {
            let ended = this.run(&found, call, &left).await;
            drop((place, pace));
            // A caller that left hears nothing; the record stands all the same.
            let _ = answer.send(ended);
        });
        answered.await.map_err(|_| Problem::internal("a call ended without an answer"))?
    }

    async fn run(&self, found: &Found, call: Call, left: &CancellationToken) -> Result<Answer> {
        let at = self.now_ms();
        let started = Started {
            call,
            call_id: self.needs.ids.uuid(at).to_string(),
            event_id: self.needs.ids.uuid(at).to_string(),
            at,
            read_only: found.tool.hints.is_read_only(),
            record_content: found.server.record_content,
        };
        if let Begun::Before(answer) = keys::begin(&self.needs.ledger, &started, at).await? {
            return Ok(*answer);
        }
        let sent = tokio::select! {
            sent = self.sent(found, &started) => Some(sent),
            never = self.hold(&started) => match never {},
            () = left.cancelled() => None,
            () = self.needs.lifecycle.token().cancelled() => None,
        };
        let duration_ms = self.now_ms() - at;
        let (scrubber, sent) = match sent {
            Some((live, sent)) => (live.scrubber.clone(), Some(sent)),
            None => (found.live.scrubber.clone(), None),
        };
        let (ended, told) = self.ended(&scrubber, &started, sent, duration_ms);
        let call = &started.call;
        tracing::info!(
            org.id = %call.org, playbook.id = %call.playbook, tool_server.name = %call.server, tool.name = %call.tool,
            call.id = %started.call_id, call.end = ended.kind, duration_ms, "a tool was called by hand"
        );
        if !record::end(&self.needs.ledger, &started, ended, self.now_ms()).await? {
            tracing::warn!(
                org.id = %call.org, playbook.id = %call.playbook, call.id = %started.call_id,
                "a call ended that was closed as lost already, so that the history holds no answer of it"
            );
        }
        told
    }

    /// Sends the call, once more with new tokens where the server refuses those at hand.
    async fn sent(&self, found: &Found, started: &Started) -> (Arc<Live>, Result<Sent, Trouble>) {
        let live = || found.live.clone();
        let trouble = match self.send(found, started).await {
            Err(trouble) if trouble.because == Because::KeyRefused => trouble,
            sent => return (live(), sent),
        };
        let Some(renewed) = self.found_again(found, &trouble).await else { return (live(), Err(trouble)) };
        let again = self.send(&renewed, started).await;
        (renewed.live, self.after_new_tokens(&renewed.server, again).await)
    }

    /// What is recorded of the end, and what the caller is told.
    fn ended(
        &self,
        scrubber: &Scrubber,
        started: &Started,
        sent: Option<Result<Sent, Trouble>>,
        duration_ms: i64,
    ) -> (Ended, Result<Answer>) {
        match sent {
            None => {
                (Ended::failed("cancelled", "The call was cut before it was answered.", duration_ms), Err(self.cut()))
            }
            Some(Ok(sent)) => {
                let (answered, told) = sent.told(started, scrubber, duration_ms);
                (answered, Ok(told))
            }
            Some(Err(mut trouble)) => {
                trouble.detail = scrubber.text(&trouble.detail);
                let because = if trouble.timed_out && trouble.sent { "timed_out" } else { "server_failure" };
                let words = if started.record_content || !trouble.sent {
                    trouble.detail.as_str()
                } else {
                    "The server failed."
                };
                let mut ended = Ended::failed(because, words, duration_ms);
                if !trouble.sent {
                    // Nothing happened there, so that the key may serve the next try.
                    ended.frees_key = true;
                    let refusal = Refusal::Failed(trouble);
                    return (ended, Err(refusal.problem(&started.call.server, &started.call.tool)));
                }
                let told = started.answer(Told {
                    outcome: if because == "timed_out" { Outcome::TimedOut } else { Outcome::ServerFailure },
                    text: trouble.detail,
                    answer: None,
                    result_bytes: None,
                    duration_ms,
                    http: None,
                    server_request_id: trouble.server_request_id.map(|id| scrubber.text(&id)),
                    retry_after_ms: match trouble.because {
                        Because::RateLimited { retry_after } => {
                            retry_after.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
                        }
                        _ => None,
                    },
                });
                ended.kept = started.kept(&told);
                (ended, Ok(told))
            }
        }
    }

    fn cut(&self) -> Problem {
        if self.needs.lifecycle.is_stopping() {
            return Problem::unavailable(
                "The server is stopping and cut the call. Its effect may stand; the history holds it.",
            );
        }
        Problem::new(Reason::ClientClosedRequest, "The caller left before the call was answered; its effect may stand.")
    }
}

/// What differs between answers.
struct Told {
    outcome: Outcome,
    text: String,
    answer: Option<Value>,
    result_bytes: Option<u64>,
    duration_ms: i64,
    http: Option<Http>,
    server_request_id: Option<String>,
    retry_after_ms: Option<u64>,
}

impl Started {
    fn answer(&self, told: Told) -> Answer {
        Answer {
            call_id: self.call_id.clone(),
            server: self.call.server.clone(),
            tool: self.call.tool.clone(),
            outcome: told.outcome,
            text: shortened(told.text),
            answer: told.answer.filter(|answer| answer.to_string().len() <= SHOWN_BYTES),
            result_bytes: told.result_bytes,
            duration_ms: told.duration_ms,
            called_at: clock::iso(self.at),
            http: told.http,
            server_request_id: told.server_request_id,
            retry_after_ms: told.retry_after_ms,
            replayed: false,
        }
    }

    /// The answer as it is kept under the key: without its content where content is not kept.
    fn kept(&self, answer: &Answer) -> Option<Answer> {
        self.call.idempotency_key.as_ref()?;
        let mut kept = Answer { replayed: true, ..answer.clone() };
        if !self.record_content {
            kept.answer = None;
            kept.http = None;
            kept.text = "The call was made; what it answered is not kept.".into();
        }
        Some(kept)
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > SHOWN_BYTES {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(SHOWN_BYTES - 100));
        text.push_str(&format!("\n\n[Cut here; the whole text has {whole} bytes.]"));
    }
    text
}
