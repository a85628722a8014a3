//! The end of an org whose seven days are over. Its credentials go first, then it is marked as gone, then its rows go; each
//! step can be done again, so that a server that stops half-way is followed by the next one.

use serde_json::json;

use super::{Org, Status, changes, one};
use crate::error::Result;
use crate::identity::{Changed as Row, Identity};
use crate::ledger::{Actor, Changed};
use crate::{on_connection, on_pool};

const DUE: &str = "SELECT id FROM orgs WHERE status = 'deleting' AND deletes_at <= $1 ORDER BY id LIMIT 100";
/// Gone, with rows that may be left.
const UNFINISHED: &str =
    "SELECT id FROM orgs WHERE status = 'deleted' AND deletes_at IS NOT NULL ORDER BY id LIMIT 100";
const GONE: &str =
    "UPDATE orgs SET status = 'deleted', name = id WHERE id = $1 AND status = 'deleting' AND deletes_at <= $2";
const FINISHED: &str = "UPDATE orgs SET deletes_at = NULL WHERE id = $1 AND status = 'deleted'";
/// What this room keeps of an org.
const OWN_ROWS: [&str; 9] = [
    "DELETE FROM oauth_refresh_tokens WHERE org = $1",
    "DELETE FROM oauth_families WHERE org = $1",
    "DELETE FROM oauth_codes WHERE org = $1",
    "DELETE FROM oauth_consents WHERE org = $1",
    "DELETE FROM oauth_grants WHERE org = $1",
    "DELETE FROM oauth_revocations WHERE org = $1",
    "DELETE FROM api_keys WHERE org = $1",
    "DELETE FROM invitations WHERE org = $1",
    "DELETE FROM memberships WHERE org = $1",
];

impl Identity {
    /// Orgs whose time is over and that still have their credentials and rows.
    pub async fn orgs_due(&self) -> Result<Vec<String>> {
        let found: Vec<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(DUE)
            .bind(self.now_ms()).fetch_all(pool).await)?;
        Ok(found.into_iter().map(|(id,)| id).collect())
    }

    /// Orgs that are gone and may have rows left.
    pub async fn orgs_unfinished(&self) -> Result<Vec<String>> {
        let found: Vec<(String,)> =
            on_pool!(self.ledger.store(), pool => sqlx::query_as(UNFINISHED).fetch_all(pool).await)?;
        Ok(found.into_iter().map(|(id,)| id).collect())
    }

    /// Marks an org as gone for good, unless it was restored meanwhile; its id stays taken. Whether it is gone now.
    pub async fn mark_org_gone(&self, org: &str) -> Result<bool> {
        let (id, now) = (org.to_owned(), self.now_ms());
        let work: crate::ledger::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                let Some(org) = one(connection, &id).await? else { return Ok(Changed::nothing(false)) };
                let rows = on_connection!(connection, c => sqlx::query(GONE)
                    .bind(&id).bind(now).execute(c).await.map(|done| done.rows_affected()))?;
                if rows == 0 {
                    return Ok(Changed::nothing(org.status == Status::Deleted));
                }
                let event = changes::event(&org, "org_deleted", Actor::system(), json!({ "gone": true }));
                Ok(Changed::by(true, event))
            })
        });
        let gone = self.ledger.commit(org, work).await?;
        self.forget(Row::Org(org));
        Ok(gone)
    }

    /// Forgets this room's rows of an org that is gone, and that anything is left of it: the last step.
    pub async fn forget_org(&self, org: &str) -> Result<()> {
        let id = org.to_owned();
        let why = "that the org is gone is in the audit; what it held is nobody's any more";
        let work: crate::store::Work<Option<Org>> = Box::new(move |connection| {
            Box::pin(async move {
                for sql in OWN_ROWS.into_iter().chain([FINISHED]) {
                    on_connection!(connection, c => sqlx::query(sql).bind(&id).execute(c).await.map(|_| ()))?;
                }
                one(connection, &id).await
            })
        });
        self.ledger.store().housekeeping(org, why, work).await?;
        self.forget(Row::Org(org));
        Ok(())
    }
}
