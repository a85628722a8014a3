//! Memberships: a person's role in an org and the playbooks it is narrowed to.
//!
//! [`changes`] says who may change them and what may not happen, [`ended`] what goes with one, [`list`] shows them.

pub mod changes;
pub mod ended;
pub mod list;
mod seen;

use super::{Identity, Playbooks, Role};
use crate::error::{Problem, Result};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// The most orgs of a person.
pub const MOST_ORGS: usize = 100;
/// The most members of an org.
pub const MOST_MEMBERS: i64 = 10_000;

/// A person in an org.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The org.
    pub org: String,
    /// The person, `user_…`.
    pub person: String,
    /// What they may do.
    pub role: Role,
    /// Where; viewers and members alone can be narrowed.
    pub playbooks: Playbooks,
    /// In milliseconds since the epoch.
    pub created_at_ms: i64,
    /// The caller id of who let them in.
    pub created_by: String,
    /// The day they were last seen, in milliseconds since the epoch.
    pub last_seen_at_ms: Option<i64>,
}

impl Membership {
    /// Where the person may act: narrowing counts for viewers and members alone.
    pub fn reach(&self) -> Playbooks {
        if self.role.is_narrowed() { self.playbooks.clone() } else { Playbooks::All }
    }
}

#[derive(sqlx::FromRow)]
struct Stored {
    org: String,
    person: String,
    role: String,
    playbooks: String,
    created_at: i64,
    created_by: String,
    last_seen_at: Option<i64>,
}

impl TryFrom<Stored> for Membership {
    type Error = Problem;

    fn try_from(row: Stored) -> Result<Self> {
        let role = Role::of(&row.role).ok_or_else(|| Problem::internal("a membership of an unknown role"))?;
        Ok(Self {
            org: row.org,
            person: row.person,
            role,
            playbooks: playbooks(&row.playbooks)?,
            created_at_ms: row.created_at,
            created_by: row.created_by,
            last_seen_at_ms: row.last_seen_at,
        })
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT org, person, role, playbooks, created_at, created_by, last_seen_at FROM memberships WHERE ",
            $rest
        )
    };
}

const ONE: &str = select!("org = $1 AND person = $2");
const OF_PERSON: &str = select!("person = $1 ORDER BY COALESCE(last_seen_at, 0) DESC, org LIMIT 100");
const PROMOTE: &str = "UPDATE memberships SET role = $3 WHERE org = $1 AND person = $2";
const INSERT: &str = "INSERT INTO memberships (org, person, role, playbooks, created_at, created_by) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org, person) DO NOTHING";

/// Playbooks as they are kept: `*`, or a JSON list of ids.
pub fn playbooks_text(playbooks: &Playbooks) -> String {
    match playbooks {
        Playbooks::All => "*".into(),
        Playbooks::Only(ids) => serde_json::json!(ids).to_string(),
    }
}

/// Playbooks as they are told: `"*"`, or a list of ids.
pub fn playbooks_value(playbooks: &Playbooks) -> serde_json::Value {
    match playbooks {
        Playbooks::All => "*".into(),
        Playbooks::Only(ids) => serde_json::json!(ids),
    }
}

/// Playbooks as they were kept.
pub fn playbooks(text: &str) -> Result<Playbooks> {
    if text == "*" {
        return Ok(Playbooks::All);
    }
    Ok(Playbooks::Only(serde_json::from_str(text)?))
}

/// Writes a new membership, inside a commit; `false` when the person is a member already. [`Identity::forget`] after it.
pub async fn insert(connection: &mut Connection, membership: &Membership) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&membership.org)
        .bind(&membership.person)
        .bind(membership.role.word())
        .bind(playbooks_text(&membership.playbooks))
        .bind(membership.created_at_ms)
        .bind(&membership.created_by)
        .execute(c)
        .await
        .map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}

/// Gives a member another role, inside a commit. [`Identity::forget`] after it.
pub async fn promote(connection: &mut Connection, org: &str, person: &str, role: Role) -> Result<()> {
    on_connection!(connection, c => sqlx::query(PROMOTE)
        .bind(org).bind(person).bind(role.word()).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// A membership as it stands, inside a commit.
pub async fn one(connection: &mut Connection, org: &str, person: &str) -> Result<Option<Membership>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(ONE)
        .bind(org).bind(person).fetch_optional(c).await)?;
    row.map(Membership::try_from).transpose()
}

impl Identity {
    /// A membership, from a row at most five seconds old.
    pub async fn membership(&self, org: &str, person: &str) -> Result<Option<Membership>> {
        let read = async {
            let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ONE)
                .bind(org).bind(person).fetch_optional(pool).await)?;
            row.map(Membership::try_from).transpose()
        };
        self.recent_members.get((org.to_owned(), person.to_owned()), self.clock.now_ms(), read).await
    }

    /// The orgs a person belongs to as they stand, the one last used first.
    pub async fn memberships_of(&self, person: &str) -> Result<Vec<Membership>> {
        let rows: Vec<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(OF_PERSON)
            .bind(person).fetch_all(pool).await)?;
        rows.into_iter().map(Membership::try_from).collect()
    }
}
