//! Idempotency keys: the same call under the same key is made once (`tool-servers.md` 10).

use serde_json::{Value, json};

use super::lease::LEASE_MS;
use super::{Answer, Call, Started, record};
use crate::digest::sha256_hex;
use crate::error::{Problem, Result};
use crate::ledger::{Changed, Ledger};
use crate::playbooks;
use crate::store::{Connection, Statement};
use crate::{on_connection, on_pool};

/// How long a key is kept.
pub(super) const KEPT_MS: i64 = 24 * 3_600_000;
const BY_KEY: &str = "SELECT call_id, read_only, started_at, lease_until, ended_at, request_digest, answer \
     FROM tool_calls WHERE org = $1 AND playbook = $2 AND caller = $3 AND key_digest = $4";
const FREE: &str = "UPDATE tool_calls SET key_digest = NULL WHERE org = $1 AND call_id = $2";
const INSERT: &str = concat!(
    "INSERT INTO tool_calls (org, call_id, playbook, server, tool, actor, caller, read_only, \
     started_event, started_at, lease_until, key_digest, request_digest) \
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 WHERE ",
    playbooks::is_active!("$1", "$3")
);

/// Whether a call begins.
pub(super) enum Begun {
    /// It does; its start is recorded.
    Now,
    /// It was made before, with this answer.
    Before(Box<Answer>),
}

#[derive(sqlx::FromRow)]
struct Earlier {
    call_id: String,
    read_only: bool,
    started_at: i64,
    lease_until: i64,
    ended_at: Option<i64>,
    request_digest: Option<String>,
    answer: Option<String>,
}

/// What an earlier call under the key means for this one.
enum Meaning {
    Answered(Box<Answer>),
    /// The key is free: nothing under it counts any more.
    Free,
}

impl Earlier {
    fn meaning(&self, request_digest: &str, now_ms: i64) -> Result<Meaning> {
        if now_ms - self.started_at >= KEPT_MS {
            return Ok(Meaning::Free);
        }
        if self.request_digest.as_deref() != Some(request_digest) {
            return Err(Problem::conflict(
                "taken",
                "This idempotency key was used for another call. Use a new one for a new call.",
            ));
        }
        if self.ended_at.is_none() && now_ms < self.lease_until {
            return Err(Problem::conflict(
                "concurrent_change",
                "The call under this idempotency key is still going. Send it again a little later to read its answer.",
            ));
        }
        match &self.answer {
            Some(answer) => Ok(Meaning::Answered(Box::new(serde_json::from_value(crate::json::kept(answer)?)?))),
            None if self.read_only => Ok(Meaning::Free),
            None => Err(Problem::conflict(
                "effect_unknown",
                "The call under this idempotency key was begun and never answered, so its effect is unknown. Look at the \
                 service, and use a new key to call again.",
            )),
        }
    }
}

/// A call's key and what it stands for, as digests.
fn digests(call: &Call) -> Option<(String, String)> {
    let key = call.idempotency_key.as_ref()?;
    let mut arguments = Value::Object(call.arguments.clone());
    arguments.sort_all_objects();
    let request = json!([call.server, call.tool, arguments]).to_string();
    Some((sha256_hex(key), sha256_hex(request)))
}

/// The answer recorded under the call's key, if the same call ended.
pub(super) async fn recorded(ledger: &Ledger, call: &Call, now_ms: i64) -> Result<Option<Answer>> {
    let Some((key, request)) = digests(call) else { return Ok(None) };
    let earlier = on_pool!(ledger.store(), pool => sqlx::query_as::<_, Earlier>(BY_KEY)
        .bind(&call.org).bind(&call.playbook).bind(&call.actor.id).bind(&key)
        .fetch_optional(pool).await)?;
    match earlier.map(|earlier| earlier.meaning(&request, now_ms)).transpose()? {
        Some(Meaning::Answered(answer)) => Ok(Some(*answer)),
        Some(Meaning::Free) | None => Ok(None),
    }
}

/// Records the start of a call, in one commit with the claim of its key.
///
/// # Errors
/// `retired` when the playbook was retired since the call was admitted; those of the key.
pub(super) async fn begin(ledger: &Ledger, started: &Started, now_ms: i64) -> Result<Begun> {
    let event = record::started(started);
    let row = Row {
        call: started.call.clone(),
        actor: serde_json::to_string(&started.call.actor)?,
        call_id: started.call_id.clone(),
        event_id: started.event_id.clone(),
        read_only: started.read_only,
        digests: digests(&started.call),
    };
    ledger
        .commit(
            &started.call.org,
            Box::new(move |connection| {
                Box::pin(async move {
                    if let Some(answer) = row.claim(connection, now_ms).await? {
                        return Ok(Changed::nothing(Begun::Before(answer)));
                    }
                    let statement = row.insert(connection.statement(INSERT), now_ms);
                    let decision = connection.leave_to_decide(statement).await?;
                    Ok(Changed::decided(decision, Begun::Now, event, Err(playbooks::retired())))
                })
            }),
        )
        .await
}

struct Row {
    call: Call,
    actor: String,
    call_id: String,
    event_id: String,
    read_only: bool,
    digests: Option<(String, String)>,
}

impl Row {
    async fn claim(&self, connection: &mut Connection, now_ms: i64) -> Result<Option<Box<Answer>>> {
        let Some((key, request)) = &self.digests else { return Ok(None) };
        let call = &self.call;
        let earlier = on_connection!(connection, c => sqlx::query_as::<_, Earlier>(BY_KEY)
            .bind(&call.org).bind(&call.playbook).bind(&call.actor.id).bind(key)
            .fetch_optional(c).await)?;
        let Some(earlier) = earlier else { return Ok(None) };
        if let Meaning::Answered(answer) = earlier.meaning(request, now_ms)? {
            return Ok(Some(answer));
        }
        // The row itself stays: a start without an end is still to be closed. That its key is free is true also where
        // the call then does not begin.
        on_connection!(connection, c => sqlx::query(FREE)
            .bind(&call.org).bind(&earlier.call_id).execute(c).await.map(|_| ()))?;
        Ok(None)
    }

    /// Makes the row where the playbook is active.
    fn insert(self, mut statement: Statement, now_ms: i64) -> Statement {
        let (key, request) = self.digests.unzip();
        let call = self.call;
        statement.text(call.org);
        statement.text(self.call_id);
        statement.text(call.playbook);
        statement.text(call.server);
        statement.text(call.tool);
        statement.text(self.actor);
        statement.text(call.actor.id);
        statement.truth(self.read_only);
        statement.text(self.event_id);
        statement.number(now_ms);
        statement.number(now_ms + LEASE_MS);
        statement.text(key);
        statement.text(request);
        statement
    }
}
