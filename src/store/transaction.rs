//! A group of writes in one transaction: how it begins, how each write is kept or undone, how it ends.

use std::time::Duration;

use sqlx::AssertSqlSafe;
use tokio::time::timeout;

use super::connection::{Connection, On, not_begun};
use super::writer::{Finish, Job, Source};

/// How long a transaction may take to begin, its org's lock among it, and a connection to close.
const OPEN_WITHIN: Duration = Duration::from_secs(10);
/// How long the statements of a group, and its commit, may take.
const WORK_WITHIN: Duration = Duration::from_secs(30);

/// What ends the savepoint of a write that stands, and of one that does not, before the next write or the commit.
const KEPT_NEXT: &str = "RELEASE SAVEPOINT work; SAVEPOINT work";
const KEPT_COMMIT: &str = "RELEASE SAVEPOINT work; COMMIT";
const UNDONE_NEXT: &str = "ROLLBACK TO SAVEPOINT work; RELEASE SAVEPOINT work; SAVEPOINT work";
const UNDONE_COMMIT: &str = "ROLLBACK TO SAVEPOINT work; RELEASE SAVEPOINT work; COMMIT";

/// Makes a group of writes in one transaction; gives the connection back for the next one.
pub(super) async fn commit(
    source: &Source,
    held: Option<Connection>,
    group: Vec<Job>,
    finishes: &mut Vec<Finish>,
) -> Result<Connection, sqlx::Error> {
    let mut connection = begin(source, held, &group[0].org.clone(), group.len() == 1).await?;
    let end = match within(WORK_WITHIN, work(&mut connection, group, finishes)).await {
        Ok(end) => end,
        Err(error) => {
            // Nothing of it was kept, and each caller is told so by the drop of its answer.
            finishes.clear();
            abandon(connection);
            return Err(error);
        }
    };
    match within(WORK_WITHIN, connection.end(end)).await {
        Ok(()) => Ok(connection),
        Err(error) => {
            abandon(connection);
            Err(error)
        }
    }
}

/// A database that stopped answering must not hold a lane, and every org of it, for as long as TCP waits.
async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(sqlx::Error::PoolTimedOut))
}

async fn begin(source: &Source, held: Option<Connection>, org: &str, alone: bool) -> Result<Connection, sqlx::Error> {
    if let Some(mut connection) = held {
        match within(OPEN_WITHIN, open(&mut connection, org, alone)).await {
            Ok(()) => return Ok(connection),
            // The database may have been restarted since. Nothing was begun, so a new connection may try.
            Err(_) => abandon(connection),
        }
    }
    let mut connection = match source {
        Source::Sqlite(pool) => Connection::sqlite(pool.acquire().await?),
        Source::Postgres(pool) => Connection::postgres(pool.acquire().await?),
    };
    match within(OPEN_WITHIN, open(&mut connection, org, alone)).await {
        Ok(()) => Ok(connection),
        Err(error) => {
            // A transaction may be open on it: it must not go back to the pool.
            abandon(connection);
            Err(error)
        }
    }
}

async fn open(connection: &mut Connection, org: &str, alone: bool) -> Result<(), sqlx::Error> {
    match &mut connection.on {
        On::Sqlite(write) => {
            write.begin_with(if alone { "BEGIN IMMEDIATE" } else { "BEGIN IMMEDIATE; SAVEPOINT work" });
            Ok(())
        }
        On::Postgres(held) => {
            // In one way there and back, which takes no bound values: an org's id holds no quote, and would do no harm.
            let org = org.replace('\'', "''");
            // The update changes nothing but takes the row's lock, made here when the org is new.
            let sql = format!(
                "BEGIN; INSERT INTO ledger_locks (org) VALUES ('{org}') \
                 ON CONFLICT (org) DO UPDATE SET org = ledger_locks.org; SAVEPOINT work"
            );
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut **held).await.map(|_| ())
        }
    }
}

/// Takes the write lock of another org inside a write, until the transaction ends. Only writes of the server's own org may,
/// so that no two wait for each other.
pub(crate) async fn lock(connection: &mut Connection, org: &str) -> Result<(), sqlx::Error> {
    // SQLite has one writer.
    let On::Postgres(held) = &mut connection.on else { return Ok(()) };
    sqlx::query("INSERT INTO ledger_locks (org) VALUES ($1) ON CONFLICT (org) DO UPDATE SET org = ledger_locks.org")
        .bind(org)
        .execute(&mut **held)
        .await
        .map(|_| ())
}

/// Does the work of a group, each write in a savepoint of its own; says what ends the transaction.
///
/// A write that is alone on SQLite needs no savepoint. On PostgreSQL it does: an error that a write swallowed would make
/// COMMIT a silent rollback, and releasing the savepoint tells.
async fn work(
    connection: &mut Connection,
    group: Vec<Job>,
    finishes: &mut Vec<Finish>,
) -> Result<&'static str, sqlx::Error> {
    let alone = group.len() == 1 && matches!(connection.on, On::Sqlite(_));
    let mut left = group.len();
    let mut end = "COMMIT";
    for job in group {
        left -= 1;
        let (keep, finish) = (job.run)(connection).await;
        if !keep {
            connection.forget_left();
        }
        if matches!(&connection.on, On::Sqlite(write) if write.has_failed()) {
            return Err(not_begun());
        }
        let made = match (alone, keep, left) {
            (true, _, _) | (false, false, _) => Ok(()),
            (false, true, 0) => connection.make_last().await,
            (false, true, _) => connection.end(KEPT_NEXT).await,
        };
        let stands = keep && made.is_ok();
        finishes.push(match made {
            Ok(()) => finish,
            Err(error) => Box::new(move |failed| finish(Some(failed.unwrap_or_else(|| error.into())))),
        });
        match (alone, stands, left) {
            (true, true, _) => {}
            (true, false, _) => end = "ROLLBACK",
            (false, true, 0) => end = KEPT_COMMIT,
            (false, false, 0) => end = UNDONE_COMMIT,
            (false, true, _) => {}
            (false, false, _) => connection.end(UNDONE_NEXT).await?,
        }
    }
    Ok(end)
}

/// Gives up a connection whose transaction failed: it is closed, however long that takes, and not reused.
fn abandon(connection: Connection) {
    tokio::spawn(async move {
        let closed = async {
            match connection.on {
                On::Sqlite(write) => write.close().await,
                On::Postgres(held) => held.close().await,
            }
        };
        let _ = timeout(OPEN_WITHIN, closed).await;
    });
}
