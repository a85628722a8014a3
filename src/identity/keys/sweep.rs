//! What nobody's request does to keys: uses are written, ends are told in the audit, and old ones go.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{LISTED_MS, events, stored};
use crate::error::Result;
use crate::identity::Identity;
use crate::ledger::{Actor, Changed, Work};
use crate::lifecycle::Lifecycle;
use crate::{on_connection, on_pool};

/// How often.
const EVERY: Duration = Duration::from_secs(60);
/// How many rounds pass until keys that ended long ago are looked for.
const LONG_AGO: u32 = 60;

const EXPIRED: &str = "SELECT org, id FROM api_keys WHERE expires_at <= $1 AND NOT expiry_told AND revoked_at IS NULL \
     ORDER BY expires_at, id LIMIT 100";
const TELL: &str = "UPDATE api_keys SET expiry_told = TRUE WHERE org = $1 AND id = $2 AND NOT expiry_told AND \
     revoked_at IS NULL";
const OLD: &str = "SELECT DISTINCT org FROM api_keys WHERE expires_at <= $1 OR revoked_at <= $1 ORDER BY org";
const FORGET: &str = "DELETE FROM api_keys WHERE org = $2 AND (expires_at <= $1 OR revoked_at <= $1)";

impl Identity {
    /// Looks after keys until the stop.
    pub fn start_key_sweep(self: &Arc<Self>, lifecycle: &Lifecycle) {
        let (identity, stop) = (self.clone(), lifecycle.token().clone());
        lifecycle.spawn(async move {
            let mut round = 0;
            loop {
                if let Err(problem) = identity.sweep_keys(round % LONG_AGO == 0).await {
                    tracing::warn!(%problem, "keys could not be looked after");
                }
                round = (round + 1) % LONG_AGO;
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    /// One round: what was used is written, what has expired is told once on all servers, and where `old` is set, keys
    /// that ended three months ago are forgotten.
    pub async fn sweep_keys(&self, old: bool) -> Result<()> {
        self.write_key_uses().await?;
        let now = self.now_ms();
        loop {
            let rows: Vec<(String, String)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(EXPIRED)
                .bind(now).fetch_all(pool).await)?;
            for (org, id) in &rows {
                self.tell_expired(org, id).await?;
            }
            if rows.len() < 100 {
                break;
            }
        }
        if old {
            self.forget_old_keys(now - LISTED_MS).await?;
        }
        Ok(())
    }

    async fn tell_expired(&self, org: &str, id: &str) -> Result<()> {
        let (name, id) = (org.to_owned(), id.to_owned());
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                let told = on_connection!(connection, c => sqlx::query(TELL)
                    .bind(&name).bind(&id).execute(c).await.map(|done| done.rows_affected()))?;
                match stored::one(connection, &name, &id).await?.filter(|_| told == 1) {
                    None => Ok(Changed::nothing(())),
                    Some(key) => {
                        let facts = json!({ "name": key.name, "display": key.display });
                        Ok(Changed::by((), events::event(&key, "key_expired", Actor::system(), facts)))
                    }
                }
            })
        });
        self.ledger.commit(org, work).await
    }

    async fn forget_old_keys(&self, ended_ms: i64) -> Result<()> {
        let orgs: Vec<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(OLD)
            .bind(ended_ms).fetch_all(pool).await)?;
        for (org,) in orgs {
            let name = org.clone();
            let write: crate::store::Work<()> = Box::new(move |connection| {
                Box::pin(async move {
                    on_connection!(connection, c => sqlx::query(FORGET)
                        .bind(ended_ms).bind(name).execute(c).await.map(|_| ()))?;
                    Ok(())
                })
            });
            let why = "an ended key is listed for three months; what became of it stays in the audit";
            self.ledger.store().housekeeping(&org, why, write).await?;
        }
        Ok(())
    }
}
