//! Reading the ledger, always of one org.

use futures_util::{Stream, TryStreamExt};
use serde_json::Value;

use super::{Actor, Book, Ledger};
use crate::error::{Problem, Result};
use crate::on_pool;
use crate::store::Wake;

/// A recorded event.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its place in the org's ledger, from 1, without gaps.
    pub position: i64,
    /// Its id.
    pub id: String,
    /// Its playbook, where it has one.
    pub playbook: Option<String>,
    /// The thing it is about.
    pub stream: String,
    /// Its place in the stream, from 1.
    pub stream_position: i64,
    /// Its public type.
    pub kind: String,
    /// When, in milliseconds since the epoch.
    pub at: i64,
    /// Who.
    pub actor: Actor,
    /// What its whole tree is known by.
    pub correlation_id: Option<String>,
    /// What led to it.
    pub causation_id: Option<String>,
    /// The fact.
    pub data: Value,
}

#[derive(sqlx::FromRow)]
struct Stored {
    position: i64,
    id: String,
    playbook: Option<String>,
    stream: String,
    stream_position: i64,
    #[sqlx(rename = "type")]
    kind: String,
    at: i64,
    actor: String,
    correlation_id: Option<String>,
    causation_id: Option<String>,
    data: String,
}

impl TryFrom<Stored> for Row {
    type Error = Problem;

    fn try_from(row: Stored) -> Result<Self> {
        Ok(Self {
            position: row.position,
            id: row.id,
            playbook: row.playbook,
            stream: row.stream,
            stream_position: row.stream_position,
            kind: row.kind,
            at: row.at,
            actor: serde_json::from_str(&row.actor)?,
            correlation_id: row.correlation_id,
            causation_id: row.causation_id,
            data: crate::json::kept(&row.data)?,
        })
    }
}

/// In which order a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Oldest first.
    Asc,
    /// Newest first.
    #[default]
    Desc,
}

/// What a page of a playbook's history keeps.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// One public type.
    pub kind: Option<String>,
    /// Recorded at this instant or later, in milliseconds.
    pub since_ms: Option<i64>,
    /// One tree of runs, by the id of its top.
    pub correlation: Option<String>,
}

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT position, id, playbook, stream, stream_position, type, at, actor, correlation_id, causation_id, data ",
            "FROM events WHERE org = $1 ",
            $rest
        )
    };
}

/// Absent filters are passed as NULL, so that one statement serves every page of an order.
const ASCENDING: &str = columns!(
    "AND playbook = $2 AND book = 'history' AND position > $3 AND (CAST($4 AS TEXT) IS NULL OR type = $4) \
     AND (CAST($5 AS BIGINT) IS NULL OR at >= $5) AND (CAST($6 AS TEXT) IS NULL OR correlation_id = $6) \
     ORDER BY position ASC LIMIT $7"
);
const DESCENDING: &str = columns!(
    "AND playbook = $2 AND book = 'history' AND position < $3 AND (CAST($4 AS TEXT) IS NULL OR type = $4) \
     AND (CAST($5 AS BIGINT) IS NULL OR at >= $5) AND (CAST($6 AS TEXT) IS NULL OR correlation_id = $6) \
     ORDER BY position DESC LIMIT $7"
);
const ONE: &str = columns!("AND id = $2 AND playbook = $3 AND book = 'history'");
const AFTER: &str = columns!("AND position > $2 ORDER BY position ASC LIMIT $3");
const STREAM: &str = columns!("AND stream = $2 ORDER BY stream_position ASC");
const BOOK: &str = columns!("AND book = $2 ORDER BY position ASC");

/// The most stored data a page loads, in bytes.
const LOADED: usize = 4 * 1_024 * 1_024;

/// A page of a playbook's history.
#[derive(Debug)]
pub struct Page {
    /// The events, in the order asked for.
    pub rows: Vec<Row>,
    /// Whether more may follow.
    pub more: bool,
}

async fn collect(mut found: impl Stream<Item = sqlx::Result<Stored>> + Unpin, limit: usize) -> Result<Page> {
    let mut rows = Vec::new();
    let mut loaded = 0_usize;
    while let Some(stored) = found.try_next().await? {
        if rows.len() == limit || loaded >= LOADED {
            return Ok(Page { rows, more: true });
        }
        loaded = loaded.saturating_add(stored.data.len());
        rows.push(Row::try_from(stored)?);
    }
    Ok(Page { rows, more: false })
}

fn rows(stored: Vec<Stored>) -> Result<Vec<Row>> {
    stored.into_iter().map(Row::try_from).collect()
}

impl Ledger {
    /// At most `limit` events of a playbook's history beyond `from` (a position, exclusive; `None` begins).
    ///
    /// A page ends early once it has loaded 4 MiB of stored data; its first event always loads.
    pub async fn history(
        &self,
        org: &str,
        playbook: &str,
        filter: &Filter,
        order: Order,
        from: Option<i64>,
        limit: usize,
    ) -> Result<Page> {
        let (sql, start) = match order {
            Order::Asc => (ASCENDING, 0),
            Order::Desc => (DESCENDING, i64::MAX),
        };
        // One more than asked, to know whether anything follows.
        let asked = i64::try_from(limit).map_err(Problem::internal)?.saturating_add(1);
        let page = on_pool!(self.store(), pool => {
            let found = sqlx::query_as::<_, Stored>(sql)
                .bind(org)
                .bind(playbook)
                .bind(from.unwrap_or(start))
                .bind(&filter.kind)
                .bind(filter.since_ms)
                .bind(&filter.correlation)
                .bind(asked)
                .fetch(pool);
            collect(found, limit).await
        })?;
        Ok(page)
    }

    /// One event of a playbook's history.
    pub async fn event(&self, org: &str, playbook: &str, id: &str) -> Result<Option<Row>> {
        let stored = on_pool!(self.store(), pool => sqlx::query_as::<_, Stored>(ONE)
            .bind(org).bind(id).bind(playbook).fetch_optional(pool).await)?;
        stored.map(Row::try_from).transpose()
    }

    /// Everything recorded of the org after `position`, in order; never skips an event that is committed later.
    pub async fn after(&self, org: &str, position: i64, limit: i64) -> Result<Vec<Row>> {
        let stored = on_pool!(self.store(), pool => sqlx::query_as::<_, Stored>(AFTER)
            .bind(org).bind(position).bind(limit).fetch_all(pool).await)?;
        rows(stored)
    }

    /// As [`Self::after`], but waits until there is something.
    pub async fn tail(&self, org: &str, position: i64, limit: i64) -> Result<Vec<Row>> {
        let mut commits = self.store().wake().subscribe();
        loop {
            let found = self.after(org, position, limit).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            Wake::wait(&mut commits, org).await;
        }
    }

    /// Everything recorded of one thing, in order.
    pub async fn stream(&self, org: &str, stream: &str) -> Result<Vec<Row>> {
        let stored = on_pool!(self.store(), pool => sqlx::query_as::<_, Stored>(STREAM)
            .bind(org).bind(stream).fetch_all(pool).await)?;
        rows(stored)
    }

    /// Everything of one book of the org, in order.
    pub async fn book(&self, org: &str, book: Book) -> Result<Vec<Row>> {
        let stored = on_pool!(self.store(), pool => sqlx::query_as::<_, Stored>(BOOK)
            .bind(org).bind(book.word()).fetch_all(pool).await)?;
        rows(stored)
    }
}
