//! Writing events inside a transaction that holds the org's write lock.

use super::Event;
use crate::error::{Problem, Result};
use crate::ids::Ids;
use crate::on_connection;
use crate::store::Connection;

const TAKE: &str = "INSERT INTO ledger_heads (org, head) VALUES ($1, $2) \
     ON CONFLICT (org) DO UPDATE SET head = ledger_heads.head + $2 RETURNING head";

const INSERT: &str = "INSERT INTO events \
     (org, position, id, book, playbook, stream, stream_position, type, at, actor, correlation_id, causation_id, data) \
     SELECT $1, $2, $3, $4, $5, $6, \
     (SELECT COALESCE(MAX(stream_position), 0) + 1 FROM events WHERE org = $1 AND stream = $6), \
     $7, $8, $9, $10, $11, $12";

/// Appends `events` at the end of the org's ledger, in order, all at `now_ms`.
pub(super) async fn append(
    connection: &mut Connection,
    org: &str,
    now_ms: i64,
    ids: &Ids,
    events: Vec<Event>,
) -> Result<()> {
    let count = i64::try_from(events.len()).map_err(Problem::internal)?;
    let (head,): (i64,) =
        on_connection!(connection, c => sqlx::query_as(TAKE).bind(org).bind(count).fetch_one(c).await)?;
    for (position, event) in (head - count + 1..).zip(events) {
        let id = event.id.unwrap_or_else(|| ids.uuid(now_ms).to_string());
        let actor = serde_json::to_string(&event.actor)?;
        let data = event.data.to_string();
        on_connection!(connection, c => sqlx::query(INSERT)
            .bind(org)
            .bind(position)
            .bind(&id)
            .bind(event.book.word())
            .bind(&event.playbook)
            .bind(&event.stream)
            .bind(event.kind)
            .bind(now_ms)
            .bind(&actor)
            .bind(event.correlation.as_deref().unwrap_or(&id))
            .bind(&event.causation)
            .bind(&data)
            .execute(c)
            .await
            .map(|_| ()))?;
    }
    Ok(())
}
