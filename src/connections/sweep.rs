//! What nobody's request does: links that end, what nobody approved, rules that changed while the server was down.

use std::time::Duration;

use super::Connections;
use super::record::{Record, Stored};
use crate::clock::SharedClock;
use crate::egress;
use crate::error::Result;
use crate::lifecycle::Lifecycle;
use crate::on_pool;

/// How often links are looked at.
const EVERY: Duration = Duration::from_secs(30);

impl Connections {
    /// Looks at every connection once, for the rules of this start, then at links every half minute until the stop.
    pub fn start_sweep(&self, egress: egress::Client, clock: SharedClock, lifecycle: &Lifecycle) {
        let (connections, stop) = (self.clone(), lifecycle.token().clone());
        lifecycle.spawn(async move {
            let looked = tokio::select! {
                looked = connections.look_at_all(&egress) => looked,
                () = stop.cancelled() => return,
            };
            if let Err(problem) = looked {
                tracing::warn!(%problem, "connections could not be checked against the rules of this start");
            }
            loop {
                if let Err(problem) = connections.sweep_links(clock.now_ms()).await {
                    tracing::warn!(%problem, "links could not be looked at");
                }
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    /// Tells in the audit what the operator's rules of today refuse or allow again (T14, T15).
    pub async fn look_at_all(&self, egress: &egress::Client) -> Result<()> {
        let mut after = (String::new(), String::new());
        loop {
            let rows = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Stored>(super::rows::CONNECTED)
                .bind(&after.0).bind(&after.1).fetch_all(pool).await)?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.key();
            for row in rows {
                let record = Record::try_from(row)?;
                let _ = self.credential(egress, &record).await;
            }
        }
    }
}
