//! Telling in the audit that a connection's standing changed: once for each change, on all servers together
//! (`connections.md` 2.2, T9 and T11 to T15).

use serde_json::json;

use super::Connections;
use super::changes::event;
use super::record::{Because, Record, Status};
use super::standing::Fault;
use crate::error::Result;
use crate::ledger::{Actor, Changed, Event};
use crate::on_connection;
use crate::store::Connection;

const NOTE: &str = "UPDATE connections SET last_because = $3, revision = revision + 1 \
     WHERE org = $1 AND id = $2 AND status = 'connected' AND COALESCE(last_because, '') = $4";

impl Connections {
    /// Tells a change of standing since it was last told. What cannot be told now is told at the next look.
    pub(super) async fn notice(&self, record: &Record, fault: Option<Fault>) {
        let word = fault.map(|fault| fault.because.word());
        if record.status != Status::Connected || record.last_because.as_deref() == word {
            return;
        }
        if let Err(problem) = self.note(record, fault).await {
            tracing::warn!(%problem, org.id = record.org, "a connection's change of standing could not be recorded");
        }
    }

    async fn note(&self, record: &Record, fault: Option<Fault>) -> Result<()> {
        let found = record.clone();
        self.ledger
            .commit(
                &record.org,
                Box::new(move |connection| {
                    Box::pin(async move { Ok(Changed::of((), noted(connection, &found, fault).await?)) })
                }),
            )
            .await
    }
}

/// Notes a change of standing inside a write; what is told of it, where nobody told it before.
pub(super) async fn noted(connection: &mut Connection, record: &Record, fault: Option<Fault>) -> Result<Option<Event>> {
    let before = record.last_because.clone().unwrap_or_default();
    let (kind, facts) = match fault {
        Some(Fault { because: Because::NotAllowed, cause }) => ("connection_not_allowed", json!({ "rule": cause })),
        Some(Fault { because: Because::Unavailable, cause }) => ("connection_unavailable", json!({ "cause": cause })),
        Some(Fault { cause, .. }) => ("connection_broken", json!({ "cause": cause })),
        None if before == Because::NotAllowed.word() => ("connection_allowed", json!({})),
        None => ("connection_recovered", json!({})),
    };
    let word = fault.map(|fault| fault.because.word());
    let changed = on_connection!(connection, c => sqlx::query(NOTE)
        .bind(&record.org).bind(&record.id).bind(word).bind(&before)
        .execute(c).await.map(|done| done.rows_affected()))?;
    let told = || event(&record.id, kind, Actor::system(), facts).about(record.name.as_str());
    Ok((changed > 0).then(told))
}
