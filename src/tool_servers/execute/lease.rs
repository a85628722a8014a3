//! A call in hand is this server's while its lease runs; after that another server may close it as lost.

use std::convert::Infallible;
use std::time::Duration;

use super::Started;
use crate::error::Result;
use crate::on_connection;
use crate::tool_servers::ToolServers;

/// How long a call is this server's: three renewals, so that one that fails loses nothing.
pub(super) const LEASE_MS: i64 = 60_000;
/// How often the lease is renewed.
const EVERY: Duration = Duration::from_secs(20);

const RENEW: &str = "UPDATE tool_calls SET lease_until = $3 WHERE org = $1 AND call_id = $2 AND ended_at IS NULL";

impl ToolServers {
    /// Renews the lease of a call until it is dropped, beside the request.
    pub(super) async fn hold(&self, started: &Started) -> Infallible {
        loop {
            tokio::time::sleep(EVERY).await;
            if let Err(problem) = self.renew(&started.call.org, &started.call_id).await {
                tracing::warn!(%problem, call.id = %started.call_id, "the lease of a call could not be renewed");
            }
        }
    }

    /// Makes the lease of a call run anew from now.
    pub(in crate::tool_servers) async fn renew(&self, org: &str, call_id: &str) -> Result<()> {
        let (of, call_id, until) = (org.to_owned(), call_id.to_owned(), self.now_ms() + LEASE_MS);
        self.needs
            .ledger
            .store()
            .housekeeping(
                org,
                "the lease of a call is no fact of the business",
                Box::new(move |connection| {
                    Box::pin(async move {
                        on_connection!(connection, c => sqlx::query(RENEW)
                            .bind(&of).bind(&call_id).bind(until).execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                }),
            )
            .await
    }
}
