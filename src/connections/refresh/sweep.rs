//! Renewing before anybody waits for it (`connections.md` 10.2, the sweep).

use crate::connections::Connections;
use crate::connections::record::Record;
use crate::error::Result;
use crate::store::Work;
use crate::{on_connection, on_pool};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long connections that nobody uses are renewed.
const USED_WITHIN_MS: i64 = 7 * DAY_MS;
/// How exactly it is known when a connection was last used.
const USED_STEP_MS: i64 = 60 * 60 * 1_000;

const DUE: &str = "SELECT org, connection FROM connection_renewals WHERE state <> 'needs_reconnect' \
     AND (owner IS NULL OR deadline < $1) AND (next_attempt_at IS NULL OR next_attempt_at <= $1) \
     AND ((due_at <= $1 AND used_at > $2) OR lapses_at <= $1) ORDER BY due_at LIMIT 50";
const USED: &str = "UPDATE connection_renewals SET used_at = $3 WHERE org = $1 AND connection = $2 AND used_at < $3";

impl Connections {
    /// Begins to renew what is due, of every org; gives how many that were.
    pub async fn sweep_renewals(&self) -> Result<usize> {
        let now = self.database_clock.now_ms().await?;
        let due: Vec<(String, String)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(DUE)
            .bind(now).bind(now - USED_WITHIN_MS).fetch_all(pool).await)?;
        for (org, id) in &due {
            if let Some(record) = self.find(org, id).await? {
                self.begin_renewal(&record, false);
            }
        }
        Ok(due.len())
    }

    /// Remembers that a connection is in use, to the hour.
    pub(super) fn note_use(&self, record: &Record) {
        let now = self.clock.now_ms();
        let Some(renewal) = &record.renewal else { return };
        if now - renewal.used_at < USED_STEP_MS {
            return;
        }
        let (this, org, id) = (self.clone(), record.org.clone(), record.id.clone());
        self.lifecycle.spawn(async move {
            let of = org.clone();
            let work: Work<()> = Box::new(move |connection| {
                Box::pin(async move {
                    on_connection!(connection, c => sqlx::query(USED)
                        .bind(&of).bind(&id).bind(now).execute(c).await.map(|_| ()))?;
                    Ok(())
                })
            });
            let why = "when a connection was last used is no fact of the business";
            if let Err(problem) = this.ledger.store().housekeeping(&org, why, work).await {
                tracing::warn!(%problem, "when a connection was used could not be written");
            }
        });
    }
}
