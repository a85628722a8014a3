//! The keys of the database: their rows, and what can be told of one.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use serde::Serialize;

use super::usage;
use crate::config::{ApiKey, Permission, Playbooks, UsageLimit, UsagePeriod};
use crate::digest::from_hex;
use crate::error::{Problem, Result};
use crate::identity::{Identity, members};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// Where a key is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It works.
    Active,
    /// It works, and so does its text from before.
    Rotating,
    /// It was ended.
    Revoked,
    /// It has ended.
    Expired,
    /// It works, but its calls of this period are used up.
    Exhausted,
}

impl Status {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Rotating => "rotating",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::Exhausted => "exhausted",
        }
    }
}

/// A key of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The org it acts in.
    pub org: String,
    /// `key_…`, the caller id.
    pub id: String,
    /// 1 to 32 of `a-z 0-9 -`, unique among the org's keys that can be used.
    pub name: String,
    /// The first characters of its text.
    pub display: String,
    /// The SHA-256 of its text.
    pub digest: [u8; 32],
    /// The SHA-256 of its text before the last rotation, and until when that works.
    pub previous: Option<([u8; 32], i64)>,
    /// What it may do, as given.
    pub permissions: Vec<Permission>,
    /// Where.
    pub playbooks: Playbooks,
    /// The person, `user_…`, whose own key it is.
    pub person: Option<String>,
    /// Refused from then on, in milliseconds since the epoch.
    pub expires_at_ms: Option<i64>,
    /// Its allowance.
    pub usage_limit: Option<UsageLimit>,
    /// The count of the period that began at the second, in milliseconds since the epoch.
    pub usage: (i64, i64),
    /// When it was last used, exact to a minute.
    pub last_used_at_ms: Option<i64>,
    /// In milliseconds since the epoch.
    pub created_at_ms: i64,
    /// The caller id of who made it.
    pub created_by: String,
    /// When it was ended.
    pub revoked_at_ms: Option<i64>,
}

impl Key {
    /// Whether it can still be used.
    pub fn is_live(&self, now_ms: i64) -> bool {
        self.revoked_at_ms.is_none() && !self.is_expired(now_ms)
    }

    /// Whether its time is over.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.expires_at_ms.is_some_and(|end| now_ms >= end)
    }

    /// Whether the text of this digest opens it: its own, or within the grace of a rotation the one before.
    pub fn opens(&self, digest: &[u8; 32], now_ms: i64) -> bool {
        let is = |own: &[u8; 32]| verify_slices_are_equal(own, digest).is_ok();
        let before = self.previous.as_ref().is_some_and(|(previous, until)| is(previous) && now_ms < *until);
        self.is_live(now_ms) && (is(&self.digest) || before)
    }

    /// Calls counted in the period of `now_ms`.
    pub fn used(&self, now_ms: i64) -> i64 {
        let period = self.usage_limit.map_or(UsagePeriod::Total, |limit| limit.period);
        if self.usage.1 >= usage::period_from(period, now_ms) { self.usage.0 } else { 0 }
    }

    /// Where it is in its life.
    pub fn status(&self, now_ms: i64) -> Status {
        let used_up = self.usage_limit.is_some_and(|limit| self.used(now_ms) >= i64::from(limit.calls));
        match self.previous {
            _ if self.revoked_at_ms.is_some() => Status::Revoked,
            _ if self.is_expired(now_ms) => Status::Expired,
            _ if used_up => Status::Exhausted,
            Some((_, until)) if now_ms < until => Status::Rotating,
            _ => Status::Active,
        }
    }
}

#[derive(sqlx::FromRow)]
struct Stored {
    org: String,
    id: String,
    name: String,
    display: String,
    digest: String,
    previous_digest: Option<String>,
    previous_until: Option<i64>,
    permissions: String,
    playbooks: String,
    person: Option<String>,
    expires_at: Option<i64>,
    usage_limit: Option<i64>,
    usage_period: Option<String>,
    usage_count: i64,
    usage_from: i64,
    last_used_at: Option<i64>,
    created_at: i64,
    created_by: String,
    revoked_at: Option<i64>,
}

