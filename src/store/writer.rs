//! Group commit: writes queue up, and all that wait are made in one transaction, each in a savepoint of its own.
//!
//! SQLite has one writer. PostgreSQL has several lanes, an org always in the same one; a transaction there is of one org
//! and takes that org's row in `ledger_locks` first, so that two servers never deadlock and positions have no gaps.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::{PgPool, SqlitePool};
use tokio::sync::{mpsc, oneshot};

use super::connection::Connection;
use super::transaction::commit;
use super::wake::Wake;
use crate::error::{Problem, Result};

/// The most writes that share one commit.
const GROUP: usize = 128;
/// PostgreSQL lanes of one server.
const LANES: usize = 4;
/// Writes that may wait in a lane before callers wait to queue.
const QUEUE: usize = 4_096;

/// What a write does: statements only, never anything that waits for the network.
pub type Work<T> = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T>> + Send>;

/// Answers the caller, once the commit stands (`None`) or failed.
pub(super) type Finish = Box<dyn FnOnce(Option<Problem>) + Send>;
/// Does the work and says whether to keep it.
pub(super) type Run = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, (bool, Finish)> + Send>;

pub(super) struct Job {
    pub(super) org: Arc<str>,
    pub(super) run: Run,
}

enum Message {
    Write(Job),
    /// Give the connection back, and say so.
    Release(oneshot::Sender<()>),
}

#[derive(Clone)]
pub(super) struct Writer {
    lanes: Arc<[Lane]>,
}

struct Lane {
    messages: mpsc::Sender<Message>,
}

/// Where connections come from.
pub(super) enum Source {
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
                // A panic in one write must not end the lane and with it every later write.
                let worked = AssertUnwindSafe(work(connection)).catch_unwind().await;
                let result = worked.unwrap_or_else(|_| Err(Problem::internal("a write panicked")));
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
        self.lane(org).messages.send(Message::Write(job)).await.map_err(|_| stopping())?;
        // Dropped unanswered: the transaction could not begin or broke off, which the lane has logged.
        answered.await.map_err(|_| unanswered())?
    }

    fn lane(&self, org: &str) -> &Lane {
        let mut hasher = DefaultHasher::new();
        org.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % self.lanes.len() as u64).unwrap_or(0);
        &self.lanes[index]
    }

    /// Waits until every write queued so far has been made, and gives the connections back.
    pub(super) async fn close(&self) {
        for lane in &*self.lanes {
            let (released, waited) = oneshot::channel();
            if lane.messages.send(Message::Release(released)).await.is_ok() {
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
        let (messages, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(serve(source, waiting, wake));
        Self { messages }
    }
}

async fn serve(source: Source, mut waiting: mpsc::Receiver<Message>, wake: Wake) {
    let mut later = VecDeque::new();
    // Kept from one commit to the next: the pool would ask each time whether it is still good.
    let mut held = None;
    loop {
        let next = match later.pop_front() {
            Some(message) => message,
            None => match waiting.recv().await {
                Some(message) => message,
                None => return,
            },
        };
        let first = match next {
            Message::Write(job) => job,
            Message::Release(released) => {
                held = None;
                let _ = released.send(());
                continue;
            }
        };
        let group = gather(&source, first, &mut waiting, &mut later);
        let orgs: Vec<Arc<str>> = group.iter().map(|job| job.org.clone()).collect();
        let mut finishes = Vec::with_capacity(group.len());
        let failed = match commit(&source, held.take(), group, &mut finishes).await {
            Ok(connection) => {
                held = Some(connection);
                None
            }
            Err(error) => {
                tracing::error!(%error, org.id = &*orgs[0], "a group of writes was undone");
                Some(error.to_string())
            }
        };
        for org in orgs {
            wake.announce(&org);
        }
        // Where the transaction could not begin there is nothing to finish: dropping the jobs told each caller.
        for finish in finishes {
            finish(failed.as_ref().map(|error: &String| Problem::internal(error.clone())));
        }
    }
}

/// Takes what waits besides `first` into one group; on PostgreSQL only writes of the same org, the rest keep their order.
fn gather(
    source: &Source,
    first: Job,
    waiting: &mut mpsc::Receiver<Message>,
    later: &mut VecDeque<Message>,
) -> Vec<Job> {
    let mixed = matches!(source, Source::Sqlite(_));
    let mut group = vec![first];
    while later.len() < QUEUE {
        match waiting.try_recv() {
            Ok(message) => later.push_back(message),
            Err(_) => break,
        }
    }
    for message in std::mem::take(later) {
        match message {
            Message::Write(job) if group.len() < GROUP && (mixed || job.org == group[0].org) => group.push(job),
            message => later.push_back(message),
        }
    }
    group
}
