//! Orgs: the tenants. An org's id is for good, also after it is gone (`identity.md` 1.1).
//!
//! [`making`], [`changes`] and [`erasing`] are its life; here is what it looks like.

pub mod changes;
pub mod erasing;
pub mod making;

pub use changes::{DELETION_MS, deleting, unknown};

use super::Identity;
use crate::error::Result;
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// First segments of the server's own paths and of Studio's: no id for a new org (decision D52).
pub const RESERVED: [&str; 26] = [
    "authorize",
    "connect",
    "docs",
    "forgot",
    "health",
    "invitations",
    "mcp",
    "metrics",
    "new",
    "oauth",
    "openapi",
    "orgs",
    "ready",
    "register",
    "reset",
    "settings",
    "setup",
    "sign-in",
    "sign-out",
    "sign-up",
    "static",
    "studio",
    "token",
    "tools",
    "v1",
    "well-known",
];

/// Whether an org takes commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It does.
    Active,
    /// It is about to be deleted; reads work.
    Deleting,
    /// It is gone; the id stays taken.
    Deleted,
}

impl Status {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deleting => "deleting",
            Self::Deleted => "deleted",
        }
    }
}

/// An org.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Org {
    /// Its id.
    pub id: String,
    /// 1 to 100 characters.
    pub name: String,
    /// Whether it takes commands.
    pub status: Status,
    /// In milliseconds since the epoch.
    pub created_at_ms: i64,
    /// The caller id of who made it.
    pub created_by: String,
    /// When it goes, while it is being deleted.
    pub deletes_at_ms: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct Stored {
    id: String,
    name: String,
    status: String,
    created_at: i64,
    created_by: String,
    deletes_at: Option<i64>,
}

impl From<Stored> for Org {
    fn from(row: Stored) -> Self {
        let status = match row.status.as_str() {
            "active" => Status::Active,
            "deleting" => Status::Deleting,
            _ => Status::Deleted,
        };
        Self {
            id: row.id,
            name: row.name,
            status,
            created_at_ms: row.created_at,
            created_by: row.created_by,
            deletes_at_ms: row.deletes_at,
        }
    }
}

const ONE: &str = "SELECT id, name, status, created_at, created_by, deletes_at FROM orgs WHERE id = $1";
const INSERT: &str = "INSERT INTO orgs (id, name, status, created_at, created_by) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (id) DO NOTHING";

/// Whether a new org may have this id: 3 to 48 of `a-z 0-9 -`, first a letter or a digit, none of [`RESERVED`].
pub fn is_new_id(text: &str) -> bool {
    (3..=48).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !text.starts_with('-')
        && !RESERVED.contains(&text)
}

/// Writes a new org, inside a commit; `false` when the id is taken.
pub async fn insert(connection: &mut Connection, org: &Org) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&org.id)
        .bind(&org.name)
        .bind(org.status.word())
        .bind(org.created_at_ms)
        .bind(&org.created_by)
        .execute(c)
        .await
        .map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}

/// An org as it stands, inside a commit.
pub async fn one(connection: &mut Connection, id: &str) -> Result<Option<Org>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(ONE).bind(id).fetch_optional(c).await)?;
    Ok(row.map(Org::from))
}

impl Identity {
    /// An org, from a row at most five seconds old. Orgs of keys alone have no row.
    pub async fn org(&self, id: &str) -> Result<Option<Org>> {
        let read = async {
            let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ONE)
                .bind(id).fetch_optional(pool).await)?;
            Ok(row.map(Org::from))
        };
        self.recent_orgs.get(id.to_owned(), self.clock.now_ms(), read).await
    }
}

#[cfg(test)]
mod tests {
    use super::is_new_id;

    #[test]
    fn a_new_org_takes_no_path_of_the_server() {
        assert!(is_new_id("acme") && is_new_id("4th-floor"));
        for bad in ["ac", "Acme", "acme_1", "-acme", "settings", "sign-in", "v1", &"a".repeat(49)] {
            assert!(!is_new_id(bad), "{bad}");
        }
    }
}