impl TryFrom<Stored> for Key {
    type Error = Problem;

    fn try_from(row: Stored) -> Result<Self> {
        let digest = |text: &str| from_hex(text).ok_or_else(|| Problem::internal("a key of no digest"));
        let previous = match (row.previous_digest, row.previous_until) {
            (Some(text), Some(until)) => Some((digest(&text)?, until)),
            _ => None,
        };
        let period = row.usage_period.as_deref().and_then(UsagePeriod::of).unwrap_or(UsagePeriod::Total);
        let calls = row.usage_limit.and_then(|calls| u32::try_from(calls).ok());
        Ok(Self {
            digest: digest(&row.digest)?,
            previous,
            permissions: row.permissions.split(' ').filter_map(Permission::of).collect(),
            playbooks: members::playbooks(&row.playbooks)?,
            usage_limit: calls.map(|calls| UsageLimit { calls, period }),
            usage: (row.usage_count, row.usage_from),
            org: row.org,
            id: row.id,
            name: row.name,
            display: row.display,
            person: row.person,
            expires_at_ms: row.expires_at,
            last_used_at_ms: row.last_used_at,
            created_at_ms: row.created_at,
            created_by: row.created_by,
            revoked_at_ms: row.revoked_at,
        })
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT org, id, name, display, digest, previous_digest, previous_until, permissions, playbooks, person, ",
            "expires_at, usage_limit, usage_period, usage_count, usage_from, last_used_at, created_at, created_by, ",
            "revoked_at FROM api_keys WHERE ",
            $rest
        )
    };
}

// Two look-ups: for one with OR, PostgreSQL reads a table whole that was small when it planned.
const BY_DIGEST: &str = concat!(select!("digest = $1"), " UNION ALL ", select!("previous_digest = $1"));
const ONE: &str = select!("org = $1 AND id = $2");
const NEWEST: &str = select!("org = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4");
const NEWEST_OF_PERSON: &str =
    select!("org = $1 AND (created_at, id) < ($2, $3) AND person = $5 ORDER BY created_at DESC, id DESC LIMIT $4");
const OF_PERSON: &str = select!("org = $1 AND person = $2 AND revoked_at IS NULL ORDER BY id");
const LIVE: &str = "SELECT name FROM api_keys WHERE org = $1 AND revoked_at IS NULL AND \
     (expires_at IS NULL OR expires_at > $2) AND id <> $3";
const INSERT: &str = "INSERT INTO api_keys (org, id, name, display, digest, permissions, playbooks, person, expires_at, \
     expiry_told, usage_limit, usage_period, usage_count, usage_from, created_at, created_by) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, FALSE, $10, $11, 0, 0, $12, $13)";
const UPDATE: &str = "UPDATE api_keys SET name = $3, display = $4, digest = $5, previous_digest = $6, \
     previous_until = $7, expires_at = $8, usage_limit = $9, usage_period = $10, revoked_at = $11 \
     WHERE org = $1 AND id = $2";

fn written(digest: &[u8; 32]) -> String {
    crate::digest::hex(digest)
}

/// Writes a new key, inside a commit.
pub(super) async fn insert(connection: &mut Connection, key: &Key) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&key.org)
        .bind(&key.id)
        .bind(&key.name)
        .bind(&key.display)
        .bind(written(&key.digest))
        .bind(crate::identity::resource::words(&key.permissions).join(" "))
        .bind(members::playbooks_text(&key.playbooks))
        .bind(&key.person)
        .bind(key.expires_at_ms)
        .bind(key.usage_limit.map(|limit| i64::from(limit.calls)))
        .bind(key.usage_limit.map(|limit| limit.period.word()))
        .bind(key.created_at_ms)
        .bind(&key.created_by)
        .execute(c)
        .await
        .map(|_| ()))?;
    Ok(())
}

