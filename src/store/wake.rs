//! Waking who waits for an org's ledger: in-process on SQLite, fed by `LISTEN/NOTIFY` on PostgreSQL, polling as the floor.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::{broadcast, mpsc};

/// The PostgreSQL channel that carries the org of each commit.
const CHANNEL: &str = "playmaker_ledger";
/// Tells the other servers of several orgs at once.
const NOTIFY: &str = "SELECT pg_notify($1, org) FROM unnest($2) AS org";
/// Orgs that may wait to be told of. Past that they are not: waiters look by themselves.
const UNTOLD: usize = 1_024;

/// How long a waiter sleeps at most before it looks again by itself.
pub const POLL: Duration = Duration::from_secs(1);

/// Tells of commits by org. Missing a message is harmless: a waiter also looks every [`POLL`].
#[derive(Clone)]
pub struct Wake {
    commits: broadcast::Sender<Arc<str>>,
    /// To the other servers of the database, where there may be some.
    others: Option<mpsc::Sender<Arc<str>>>,
}

impl Wake {
    /// Within this server.
    pub(super) fn alone() -> Self {
        Self { commits: broadcast::channel(1_024).0, others: None }
    }

    /// With the other servers of a database, for as long as the pool is open.
    pub(super) fn with_others(pool: &PgPool) -> Self {
        let (others, untold) = mpsc::channel(UNTOLD);
        let wake = Self { others: Some(others), ..Self::alone() };
        tokio::spawn(tell_others(pool.clone(), untold));
        wake.listen(pool.clone());
        wake
    }

    /// Tells everywhere that something of `org` was committed.
    ///
    /// The other servers hear of it a little later, and not in the commit itself: PostgreSQL lets only one transaction that
    /// notifies commit at a time, and the commit of a write waits for the disk.
    pub(super) fn announce(&self, org: &Arc<str>) {
        self.tell(org);
        if let Some(others) = &self.others {
            let _ = others.try_send(org.clone());
        }
    }

    fn tell(&self, org: &str) {
        // No receiver is no fault: nobody waits.
        let _ = self.commits.send(Arc::from(org));
    }

    /// A receiver of the orgs whose ledgers grew from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<str>> {
        self.commits.subscribe()
    }

    /// Returns when `org` was committed to, or after [`POLL`].
    pub async fn wait(receiver: &mut broadcast::Receiver<Arc<str>>, org: &str) {
        let told = async {
            loop {
                match receiver.recv().await {
                    Ok(told) if &*told == org => return,
                    Ok(_) => {}
                    Err(broadcast::error::RecvError::Lagged(_)) => return,
                    Err(broadcast::error::RecvError::Closed) => std::future::pending::<()>().await,
                }
            }
        };
        let _ = tokio::time::timeout(POLL, told).await;
    }

    /// Passes on what other servers commit.
    fn listen(&self, pool: PgPool) {
        let wake = Self { others: None, ..self.clone() };
        tokio::spawn(async move {
            while !pool.is_closed() {
                if let Err(error) = wake.pass_on(&pool).await {
                    tracing::warn!(%error, "waiting for other servers' commits was interrupted; polling meanwhile");
                }
                tokio::time::sleep(POLL).await;
            }
        });
    }

    async fn pass_on(&self, pool: &PgPool) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        loop {
            tokio::select! {
                notification = listener.recv() => self.tell(notification?.payload()),
                () = pool.close_event() => return Ok(()),
            }
        }
    }
}

async fn tell_others(pool: PgPool, mut untold: mpsc::Receiver<Arc<str>>) {
    let mut orgs = Vec::new();
    while untold.recv_many(&mut orgs, UNTOLD).await > 0 {
        let distinct: BTreeSet<Arc<str>> = orgs.drain(..).collect();
        let distinct: Vec<&str> = distinct.iter().map(|org| &**org).collect();
        let told = sqlx::query(NOTIFY).bind(CHANNEL).bind(distinct).execute(&pool).await;
        if let Err(error) = told
            && !pool.is_closed()
        {
            tracing::warn!(%error, "other servers could not be told of a commit; they see it when they next look");
        }
    }
}
