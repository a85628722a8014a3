//! The rows of a call made by hand: its two events, and the row that says whether it is in hand.

use serde_json::{Value, json};

use super::{Answer, Started};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::ledger::{Actor, Changed, Event, Ledger};

const ENDED: &str = "UPDATE tool_calls SET ended_at = $3, answer = $4 \
     WHERE org = $1 AND call_id = $2 AND ended_at IS NULL";
const FORGOTTEN: &str = "DELETE FROM tool_calls WHERE org = $1 AND call_id = $2 AND ended_at IS NULL";

/// How a call ended, for the record.
pub(super) struct Ended {
    /// The type of its event.
    pub(super) kind: &'static str,
    data: Value,
    /// What is kept under the caller's key.
    pub(super) kept: Option<Answer>,
    /// Whether the key may be used again.
    pub(super) frees_key: bool,
}

impl Ended {
    pub(super) fn answered(data: Value) -> Self {
        Self { kind: "tool_execute_answered", data, kept: None, frees_key: false }
    }

    /// Without an answer: `server_failure`, `timed_out`, `cancelled` or `lost`.
    pub(super) fn failed(because: &'static str, detail: &str, duration_ms: i64) -> Self {
        let data = json!({ "because": because, "detail": detail, "duration_ms": duration_ms });
        Self { kind: "tool_execute_failed", data, kept: None, frees_key: false }
    }
}

/// The event of a start; the arguments were found to hold no secret of the server.
pub(super) fn started(started: &Started) -> Event {
    let call = &started.call;
    let arguments = serde_json::to_vec(&call.arguments).unwrap_or_default();
    let mut data = json!({ "call_id": started.call_id, "server": call.server, "tool": call.tool });
    if started.read_only {
        data["read_only"] = true.into();
    }
    data["arguments_bytes"] = arguments.len().into();
    data["arguments_sha256"] = sha256_hex(&arguments).into();
    data["content_kept"] = started.record_content.into();
    if started.record_content {
        data["arguments"] = Value::Object(call.arguments.clone());
    }
    if let Some(key) = &call.idempotency_key {
        data["idempotency_key_sha256"] = sha256_hex(key).into();
    }
    let mut event =
        Event::history(&call.playbook, stream(&started.call_id), "tool_execute_started", call.actor.clone(), data);
    event.id = Some(started.event_id.clone());
    event
}

/// The event of an end, caused by that of the start.
pub(super) fn ended(playbook: &str, call_id: &str, started_event: &str, actor: Actor, ended: Ended) -> Event {
    let mut data = json!({ "call_id": call_id });
    if let (Some(data), Value::Object(members)) = (data.as_object_mut(), ended.data) {
        data.extend(members);
    }
    let mut event = Event::history(playbook, stream(call_id), ended.kind, actor, data);
    event.causation = Some(started_event.to_owned());
    event.correlation = Some(started_event.to_owned());
    event
}

fn stream(call_id: &str) -> String {
    format!("calls/{call_id}")
}

/// Records the end of a call, unless somebody closed it already; whether it was recorded.
pub(super) async fn end(ledger: &Ledger, started: &Started, ended: Ended, now_ms: i64) -> Result<bool> {
    let (org, call_id) = (started.call.org.clone(), started.call_id.clone());
    let keeps_row = started.call.idempotency_key.is_some() && !ended.frees_key;
    let kept = ended.kept.as_ref().map(serde_json::to_string).transpose()?;
    let actor = started.call.actor.clone();
    let event = self::ended(&started.call.playbook, &call_id, &started.event_id, actor, ended);
    ledger
        .commit(
            &started.call.org,
            Box::new(move |connection| {
                Box::pin(async move {
                    let mut statement = connection.statement(if keeps_row { ENDED } else { FORGOTTEN });
                    statement.text(org);
                    statement.text(call_id);
                    if keeps_row {
                        statement.number(now_ms);
                        statement.text(kept);
                    }
                    let decision = connection.leave_to_decide(statement).await?;
                    Ok(Changed::decided(decision, true, event, Ok(false)))
                })
            }),
        )
        .await
}