/// Writes what can change of a key, inside a commit.
pub(super) async fn update(connection: &mut Connection, key: &Key) -> Result<()> {
    on_connection!(connection, c => sqlx::query(UPDATE)
        .bind(&key.org)
        .bind(&key.id)
        .bind(&key.name)
        .bind(&key.display)
        .bind(written(&key.digest))
        .bind(key.previous.as_ref().map(|(digest, _)| written(digest)))
        .bind(key.previous.as_ref().map(|(_, until)| *until))
        .bind(key.expires_at_ms)
        .bind(key.usage_limit.map(|limit| i64::from(limit.calls)))
        .bind(key.usage_limit.map(|limit| limit.period.word()))
        .bind(key.revoked_at_ms)
        .execute(c)
        .await
        .map(|_| ()))?;
    Ok(())
}

/// A key as it stands, inside a commit.
pub(super) async fn one(connection: &mut Connection, org: &str, id: &str) -> Result<Option<Key>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(ONE)
        .bind(org).bind(id).fetch_optional(c).await)?;
    row.map(Key::try_from).transpose()
}

/// A person's own keys in an org that nobody ended, inside a commit.
pub(super) async fn of_person(connection: &mut Connection, org: &str, person: &str) -> Result<Vec<Key>> {
    let rows: Vec<Stored> = on_connection!(connection, c => sqlx::query_as(OF_PERSON)
        .bind(org).bind(person).fetch_all(c).await)?;
    rows.into_iter().map(Key::try_from).collect()
}

/// The names of the org's keys that can be used, but for the key `beside`, inside a commit.
pub(super) async fn live_names(
    connection: &mut Connection,
    org: &str,
    now_ms: i64,
    beside: &str,
) -> Result<Vec<String>> {
    let rows: Vec<(String,)> = on_connection!(connection, c => sqlx::query_as(LIVE)
        .bind(org).bind(now_ms).bind(beside).fetch_all(c).await)?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

impl Identity {
    /// A key of the database as it stands.
    pub async fn key(&self, org: &str, id: &str) -> Result<Option<Key>> {
        let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ONE)
            .bind(org).bind(id).fetch_optional(pool).await)?;
        row.map(Key::try_from).transpose()
    }

    /// The key of the database whose text, now or before a rotation, has this digest.
    pub(super) async fn key_of_digest(&self, digest: &[u8; 32]) -> Result<Option<Key>> {
        let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(BY_DIGEST)
            .bind(written(digest)).fetch_optional(pool).await)?;
        row.map(Key::try_from).transpose()
    }

    /// A key stands in the configuration or in the database: with one that is in both, the server does not start.
    ///
    /// # Errors
    /// 409 `taken` that names the key of the configuration, never its digest.
    pub async fn check_configured_keys(&self) -> Result<()> {
        for key in self.configured_keys.all() {
            if self.key_of_digest(&key.sha256).await?.is_some() {
                let words = format!(
                    "API_KEYS: the key {} of the org {} is a key of the database too; take it out of one of them",
                    key.id, key.org
                );
                return Err(Problem::conflict("taken", words));
            }
        }
        Ok(())
    }

    /// The keys of the configuration in an org, by id.
    pub fn configured_keys(&self, org: &str) -> impl Iterator<Item = &ApiKey> {
        self.configured_keys.of_org(org)
    }

    /// Keys of the database in an org, newest first, after the one of `before`: everybody's, or a `person`'s own.
    pub async fn keys_after(
        &self,
        org: &str,
        person: Option<&str>,
        before: Option<(i64, String)>,
        most: i64,
    ) -> Result<Vec<Key>> {
        let (at, id) = before.unwrap_or((i64::MAX, String::new()));
        let rows: Vec<Stored> = match person {
            None => on_pool!(self.ledger.store(), pool => sqlx::query_as(NEWEST)
                .bind(org).bind(at).bind(id).bind(most).fetch_all(pool).await)?,
            Some(person) => on_pool!(self.ledger.store(), pool => sqlx::query_as(NEWEST_OF_PERSON)
                .bind(org).bind(at).bind(id).bind(most).bind(person).fetch_all(pool).await)?,
        };
        rows.into_iter().map(Key::try_from).collect()
    }
}
