//! Group commit: writes queue up, and all that wait are made in one transaction, each in a savepoint of its own.
//!
//! SQLite has one writer. PostgreSQL has several lanes, an org always in the same one; a transaction there is of one org
//! and takes that org's row in `ledger_heads` first, so that two servers never deadlock and positions have no gaps.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool};
use tokio::sync::{mpsc, oneshot};

use super::wake::{CHANNEL, Wake};
use crate::error::{Problem, Result};
use crate::on_connection;

/// The most writes that share one commit.
const GROUP: usize = 128;
/// PostgreSQL lanes of one server.
const LANES: usize = 4;
/// Writes that may wait in a lane before callers wait to queue.
const QUEUE: usize = 4_096;

/// The connection of a write in progress.
pub enum Connection {
    /// Of the one SQLite writer.
    Sqlite(PoolConnection<Sqlite>),
    /// Of a PostgreSQL lane.
    Postgres(PoolConnection<Postgres>),
}

/// What a write does: statements only, never anything that waits for the network.
pub type Work<T> = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T>> + Send>;

/// Answers the caller, once the commit stands (`None`) or failed.
type Finish = Box<dyn FnOnce(Option<Problem>) + Send>;
/// Does the work and says whether to keep it.
type Run = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, (bool, Finish)> + Send>;

struct Job {
    org: Arc<str>,
    run: Run,
}

#[derive(Clone)]
pub(super) struct Writer {
    lanes: Arc<[Lane]>,
}

struct Lane {
    jobs: mpsc::Sender<Job>,
}

enum Source {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Writer {
    pub(super) fn sqlite(pool: SqlitePool, wake: Wake) -> Self {
        Self { lanes: Arc::new([Lane::start(Source::Sqlite(pool), wake)]) }
    }

    pub(super) fn postgres(pool: PgPool, wake: Wake) -> Self {
        Self { lanes: (0..LANES).map(|_| Lane::start(Source::Postgres(pool.clone()), wake.clone())).collect() }
    }

    pub(super) async fn run<T: Send + 'static>(&self, org: &str, work: Work<T>) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let run: Run = Box::new(move |connection| {
            Box::pin(async move {
                let result = work(connection).await;
                let keep = result.is_ok();
                let finish: Finish = Box::new(move |failed| {
                    // A caller that left hears nothing; its write stands all the same.
                    let _ = answer.send(match failed {
                        Some(problem) => Err(problem),
                        None => result,
                    });
                });
                (keep, finish)
            })
        });
        let job = Job { org: Arc::from(org), run };
        self.lane(org).jobs.send(job).await.map_err(|_| stopping())?;
        // Dropped unanswered: the transaction could not begin or broke off, which the lane has logged.
        answered.await.map_err(|_| unanswered())?
    }

    fn lane(&self, org: &str) -> &Lane {
        let mut hasher = DefaultHasher::new();
        org.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % self.lanes.len() as u64).unwrap_or(0);
        &self.lanes[index]
    }

    /// Waits until every write queued so far has been made.
    pub(super) async fn close(&self) {
        for lane in &*self.lanes {
            let (done, waited) = oneshot::channel();
            let run: Run = Box::new(move |_| {
                Box::pin(async move {
                    let finish: Finish = Box::new(move |_| {
                        let _ = done.send(());
                    });
                    (true, finish)
                })
            });
            if lane.jobs.send(Job { org: Arc::from(""), run }).await.is_ok() {
                let _ = waited.await;
            }
        }
    }
}

fn unanswered() -> Problem {
    Problem::unavailable("The database did not take the change just now, and nothing of it was kept.")
}

fn stopping() -> Problem {
    Problem::unavailable("Playmaker is stopping and takes no more writes. Try again shortly.")
}

