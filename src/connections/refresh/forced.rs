//! What a server's 401 means for tokens: they are renewed once, whatever their time says (`connections.md` 10.2).

use super::{WAIT, row};
use crate::config::CredentialKind;
use crate::connections::changes::one;
use crate::connections::record::{Because, Record, Status};
use crate::connections::standing::Fault;
use crate::connections::{Connections, Placed, notice};
use crate::error::Result;
use crate::ledger::Changed;

impl Connections {
    /// The server refused `version` of a connection's tokens: others to send the call again with, once, where there are
    /// any. A refusal of tokens that were just renewed is counted; the third within ten minutes breaks the connection.
    pub async fn after_refusal(&self, org: &str, id: &str, version: i64) -> Option<(Record, Placed)> {
        let record = self.find(org, id).await.ok().flatten()?;
        let kind = record.credential.as_ref()?.kind;
        let renews = matches!(kind, CredentialKind::Authorization | CredentialKind::ClientCredentials);
        if !renews || record.status != Status::Connected {
            return None;
        }
        if record.credential_version == version {
            let mut under_way = self.begin_renewal(&record, true);
            // However it ended, the row tells.
            drop(tokio::time::timeout(WAIT, under_way.wait_for(|over| *over)).await);
        }
        let record = self.find(org, id).await.ok().flatten()?;
        if record.credential_version == version {
            return None;
        }
        let placed = self.credential(&record).await.ok()??;
        Some((record, placed))
    }

    /// The server refused tokens that were renewed for this very call.
    pub async fn refused_again(&self, org: &str, id: &str) {
        if let Err(problem) = self.count_refusal(org, id).await {
            tracing::warn!(%problem, connection.id = id, "a refusal of new tokens could not be counted");
        }
    }

    async fn count_refusal(&self, org: &str, id: &str) -> Result<()> {
        let now = self.database_clock.now_ms().await?;
        let (of, id) = (org.to_owned(), id.to_owned());
        self.ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let (Some(found), Some(mut renewal)) =
                            (one(connection, &of, &id).await?, row::read(connection, &of, &id).await?)
                        else {
                            return Ok(Changed::nothing(()));
                        };
                        let over = renewal.refused_again(now);
                        row::write(connection, &of, &id, &renewal).await?;
                        if !over {
                            return Ok(Changed::nothing(()));
                        }
                        let fault = Fault::new(Because::Broken, "refused");
                        Ok(Changed::of((), notice::noted(connection, &found, Some(fault)).await?))
                    })
                }),
            )
            .await
    }
}
