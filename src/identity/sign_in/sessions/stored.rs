//! The rows of sessions: written and ended inside a commit, read beside one.

use super::{IDLE_MS, MOST, Session};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::store::{Connection, Store};
use crate::{on_connection, on_pool};

#[derive(sqlx::FromRow)]
struct Stored {
    digest: String,
    person: String,
    created_at: i64,
    last_seen_at: i64,
    expires_at: i64,
    auth_time: i64,
    auth_methods: String,
    remembered: bool,
    user_agent: String,
    address: String,
    upstream: Option<String>,
    org: Option<String>,
}

impl From<Stored> for Session {
    fn from(row: Stored) -> Self {
        Self {
            digest: row.digest,
            person: row.person,
            created_at_ms: row.created_at,
            last_seen_at_ms: row.last_seen_at,
            expires_at_ms: row.expires_at,
            auth_time_ms: row.auth_time,
            auth_methods: row.auth_methods,
            remembered: row.remembered,
            user_agent: row.user_agent,
            address: row.address,
            upstream: row.upstream,
            org: row.org,
        }
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT digest, person, created_at, last_seen_at, expires_at, auth_time, auth_methods, remembered, \
             user_agent, address, upstream, org FROM sessions WHERE ",
            $rest
        )
    };
}

const ONE: &str = select!("digest = $1 AND last_seen_at > $2 AND expires_at > $3");
const OF_PERSON: &str =
    select!("person = $1 AND last_seen_at > $2 AND expires_at > $3 ORDER BY created_at DESC, digest LIMIT 50");
const INSERT: &str = "INSERT INTO sessions (digest, person, created_at, last_seen_at, expires_at, auth_time, auth_methods, \
     remembered, user_agent, address, upstream, org) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
const CROWDED: &str = "DELETE FROM sessions WHERE person = $1 AND digest NOT IN \
     (SELECT digest FROM sessions WHERE person = $1 ORDER BY created_at DESC, digest LIMIT $2)";
const END: &str = "DELETE FROM sessions WHERE digest = $1 AND person = $2";
const END_ALL: &str = "DELETE FROM sessions WHERE person = $1 AND digest <> $2";
const SEEN: &str = "UPDATE sessions SET last_seen_at = $2 WHERE digest = $1 AND last_seen_at < $2";
const SWEEP: &str = "DELETE FROM sessions WHERE expires_at <= $1 OR last_seen_at <= $2";

/// Writes a new session of `person`, inside a commit, in the place of `before` where it replaces one.
pub async fn open(connection: &mut Connection, id: &str, session: &Session, before: Option<&Session>) -> Result<()> {
    debug_assert_eq!(session.digest, sha256_hex(id));
    if let Some(before) = before {
        end(connection, &before.person, &before.digest).await?;
    }
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&session.digest)
        .bind(&session.person)
        .bind(session.created_at_ms)
        .bind(session.last_seen_at_ms)
        .bind(session.expires_at_ms)
        .bind(session.auth_time_ms)
        .bind(&session.auth_methods)
        .bind(session.remembered)
        .bind(&session.user_agent)
        .bind(&session.address)
        .bind(&session.upstream)
        .bind(&session.org)
        .execute(c)
        .await
        .map(|_| ()))?;
    on_connection!(connection, c => sqlx::query(CROWDED)
        .bind(&session.person).bind(MOST).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Ends one session of a person, inside a commit; whether there was one.
pub async fn end(connection: &mut Connection, person: &str, digest: &str) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(END)
        .bind(digest).bind(person).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}

/// Ends every session of a person but `kept`, inside a commit; how many there were.
pub async fn end_all(connection: &mut Connection, person: &str, kept: Option<&str>) -> Result<u64> {
    let rows = on_connection!(connection, c => sqlx::query(END_ALL)
        .bind(person).bind(kept.unwrap_or_default()).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows)
}

/// Writes down when a session was last used.
pub(super) async fn seen(connection: &mut Connection, digest: &str, now: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(SEEN).bind(digest).bind(now).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Forgets the sessions that have ended by themselves; how many there were.
pub(super) async fn forget_ended(connection: &mut Connection, now: i64) -> Result<u64> {
    let rows = on_connection!(connection, c => sqlx::query(SWEEP)
        .bind(now).bind(now - IDLE_MS).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows)
}

/// The session of a digest, while it lives.
pub(super) async fn one(store: &Store, digest: &str, now: i64) -> Result<Option<Session>> {
    let row: Option<Stored> = on_pool!(store, pool => sqlx::query_as(ONE)
        .bind(digest).bind(now - IDLE_MS).bind(now).fetch_optional(pool).await)?;
    Ok(row.map(Session::from))
}

/// The living sessions of a person, the newest first.
pub(super) async fn of_person(store: &Store, person: &str, now: i64) -> Result<Vec<Session>> {
    let rows: Vec<Stored> = on_pool!(store, pool => sqlx::query_as(OF_PERSON)
        .bind(person).bind(now - IDLE_MS).bind(now).fetch_all(pool).await)?;
    Ok(rows.into_iter().map(Session::from).collect())
}
