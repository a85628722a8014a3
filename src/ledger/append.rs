//! Writing events inside a transaction that holds the org's write lock.

use super::{Book, Event};
use crate::error::Result;
use crate::ids::Ids;
use crate::on_connection;
use crate::store::Connection;

/// The write lock makes the next position certain, so the one statement may look it up itself.
const INSERT: &str = "INSERT INTO events \
     (org, position, id, book, playbook, stream, stream_position, type, at, actor, correlation_id, causation_id, data, \
     actor_id, target_name, origin) \
     SELECT $1, (SELECT COALESCE(MAX(position), 0) + 1 FROM events WHERE org = $1), $2, $3, $4, $5, \
     (SELECT COALESCE(MAX(stream_position), 0) + 1 FROM events WHERE org = $1 AND stream = $5), \
     $6, $7, $8, $9, $10, $11, $12, $13, $14";

/// Appends `events` at the end of the org's ledger, in order, all at `now_ms`.
pub(super) async fn append(
    connection: &mut Connection,
    org: &str,
    now_ms: i64,
    ids: &Ids,
    events: Vec<Event>,
) -> Result<()> {
    for event in events {
        let id = event.id.unwrap_or_else(|| ids.uuid(now_ms).to_string());
        let actor = serde_json::to_string(&event.actor)?;
        let data = event.data.to_string();
        // The audit alone is read by who did it, and keeps how the request came.
        let audited = event.book != Book::History;
        let origin = event.actor.origin.as_deref().filter(|_| audited).map(serde_json::to_string).transpose()?;
        on_connection!(connection, c => sqlx::query(INSERT)
            .bind(org)
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
            .bind(audited.then_some(&event.actor.id))
            .bind(&event.target_name)
            .bind(&origin)
            .execute(c)
            .await
            .map(|_| ()))?;
    }
    Ok(())
}
