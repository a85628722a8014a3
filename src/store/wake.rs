//! Waking who waits for an org's ledger: in-process on SQLite, fed by `LISTEN/NOTIFY` on PostgreSQL, polling as the floor.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::broadcast;

/// The PostgreSQL channel that carries the org of each commit.
pub(super) const CHANNEL: &str = "playmaker_ledger";

/// How long a waiter sleeps at most before it looks again by itself.
pub const POLL: Duration = Duration::from_secs(1);

/// Tells of commits by org. Missing a message is harmless: a waiter also looks every [`POLL`].
#[derive(Clone)]
pub struct Wake {
    commits: broadcast::Sender<Arc<str>>,
}

impl Wake {
    pub(super) fn new() -> Self {
        Self { commits: broadcast::channel(1_024).0 }
    }

    /// Tells that something of `org` was committed.
    pub(super) fn tell(&self, org: &str) {
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

    /// Passes on what other servers commit, for as long as the pool is open.
    pub(super) fn listen(&self, pool: PgPool) {
        let wake = self.clone();
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
