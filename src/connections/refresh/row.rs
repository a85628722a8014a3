//! The rows of renewals. Each is read and written inside a write of its org, which holds the org's lock: what was read
//! still stands when it is written.

use super::keep::journal;
use super::renewal::Renewal;
use crate::error::Result;
use crate::on_connection;
use crate::secrets::SecretsStore;
use crate::store::Connection;

const READ: &str = "SELECT state, state_before, cause, owner, epoch, deadline, failures, first_failure_at, next_attempt_at, \
     last_code, intent_version, intent_at, due_at, lapses_at, used_at, client_digest, forced_version, forced_at, refused, \
     refused_since FROM connection_renewals WHERE org = $1 AND connection = $2";
const DELETE: &str = "DELETE FROM connection_renewals WHERE org = $1 AND connection = $2";
const WRITE: &str = "INSERT INTO connection_renewals (org, connection, state, state_before, cause, owner, epoch, deadline, \
     failures, first_failure_at, next_attempt_at, last_code, intent_version, intent_at, due_at, lapses_at, used_at, \
     client_digest, forced_version, forced_at, refused, refused_since) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) \
     ON CONFLICT (org, connection) DO UPDATE SET state = excluded.state, state_before = excluded.state_before, \
     cause = excluded.cause, owner = excluded.owner, epoch = excluded.epoch, deadline = excluded.deadline, \
     failures = excluded.failures, first_failure_at = excluded.first_failure_at, \
     next_attempt_at = excluded.next_attempt_at, last_code = excluded.last_code, \
     intent_version = excluded.intent_version, intent_at = excluded.intent_at, due_at = excluded.due_at, \
     lapses_at = excluded.lapses_at, used_at = excluded.used_at, client_digest = excluded.client_digest, \
     forced_version = excluded.forced_version, forced_at = excluded.forced_at, refused = excluded.refused, \
     refused_since = excluded.refused_since";

/// The row of a connection; `None` for one without tokens.
pub(super) async fn read(connection: &mut Connection, org: &str, id: &str) -> Result<Option<Renewal>> {
    Ok(on_connection!(connection, c => sqlx::query_as(READ).bind(org).bind(id).fetch_optional(c).await)?)
}

/// Writes the row, new or not.
pub(super) async fn write(connection: &mut Connection, org: &str, id: &str, row: &Renewal) -> Result<()> {
    on_connection!(connection, c => sqlx::query(WRITE)
        .bind(org).bind(id).bind(&row.state).bind(&row.state_before).bind(&row.cause).bind(&row.owner).bind(row.epoch)
        .bind(row.deadline).bind(row.failures).bind(row.first_failure_at).bind(row.next_attempt_at).bind(&row.last_code)
        .bind(row.intent_version).bind(row.intent_at).bind(row.due_at).bind(row.lapses_at).bind(row.used_at)
        .bind(&row.client_digest).bind(row.forced_version).bind(row.forced_at).bind(row.refused).bind(row.refused_since)
        .execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Forgets how a connection's tokens were renewed, and tokens that never came into use, inside a write.
pub(in crate::connections) async fn forget(connection: &mut Connection, org: &str, id: &str) -> Result<()> {
    on_connection!(connection, c => sqlx::query(DELETE).bind(org).bind(id).execute(c).await.map(|_| ()))?;
    SecretsStore::delete_here(connection, org, &journal(id)).await
}
