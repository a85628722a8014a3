//! Closes calls that a dead server left without an end, and forgets keys after their day.

use std::time::Duration;

use super::keys::KEPT_MS;
use super::record::{self, Ended};
use crate::error::Result;
use crate::ledger::Changed;
use crate::tool_servers::ToolServers;
use crate::{on_connection, on_pool};

/// How often it looks.
const EVERY: Duration = Duration::from_secs(30);
/// How many are read at once.
const ROUND: i64 = 200;

const LOST: &str = "SELECT org, call_id FROM tool_calls WHERE ended_at IS NULL AND lease_until < $1 \
     AND (org, call_id) > ($2, $3) ORDER BY org, call_id LIMIT $4";
const CLAIM: &str = "UPDATE tool_calls SET ended_at = $3 \
     WHERE org = $1 AND call_id = $2 AND ended_at IS NULL AND lease_until < $3 \
     RETURNING playbook, actor, started_event, started_at";
const OLD: &str = "SELECT DISTINCT org FROM tool_calls WHERE ended_at IS NOT NULL AND started_at < $1 \
     AND org > $2 ORDER BY org LIMIT $3";
const FORGET: &str = "DELETE FROM tool_calls WHERE org = $1 AND ended_at IS NOT NULL AND started_at < $2";

impl ToolServers {
    /// Sweeps now and every half minute, until the server stops; also ends servers that nobody uses.
    pub fn start_sweep(&self) {
        let this = self.clone();
        let stop = self.needs.lifecycle.token().clone();
        self.needs.lifecycle.spawn(async move {
            loop {
                this.open.run_pending_tasks().await;
                if let Err(problem) = this.sweep().await {
                    tracing::warn!(%problem, "calls without an end could not be looked for");
                }
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    /// Records the calls whose server died as lost, and forgets old keys; how many were lost. What fails is told in the
    /// log and keeps nothing else waiting.
    pub async fn sweep(&self) -> Result<usize> {
        let now = self.now_ms();
        let closed = self.close_all_lost(now).await?;
        self.forget_old(now - KEPT_MS).await?;
        Ok(closed)
    }

    async fn close_all_lost(&self, now_ms: i64) -> Result<usize> {
        let (mut closed, mut after) = (0, (String::new(), String::new()));
        loop {
            let lost: Vec<(String, String)> = on_pool!(self.needs.ledger.store(), pool => sqlx::query_as(LOST)
                .bind(now_ms).bind(&after.0).bind(&after.1).bind(ROUND).fetch_all(pool).await)?;
            let Some(last) = lost.last() else { return Ok(closed) };
            after = last.clone();
            for (org, call_id) in lost {
                match self.close_lost(org, call_id.clone(), now_ms).await {
                    Ok(was_open) => closed += usize::from(was_open),
                    Err(problem) => {
                        tracing::warn!(%problem, call.id = %call_id, "a call without an end could not be closed");
                    }
                }
            }
        }
    }

    async fn forget_old(&self, before_ms: i64) -> Result<()> {
        let mut after = String::new();
        loop {
            let old: Vec<(String,)> = on_pool!(self.needs.ledger.store(), pool => sqlx::query_as(OLD)
                .bind(before_ms).bind(&after).bind(ROUND).fetch_all(pool).await)?;
            let Some((last,)) = old.last() else { return Ok(()) };
            after.clone_from(last);
            for (org,) in old {
                if let Err(problem) = self.forget(&org, before_ms).await {
                    tracing::warn!(%problem, org.id = %org, "old idempotency keys could not be forgotten");
                }
            }
        }
    }

    async fn close_lost(&self, org: String, call_id: String, now_ms: i64) -> Result<bool> {
        let of = org.clone();
        self.needs
            .ledger
            .commit(
                &org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let claimed: Option<(String, String, String, i64)> = on_connection!(connection, c =>
                            sqlx::query_as(CLAIM).bind(&of).bind(&call_id).bind(now_ms).fetch_optional(c).await)?;
                        let Some((playbook, actor, started_event, started_at)) = claimed else {
                            return Ok(Changed::nothing(false));
                        };
                        let words = "The server that made the call ended before it was answered; its effect may stand.";
                        let ended = Ended::failed("lost", words, now_ms - started_at);
                        let actor = serde_json::from_str(&actor)?;
                        Ok(Changed::by(true, record::ended(&playbook, &call_id, &started_event, actor, ended)))
                    })
                }),
            )
            .await
    }

    /// Forgets every call of an org that is gone.
    pub async fn forget_org(&self, org: &str) -> Result<()> {
        self.forget(org, i64::MAX).await
    }

    async fn forget(&self, org: &str, before_ms: i64) -> Result<()> {
        let of = org.to_owned();
        let why = "idempotency keys are kept for a day; the history of their calls stays";
        self.needs
            .ledger
            .store()
            .housekeeping(
                org,
                why,
                Box::new(move |connection| {
                    Box::pin(async move {
                        on_connection!(connection, c => sqlx::query(FORGET)
                            .bind(&of).bind(before_ms).execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                }),
            )
            .await
    }
}
