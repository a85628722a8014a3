//! Reading the rows of connections, always of one org.

use super::Connections;
use super::record::{Record, Status, Stored};
use crate::error::Result;
use crate::on_pool;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT c.org, c.id, c.name, c.title, c.type, c.provider, c.entry, c.placeholders, c.credential, c.status, ",
            "c.last_because, c.account, c.account_digest, c.scopes, c.expires_at, r.state AS renewal_state, r.cause AS renewal_cause, ",
            "r.due_at, r.used_at, c.credential_version, c.revision, c.added_by, c.added_at, c.connected_by, c.connected_at, ",
            "c.removed_by, c.removed_at, (SELECT MAX(l.expires_at) FROM connection_links l ",
            "WHERE l.org = c.org AND l.connection = c.id AND l.state = 'open') AS link_expires_at ",
            "FROM connections c LEFT JOIN connection_renewals r ON r.org = c.org AND r.connection = c.id WHERE ",
            $rest
        )
    };
}

/// A page of every org's connected ones, for the sweep of a start alone.
pub(super) const CONNECTED: &str =
    select!("(c.org, c.id) > ($1, $2) AND c.status = 'connected' ORDER BY c.org, c.id LIMIT 100");

pub(super) const ONE: &str = select!("c.org = $1 AND c.id = $2");
const BY_NAME: &str = select!("c.org = $1 AND c.name = $2 AND c.status <> 'removed'");
const LIVING: &str = select!("c.org = $1 AND c.status <> 'removed' ORDER BY c.name");
const PAGE: &str = select!(
    "c.org = $1 AND (c.status <> 'removed' OR $2) AND (CAST($3 AS TEXT) IS NULL OR c.status = $3) \
     AND (CAST($4 AS TEXT) IS NULL OR c.provider = $4) \
     AND (c.added_at < $5 OR (c.added_at = $5 AND c.id < $6)) ORDER BY c.added_at DESC, c.id DESC LIMIT $7"
);
const DOCUMENT: &str = "SELECT document FROM connections WHERE org = $1 AND id = $2";

/// What a page of connections keeps.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// One status.
    pub status: Option<Status>,
    /// One provider.
    pub provider: Option<String>,
    /// Removed ones too.
    pub include_removed: bool,
}

impl Connections {
    /// One connection, removed or not.
    pub async fn find(&self, org: &str, id: &str) -> Result<Option<Record>> {
        let row = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Stored>(ONE)
            .bind(org).bind(id).fetch_optional(pool).await)?;
        row.map(Record::try_from).transpose()
    }

    /// The connection of a name that is not removed.
    pub async fn named(&self, org: &str, name: &str) -> Result<Option<Record>> {
        let row = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Stored>(BY_NAME)
            .bind(org).bind(name).fetch_optional(pool).await)?;
        row.map(Record::try_from).transpose()
    }

    /// Every connection of the org that is not removed, by name.
    pub async fn living(&self, org: &str) -> Result<Vec<Record>> {
        let rows = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Stored>(LIVING)
            .bind(org).fetch_all(pool).await)?;
        rows.into_iter().map(Record::try_from).collect()
    }

    /// At most `limit` connections, newest first, older than `before` (time added and id).
    pub async fn page(
        &self,
        org: &str,
        filter: &Filter,
        before: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Record>> {
        let (added_at, id) = before.unwrap_or((i64::MAX, String::new()));
        let include_removed = filter.include_removed || filter.status == Some(Status::Removed);
        let rows = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Stored>(PAGE)
            .bind(org)
            .bind(include_removed)
            .bind(filter.status.map(Status::word))
            .bind(&filter.provider)
            .bind(added_at)
            .bind(&id)
            .bind(limit)
            .fetch_all(pool)
            .await)?;
        rows.into_iter().map(Record::try_from).collect()
    }

    /// The text of the OpenAPI document that was read when the connection was added by hand.
    pub async fn document(&self, org: &str, id: &str) -> Result<Option<String>> {
        let row: Option<(Option<String>,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(DOCUMENT)
            .bind(org).bind(id).fetch_optional(pool).await)?;
        Ok(row.and_then(|(document,)| document))
    }
}
