//! Keeping new tokens before anybody uses them, also while the secrets store does not take them (`connections.md` 10.4).

use std::time::Duration;

use tokio::time::sleep;

use crate::connections::Connections;
use crate::connections::oauth::Tokens;
use crate::connections::record::Record;
use crate::connections::source::Source;
use crate::error::Result;
use crate::secrets::SecretsStore;
use crate::store::Work;

/// The waits between tries to write, within the claim.
const TRIES: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// How often tokens that are kept nowhere but here are tried again.
const AGAIN: Duration = Duration::from_secs(5);
/// How long a stop waits for that.
const AT_STOP: Duration = Duration::from_secs(10);
const WHY: &str = "tokens are kept before they are used; the change of version is what is told";

/// Where new tokens are.
pub(super) enum Kept {
    /// In the secrets store.
    Stored,
    /// In the journal or in memory: not to be used before they are in the store.
    Elsewhere,
}

/// The journal's record of a connection.
pub(super) fn journal(id: &str) -> String {
    format!("renewal:{id}")
}

impl Connections {
    /// Writes tokens as a version of the connection's record: into the store, else sealed into the database, else keeps
    /// them here until one of both takes them.
    pub(super) async fn keep(&self, record: &Record, version: i64, tokens: &Tokens, source: &Source) -> Kept {
        for wait in [Duration::ZERO].into_iter().chain(TRIES) {
            sleep(wait).await;
            match self.store(record, version, tokens).await {
                Ok(()) => return Kept::Stored,
                Err(problem) => {
                    tracing::warn!(%problem, connection.id = %record.id, "new tokens could not be stored");
                }
            }
        }
        if let Err(problem) = self.journal(record, version, tokens).await {
            tracing::error!(%problem, connection.id = %record.id, "new tokens are kept in memory alone");
            self.keep_here(record.clone(), version, tokens.clone(), source.clone());
        }
        Kept::Elsewhere
    }

    /// Tokens of a version that another attempt kept and did not publish; none is asked for while there are some.
    pub(super) async fn left_behind(&self, record: &Record, version: i64) -> Option<Tokens> {
        if let Ok(fields) = self.secrets.get(&record.org, &record.id, version).await {
            return Tokens::of(fields);
        }
        let fields = self.secrets.get_here(&record.org, &journal(&record.id), version).await.ok()?;
        let tokens = Tokens::of(fields)?;
        self.store(record, version, &tokens).await.ok()?;
        Some(tokens)
    }

    async fn store(&self, record: &Record, version: i64, tokens: &Tokens) -> Result<()> {
        let sealed = self.secrets.seal(&record.org, &record.id, version, &tokens.fields())?;
        let work: Work<()> =
            Box::new(move |connection| Box::pin(async move { SecretsStore::put(connection, &sealed).await }));
        self.ledger.store().housekeeping(&record.org, WHY, work).await
    }

    async fn journal(&self, record: &Record, version: i64, tokens: &Tokens) -> Result<()> {
        let sealed = self.secrets.seal_here(&record.org, &journal(&record.id), version, &tokens.fields())?;
        let work: Work<()> =
            Box::new(move |connection| Box::pin(async move { SecretsStore::put_here(connection, &sealed).await }));
        self.ledger.store().housekeeping(&record.org, WHY, work).await
    }

    fn keep_here(&self, record: Record, version: i64, tokens: Tokens, source: Source) {
        let this = self.clone();
        self.lifecycle.spawn(async move {
            let mut left = None;
            while left.is_none_or(|left: Duration| !left.is_zero()) {
                tokio::select! {
                    () = sleep(AGAIN) => {}
                    () = this.lifecycle.token().cancelled(), if left.is_none() => left = Some(AT_STOP),
                }
                left = left.map(|left| left.saturating_sub(AGAIN));
                if this.store(&record, version, &tokens).await.is_ok() {
                    if let Err(problem) = this.publish(&record, version, &tokens, &source).await {
                        tracing::warn!(%problem, connection.id = %record.id, "stored tokens wait for the next renewal");
                    }
                    return;
                }
                if this.journal(&record, version, &tokens).await.is_ok() {
                    return;
                }
            }
            tracing::error!(connection.id = %record.id, "new tokens are lost: neither store nor database took them");
        });
    }
}
