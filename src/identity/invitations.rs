//! Invitations to an org, each to one address: a code of 160 bits, of which the digest alone is kept, good for seven days
//! and once (`identity.md` 1.3).
//!
//! [`sending`] makes and takes them back, [`accepting`] is the other side.

pub mod accepting;
pub mod sending;

use super::{Identity, Playbooks, Role, members};
use crate::digest::sha256_hex;
use crate::error::{Problem, Result};
use crate::ledger::Actor;
use crate::store::Connection;
use crate::{on_connection, on_pool};
use accepting::Proof;

/// How long an invitation is good, in milliseconds.
pub const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// The most open invitations of an org.
pub const MOST_OPEN: i64 = 100;
/// The most invitations an org makes in a day.
pub const MOST_A_DAY: i64 = 100;
/// The characters of a code.
pub const CODE_LENGTH: usize = 27;

/// What became of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits to be accepted.
    Open,
    /// Somebody joined with it.
    Accepted,
    /// It was taken back, or a newer one to the same address stands in its place.
    Revoked,
    /// Its seven days are over.
    Expired,
}

impl Status {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}

/// An invitation; its code is kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// The org.
    pub org: String,
    /// `inv_…`.
    pub id: String,
    /// Whom it is for, in lower case.
    pub email: String,
    /// The role it gives.
    pub role: Role,
    /// Where the role counts.
    pub playbooks: Playbooks,
    /// What became of it, as of the moment it was read.
    pub status: Status,
    /// In milliseconds since the epoch.
    pub created_at_ms: i64,
    /// The caller id of who invites.
    pub created_by: String,
    /// No good from then on, in milliseconds since the epoch.
    pub expires_at_ms: i64,
    /// Whether a mail to the address carried its code, and nothing else did.
    pub mailed: bool,
}

impl Invitation {
    /// Whether having the code proves the address: where this server sends no mail; where a mail carried it; and where the
    /// operator gave it away, who answers for it.
    pub fn proves_address(&self, proof: Proof) -> bool {
        proof == Proof::Code || self.mailed || self.created_by == Actor::operator().id
    }
}

#[derive(sqlx::FromRow)]
struct Stored {
    org: String,
    id: String,
    email: String,
    role: String,
    playbooks: String,
    status: String,
    created_at: i64,
    created_by: String,
    expires_at: i64,
    mailed: bool,
}

impl Stored {
    fn at(self, now_ms: i64) -> Result<Invitation> {
        let role = Role::of(&self.role).ok_or_else(|| Problem::internal("an invitation of an unknown role"))?;
        let status = match self.status.as_str() {
            "open" if self.expires_at > now_ms => Status::Open,
            "open" | "expired" => Status::Expired,
            "accepted" => Status::Accepted,
            _ => Status::Revoked,
        };
        Ok(Invitation {
            org: self.org,
            id: self.id,
            email: self.email,
            role,
            playbooks: members::playbooks(&self.playbooks)?,
            status,
            created_at_ms: self.created_at,
            created_by: self.created_by,
            expires_at_ms: self.expires_at,
            mailed: self.mailed,
        })
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT org, id, email, role, playbooks, status, created_at, created_by, expires_at, mailed FROM invitations ",
            $rest
        )
    };
}

const ONE: &str = select!("WHERE org = $1 AND id = $2");
const OPEN_TO: &str = select!("WHERE org = $1 AND email = $2 AND status = 'open'");
const OPEN_TO_ADDRESS: &str =
    select!("WHERE email = $1 AND status = 'open' AND expires_at > $2 ORDER BY created_at, org LIMIT 100");
const OPEN_OF_INVITER: &str =
    select!("WHERE org = $1 AND created_by = $2 AND status = 'open' AND expires_at > $3 ORDER BY created_at, id");