impl Lane {
    fn start(source: Source, wake: Wake) -> Self {
        let (jobs, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(serve(source, waiting, wake));
        Self { jobs }
    }
}

async fn serve(source: Source, mut waiting: mpsc::Receiver<Job>, wake: Wake) {
    let mut later = VecDeque::new();
    loop {
        let first = match later.pop_front() {
            Some(job) => job,
            None => match waiting.recv().await {
                Some(job) => job,
                None => return,
            },
        };
        let group = gather(&source, first, &mut waiting, &mut later);
        let org = group[0].org.clone();
        let orgs: Vec<Arc<str>> = group.iter().map(|job| job.org.clone()).collect();
        let (finishes, failed) = match commit(&source, &org, group).await {
            Ok(finishes) => (finishes, None),
            Err((finishes, error)) => {
                tracing::error!(error, org.id = &*org, "a group of writes was undone");
                (finishes, Some(error))
            }
        };
        for org in orgs {
            wake.tell(&org);
        }
        for finish in finishes {
            finish(failed.as_ref().map(|error: &String| Problem::internal(error.clone())));
        }
    }
}

/// Takes what waits besides `first` into one group; on PostgreSQL only writes of the same org, the rest keep their order.
fn gather(source: &Source, first: Job, waiting: &mut mpsc::Receiver<Job>, later: &mut VecDeque<Job>) -> Vec<Job> {
    let mixed = matches!(source, Source::Sqlite(_));
    let mut group = vec![first];
    while later.len() < QUEUE {
        match waiting.try_recv() {
            Ok(job) => later.push_back(job),
            Err(_) => break,
        }
    }
    let mut kept = VecDeque::new();
    while let Some(job) = later.pop_front() {
        if group.len() < GROUP && (mixed || job.org == group[0].org) {
            group.push(job);
        } else {
            kept.push_back(job);
        }
    }
    *later = kept;
    group
}

async fn commit(source: &Source, org: &str, group: Vec<Job>) -> Result<Vec<Finish>, (Vec<Finish>, String)> {
    let mut finishes = Vec::with_capacity(group.len());
    let mut connection = match begin(source, org).await {
        Ok(connection) => connection,
        Err(error) => {
            // Dropping the jobs tells each caller that its write was not taken.
            return Err((finishes, error.to_string()));
        }
    };
    for job in group {
        let kept = one(&mut connection, job.run, &mut finishes).await;
        if let Err(error) = kept {
            abandon(connection).await;
            return Err((finishes, error.to_string()));
        }
    }
    match statement(&mut connection, "COMMIT").await {
        Ok(()) => Ok(finishes),
        Err(error) => {
            abandon(connection).await;
            Err((finishes, error.to_string()))
        }
    }
}

async fn begin(source: &Source, org: &str) -> Result<Connection, sqlx::Error> {
    match source {
        Source::Sqlite(pool) => {
            let mut connection = Connection::Sqlite(pool.acquire().await?);
            statement(&mut connection, "BEGIN IMMEDIATE").await?;
            Ok(connection)
        }
        Source::Postgres(pool) => {
            let mut held = pool.acquire().await?;
            sqlx::query("BEGIN").execute(&mut *held).await?;
            // The update changes nothing but takes the row's lock, made here when the org is new.
            sqlx::query(
                "INSERT INTO ledger_heads (org, head) VALUES ($1, 0) \
                 ON CONFLICT (org) DO UPDATE SET head = ledger_heads.head",
            )
            .bind(org)
            .execute(&mut *held)
            .await?;
            sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(org).execute(&mut *held).await?;
            Ok(Connection::Postgres(held))
        }
    }
}

async fn one(connection: &mut Connection, run: Run, finishes: &mut Vec<Finish>) -> Result<(), sqlx::Error> {
    statement(connection, "SAVEPOINT work").await?;
    // A panic in one write must not end the lane and with it every later write.
    let Ok((keep, finish)) = AssertUnwindSafe(run(connection)).catch_unwind().await else {
        return Err(sqlx::Error::Protocol("a write panicked".into()));
    };
    finishes.push(finish);
    if !keep {
        statement(connection, "ROLLBACK TO SAVEPOINT work").await?;
    }
    statement(connection, "RELEASE SAVEPOINT work").await
}

async fn statement(connection: &mut Connection, sql: &'static str) -> Result<(), sqlx::Error> {
    on_connection!(connection, c => sqlx::query(sql).execute(c).await.map(|_| ()))
}

/// Gives up a connection whose transaction failed: it is closed and not reused.
async fn abandon(connection: Connection) {
    match connection {
        Connection::Sqlite(held) => drop(held.close().await),
        Connection::Postgres(held) => drop(held.close().await),
    }
}
