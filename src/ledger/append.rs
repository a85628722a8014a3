//! Writing events inside a transaction that holds the org's write lock.

use std::collections::HashMap;

use super::{Book, Event};
use crate::error::Result;
use crate::ids::Ids;
use crate::store::{Connection, Statement};

/// The most events of one statement: each has up to twelve values of its own, and SQLite takes 32 766.
const TOGETHER: usize = 256;

const INSERT: &str = "INSERT INTO events \
     (org, at, position, stream_position, id, book, playbook, stream, type, actor, correlation_id, causation_id, data, \
     actor_id, target_name, origin) ";

/// Appends events to the book of another org inside a commit of the server's own (the org `""`), for what is made or
/// happens in both at once. Never the other way round: commits that wait for each other's lock would never end.
pub async fn also(
    connection: &mut Connection,
    org: &str,
    (now_ms, ids): (i64, &Ids),
    mut events: Vec<Event>,
) -> Result<()> {
    events.iter_mut().for_each(Event::in_hand);
    crate::store::lock(connection, org).await?;
    append(connection, org, now_ms, ids, events).await
}

/// Appends `events` at the end of the org's ledger, in order, all at `now_ms`, with the end of the transaction.
pub(super) async fn append(
    connection: &mut Connection,
    org: &str,
    now_ms: i64,
    ids: &Ids,
    events: Vec<Event>,
) -> Result<()> {
    let mut events = events.into_iter().peekable();
    while events.peek().is_some() {
        let statement = insert(connection, org, now_ms, ids, events.by_ref().take(TOGETHER))?;
        connection.leave_to_end(statement).await?;
    }
    Ok(())
}

/// The write lock makes the next positions certain, so the one statement may look them up itself.
fn insert(
    connection: &Connection,
    org: &str,
    now_ms: i64,
    ids: &Ids,
    events: impl Iterator<Item = Event>,
) -> Result<Statement> {
    let (mut statement, condition) = (connection.statement(INSERT), connection.condition());
    let (org, at) = (statement.text(org.to_owned()), statement.number(now_ms));
    let mut of_streams: HashMap<String, usize> = HashMap::new();
    for (before, event) in events.enumerate() {
        let (position, and) = (before + 1, if before == 0 { "" } else { " UNION ALL " });
        let of_stream = of_streams.entry(event.stream.clone()).or_default();
        *of_stream += 1;
        let id = event.id.unwrap_or_else(|| ids.uuid(now_ms).to_string());
        let correlation = statement.text(event.correlation.unwrap_or_else(|| id.clone()));
        // The audit alone is read by who did it, and keeps how the request came.
        let audited = event.book != Book::History;
        let origin = event.actor.origin.as_deref().filter(|_| audited).map(serde_json::to_string).transpose()?;
        let id = statement.text(id);
        let book = statement.text(event.book.word().to_owned());
        let playbook = statement.text(event.playbook);
        let stream = statement.text(event.stream);
        let kind = statement.text(event.kind.to_owned());
        let actor = statement.text(serde_json::to_string(&event.actor)?);
        let actor_id = statement.text(audited.then_some(event.actor.id));
        let target_name = statement.text(event.target_name);
        let origin = statement.text(origin);
        let causation = statement.text(event.causation);
        let data = statement.text(event.data.to_string());
        statement.push(&format!(
            "{and}SELECT ${org}, ${at}, \
             (SELECT COALESCE(MAX(position), 0) + {position} FROM events WHERE org = ${org}), \
             (SELECT COALESCE(MAX(stream_position), 0) + {of_stream} FROM events WHERE org = ${org} AND stream = ${stream}), \
             ${id}, ${book}, ${playbook}, ${stream}, ${kind}, ${actor}, ${correlation}, ${causation}, ${data}, \
             ${actor_id}, ${target_name}, ${origin}{condition}"
        ));
    }
    Ok(statement)
}