const BY_DIGEST: &str = select!("WHERE digest = $1");
/// The status is that of the moment `$3`.
const PAGE: &str = select!(
    "WHERE org = $1 AND (CAST($2 AS TEXT) IS NULL OR $2 = \
     CASE WHEN status = 'open' AND expires_at <= $3 THEN 'expired' ELSE status END) \
     AND (created_at, id) < ($4, $5) ORDER BY created_at DESC, id DESC LIMIT $6"
);

/// An address as it is shown to somebody it is not: `a•••@acme.test`.
pub fn masked(email: &str) -> String {
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    format!("{}•••@{domain}", local.chars().next().unwrap_or('•'))
}

/// The digest an invitation is found by.
pub(super) fn digest(code: &str) -> String {
    sha256_hex(code)
}

/// Whether `text` can be a code at all.
pub fn is_code(text: &str) -> bool {
    text.len() == CODE_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// An invitation of the org, inside a commit.
pub(super) async fn one(connection: &mut Connection, org: &str, id: &str, now_ms: i64) -> Result<Option<Invitation>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(ONE)
        .bind(org).bind(id).fetch_optional(c).await)?;
    row.map(|row| row.at(now_ms)).transpose()
}

/// Every open invitation to an address, the oldest first, inside a commit.
pub(super) async fn open_to_address(connection: &mut Connection, email: &str, now_ms: i64) -> Result<Vec<Invitation>> {
    let rows: Vec<Stored> = on_connection!(connection, c => sqlx::query_as(OPEN_TO_ADDRESS)
        .bind(email).bind(now_ms).fetch_all(c).await)?;
    rows.into_iter().map(|row| row.at(now_ms)).collect()
}

/// Every open invitation that somebody of this caller id made, the oldest first, inside a commit.
async fn open_of_inviter(
    connection: &mut Connection,
    org: &str,
    inviter: &str,
    now_ms: i64,
) -> Result<Vec<Invitation>> {
    let rows: Vec<Stored> = on_connection!(connection, c => sqlx::query_as(OPEN_OF_INVITER)
        .bind(org).bind(inviter).bind(now_ms).fetch_all(c).await)?;
    rows.into_iter().map(|row| row.at(now_ms)).collect()
}

async fn open_to(connection: &mut Connection, org: &str, email: &str, now_ms: i64) -> Result<Option<Invitation>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(OPEN_TO)
        .bind(org).bind(email).fetch_optional(c).await)?;
    row.map(|row| row.at(now_ms)).transpose()
}

impl Identity {
    /// The open invitation of a code, before anybody accepts it: whom it is for, and where to. `None` alike for a code that
    /// is unknown, spent or too old.
    pub async fn invitation_of_code(&self, code: &str) -> Result<Option<Invitation>> {
        if !is_code(code) {
            return Ok(None);
        }
        let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(BY_DIGEST)
            .bind(digest(code)).fetch_optional(pool).await)?;
        let found = row.map(|row| row.at(self.now_ms())).transpose()?;
        Ok(found.filter(|invitation| invitation.status == Status::Open))
    }

    /// At most `limit` invitations of an org after `last` (when it was made, and its id), the newest first.
    pub async fn invitations(
        &self,
        org: &str,
        status: Option<Status>,
        last: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Invitation>> {
        let now = self.now_ms();
        let (before, id) = last.unwrap_or((i64::MAX, String::new()));
        let rows: Vec<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(PAGE)
            .bind(org).bind(status.map(Status::word)).bind(now).bind(before).bind(&id).bind(limit)
            .fetch_all(pool).await)?;
        rows.into_iter().map(|row| row.at(now)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_address_tells_its_first_letter_and_its_domain() {
        assert_eq!(masked("ada@acme.test"), "a•••@acme.test");
        assert_eq!(masked("é@acme.test"), "é•••@acme.test");
    }

    #[test]
    fn a_code_has_its_length_and_alphabet() {
        assert!(is_code(&"a".repeat(27)));
        for bad in ["", &"a".repeat(26), &"a".repeat(28), &"ä".repeat(27), &"-".repeat(27)] {
            assert!(!is_code(bad), "{bad}");
        }
    }
}
