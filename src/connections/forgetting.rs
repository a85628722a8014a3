//! The end of an org: what it connected goes with it, credentials first.

use super::{Connections, consent, discovery};
use crate::error::Result;
use crate::on_connection;
use crate::secrets::SecretsStore;
use crate::store::Work;

const ROWS: [&str; 6] = [
    consent::FORGET_ORG,
    discovery::FORGET_ORG,
    "DELETE FROM connection_links WHERE org = $1",
    "DELETE FROM connection_renewals WHERE org = $1",
    "DELETE FROM connection_revocations WHERE org = $1",
    "DELETE FROM connections WHERE org = $1",
];
const WHY: &str = "the org is gone, which its audit tells";

impl Connections {
    /// Forgets every credential of an org.
    pub async fn forget_credentials(&self, org: &str) -> Result<()> {
        let of = org.to_owned();
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                SecretsStore::delete_org_here(connection, &of).await?;
                SecretsStore::delete_org(connection, &of).await
            })
        });
        self.ledger.store().housekeeping(org, WHY, work).await
    }

    /// Forgets an org's connections, their links, the trips begun at them and the clients issuers registered for them.
    pub async fn forget_org(&self, org: &str) -> Result<()> {
        let of = org.to_owned();
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                for sql in ROWS {
                    on_connection!(connection, c => sqlx::query(sql).bind(&of).execute(c).await.map(|_| ()))?;
                }
                Ok(())
            })
        });
        self.ledger.store().housekeeping(org, WHY, work).await
    }
}
