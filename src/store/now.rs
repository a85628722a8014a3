//! The time that all servers of one database agree on.

use super::{Pool, Store};
use crate::clock::SharedClock;
use crate::error::{Problem, Result};

const NOW: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The database's clock. Where several servers share a database, what they must agree on is judged by it, so that a server
/// whose own clock is wrong does no harm.
#[derive(Clone)]
pub struct DatabaseClock {
    store: Store,
    instead: Option<SharedClock>,
}

impl DatabaseClock {
    /// Of `store`; SQLite has one server, whose clock is `own`. `instead` stands in for PostgreSQL's in a test.
    pub fn of(store: &Store, own: &SharedClock, instead: Option<SharedClock>) -> Self {
        let instead = if store.is_shared() { instead } else { Some(instead.unwrap_or_else(|| own.clone())) };
        Self { store: store.clone(), instead }
    }

    /// Milliseconds since the epoch.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn now_ms(&self) -> Result<i64> {
        match (&self.instead, self.store.read()) {
            (Some(clock), _) => Ok(clock.now_ms()),
            (None, Pool::Postgres(pool)) => sqlx::query_scalar(NOW).fetch_one(pool).await.map_err(Problem::from),
            (None, Pool::Sqlite(_)) => Err(Problem::internal("SQLite has no clock of its own")),
        }
    }
}
