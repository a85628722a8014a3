//! The database: one enum over SQLite and PostgreSQL, each statement written once.
//!
//! Reading takes a pool ([`Store::read`] with [`on_pool!`]); writing goes through [`Store::write`], where the writes of
//! many callers share one commit. Nothing here knows what is stored: the rooms own their tables. Only the ledger, and
//! named housekeeping, may write.

mod connection;
mod lock;
mod migrations;
mod now;
pub mod page;
mod statement;
mod transaction;
mod wake;
mod writer;

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{PgPool, SqlitePool};

pub use connection::{Connection, On};
pub use lock::Lock;
pub use now::DatabaseClock;
pub use statement::{Decision, Statement};
pub(crate) use transaction::lock;
pub use wake::Wake;
pub use writer::Work;

use crate::error::{Problem, Result};

/// The most statements SQLite keeps prepared on a connection: each of ours, alone and with what begins or ends a transaction.
const STATEMENTS: usize = 512;
/// How long a PostgreSQL connection rests before it is asked whether it still works.
const RESTED: Duration = Duration::from_secs(1);

/// Runs one expression on whichever database there is: `on_pool!(store, pool => query.fetch_all(pool).await)`.
#[macro_export]
macro_rules! on_pool {
    ($store:expr, $pool:ident => $body:expr) => {
        match $store.read() {
            $crate::store::Pool::Sqlite($pool) => $body,
            $crate::store::Pool::Postgres($pool) => $body,
        }
    };
}

/// The same inside a write: `on_connection!(connection, c => query.execute(c).await)`.
#[macro_export]
macro_rules! on_connection {
    ($connection:expr, $inner:ident => $body:expr) => {
        match &mut $connection.on {
            $crate::store::On::Sqlite(held) => {
                let $inner = held;
                $body
            }
            $crate::store::On::Postgres(held) => {
                let $inner = &mut **held;
                $body
            }
        }
    };
}

/// Where reads go.
#[derive(Clone)]
pub enum Pool {
    /// One file, one server.
    Sqlite(SqlitePool),
    /// Several servers on one database.
    Postgres(PgPool),
}

/// The open database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
    writer: writer::Writer,
    wake: Wake,
}

/// Why the database could not be opened; its words name host and database, never the URL.
#[derive(Debug)]
pub struct OpenError(String);

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

impl Store {
    /// Opens `url` (`sqlite:path` or `postgres://…`), making file and folder when missing, and brings the tables up to date.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        let store = if url.starts_with("sqlite:") { open_sqlite(url).await? } else { open_postgres(url).await? };
        migrations::run(&store.pool)
            .await
            .map_err(|error| OpenError(format!("the tables could not be brought up to date: {error}")))?;
        Ok(store)
    }

    /// The pool to read from.
    pub fn read(&self) -> &Pool {
        &self.pool
    }

    /// Whether several servers may share this database.
    pub fn is_shared(&self) -> bool {
        matches!(self.pool, Pool::Postgres(_))
    }

    /// Told after each commit, by org; also of other servers' commits where the database is shared.
    pub fn wake(&self) -> &Wake {
        &self.wake
    }

    /// Runs `work` in a transaction that holds `org`'s write lock, and answers once it is committed, durably.
    ///
    /// An error of `work` undoes just that work. Dropping the future does not: what was begun is finished.
    pub(crate) async fn write<T: Send + 'static>(&self, org: &str, work: Work<T>) -> Result<T> {
        self.writer.run(org, work).await
    }

    /// A write that records no event because nothing of the business changed; `why` says so to the reader of the code.
    pub async fn housekeeping<T: Send + 'static>(&self, org: &str, why: &'static str, work: Work<T>) -> Result<T> {
        tracing::trace!(housekeeping = why, org.id = org, "a commit without events");
        self.write(org, work).await
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        on_pool!(self, pool => sqlx::query("SELECT 1").execute(pool).await.map(|_| ())).map_err(Problem::from)
    }

    /// Waits for the writes in hand and closes every connection.
    pub async fn close(&self) {
        self.writer.close().await;
        match &self.pool {
            Pool::Sqlite(pool) => pool.close().await,
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

/// The file of a SQLite address, in a folder that is there.
fn sqlite_file(url: &str) -> Result<SqliteConnectOptions, OpenError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|_| OpenError("DATABASE_URL is no SQLite address: expected sqlite:<file>".into()))?;
    if let Some(folder) = options.get_filename().parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| OpenError(format!("the folder of the database could not be made: {error}")))?;
    }
    Ok(options)
}

async fn open_sqlite(url: &str) -> Result<Store, OpenError> {
    // FULL: an answered request survives a power cut (decision D48); group commit pays for it.
    let options = sqlite_file(url)?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .statement_cache_capacity(STATEMENTS)
        .busy_timeout(Duration::from_secs(10));
    let failed = |error| OpenError(format!("the database file could not be opened: {error}"));
    let write = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await.map_err(failed)?;
    let read = SqlitePoolOptions::new()
        .max_connections(4)
        .min_connections(1)
        // A file is not cut off as a server is: nothing to ask before each use, nothing to renew.
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await
        .map_err(failed)?;
    let wake = Wake::alone();
    let writer = writer::Writer::sqlite(write, wake.clone());
    Ok(Store { pool: Pool::Sqlite(read), writer, wake })
}

async fn open_postgres(url: &str) -> Result<Store, OpenError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| OpenError("DATABASE_URL is not understood: expected sqlite:<file> or postgres://…".into()))?;
    let place = format!("{}:{}", options.get_host(), options.get_port());
    let pool = PgPoolOptions::new()
        .max_connections(24)
        // Asked whether it still works only after it rested: before each read that would double the way.
        .test_before_acquire(false)
        .before_acquire(|connection, rest| {
            Box::pin(async move {
                if rest.idle_for >= RESTED {
                    sqlx::Connection::ping(connection).await?;
                }
                Ok(true)
            })
        })
        .acquire_timeout(Duration::from_secs(10))
        .connect_with(options)
        .await
        .map_err(|error| OpenError(format!("PostgreSQL at {place} could not be reached: {error}")))?;
    let wake = Wake::with_others(&pool);
    let writer = writer::Writer::postgres(pool.clone(), wake.clone());
    Ok(Store { pool: Pool::Postgres(pool), writer, wake })
}
