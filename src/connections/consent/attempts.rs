//! The rows of attempts: found by the digest of their state, taken once, ended once.

use serde::Deserialize;
use zeroize::Zeroizing;

use super::super::{Connections, Found};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::on_pool;
use crate::secrets::{Fields, SecretsStore, Trouble};
use crate::store::Connection;
use crate::{on_connection, store};

macro_rules! columns {
    () => {
        "org, digest, link, connection, person, browser, issuer, client, token_url, redirect, requested, found, \
         started_at, expires_at, taken_at, ended_at, missing"
    };
}

const INSERT: &str = concat!(
    "INSERT INTO connection_attempts (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, NULL, NULL, NULL)"
);
const WAY_BACK: &str = "SELECT org FROM connection_attempts WHERE digest = $1";
const FIND: &str = concat!("SELECT ", columns!(), " FROM connection_attempts WHERE org = $1 AND digest = $2");
const LAST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM connection_attempts WHERE org = $1 AND link = $2 ORDER BY started_at DESC, digest LIMIT 1"
);
const STARTS: &str = "SELECT COUNT(*) FROM connection_attempts WHERE org = $1 AND link = $2";
const TAKE: &str = "UPDATE connection_attempts SET taken_at = $3 WHERE org = $1 AND digest = $2 AND taken_at IS NULL \
     AND ended_at IS NULL";
const SETTLE: &str = "UPDATE connection_attempts SET ended_at = $3, missing = $4 WHERE org = $1 AND digest = $2 \
     AND ended_at IS NULL";
const OPEN: &str = "SELECT digest FROM connection_attempts WHERE org = $1 AND connection = $2 AND ended_at IS NULL";
const VOID: &str =
    "UPDATE connection_attempts SET ended_at = $3 WHERE org = $1 AND connection = $2 AND ended_at IS NULL";
/// Forgets an org's attempts; what is sealed of them goes with the org's credentials.
pub(in crate::connections) const FORGET_ORG: &str = "DELETE FROM connection_attempts WHERE org = $1";
const OVER: &str = "SELECT org, digest FROM connection_attempts WHERE expires_at <= $1 ORDER BY expires_at LIMIT 100";
const FORGET: &str = "DELETE FROM connection_attempts WHERE org = $1 AND digest = $2";

const VERIFIER: &str = "verifier";
const LINK: &str = "link";
/// The version under which what a trip needs is sealed, and that of tokens before they stand.
const TRIP: i64 = 1;
const TOKENS: i64 = 2;

/// A trip to a provider.
#[derive(Debug, Clone, Default, sqlx::FromRow)]
pub struct Attempt {
    pub(super) org: String,
    /// SHA-256 of its state, in hexadecimal.
    pub(super) digest: String,
    /// SHA-256 of the link it began at.
    pub(super) link: String,
    pub(super) connection: String,
    /// The caller id of who left.
    pub(super) person: String,
    /// SHA-256 of what their browser holds.
    pub(super) browser: String,
    pub(super) issuer: Option<String>,
    pub(super) client: String,
    pub(super) token_url: String,
    pub(super) redirect: String,
    /// The scopes asked for, as JSON.
    pub(super) requested: String,
    /// What was found of the issuer through the server, as JSON.
    pub(super) found: Option<String>,
    pub(super) started_at: i64,
    pub(super) expires_at: i64,
    pub(super) taken_at: Option<i64>,
    pub(super) ended_at: Option<i64>,
    pub(super) missing: Option<String>,
}

/// What a trip needs and nobody may read.
pub(super) struct Trip {
    /// The verifier of PKCE (RFC 7636, section 4.1), where the way has it.
    pub(super) verifier: Option<Zeroizing<String>>,
    /// The link the person goes back to.
    pub(super) link: Zeroizing<String>,
}

impl Attempt {
    /// When the person left, in milliseconds since the epoch.
    pub const fn started_at_ms(&self) -> i64 {
        self.started_at
    }

    /// When they must be back.
    pub const fn expires_at_ms(&self) -> i64 {
        self.expires_at
    }

    /// Whether the person may still come back from it, or is just back.
    pub const fn is_under_way(&self, now_ms: i64) -> bool {
        self.ended_at.is_none() && (self.taken_at.is_some() || now_ms < self.expires_at)
    }

    /// Whether it is over, one way or another.
    pub const fn has_ended(&self) -> bool {
        self.ended_at.is_some()
    }

    /// The scopes it was refused for.
    pub fn missing(&self) -> Vec<String> {
        list(self.missing.as_deref())
    }

    pub(super) fn requested(&self) -> Vec<String> {
        list(Some(&self.requested))
    }

    pub(super) fn found(&self) -> Result<Option<Found>> {
        Ok(self.found.as_deref().map(serde_json::from_str).transpose()?)
    }

    /// The sealed record of what its trip needs.
    fn trip(&self) -> String {
        trip_of(&self.digest)
    }
}

fn trip_of(digest: &str) -> String {
    format!("attempt_{digest}")
}

/// The link is kept apart: a person who comes back late still finds the page they left.
fn way_of(digest: &str) -> String {
    format!("attempt_link_{digest}")
}

fn list(text: Option<&str>) -> Vec<String> {
    text.and_then(|text| Vec::deserialize(&mut serde_json::Deserializer::from_str(text)).ok()).unwrap_or_default()
}

/// How often a link was started.
pub(super) async fn starts(connection: &mut Connection, org: &str, link: &str) -> Result<i64> {
    let (count,): (i64,) =
        on_connection!(connection, c => sqlx::query_as(STARTS).bind(org).bind(link).fetch_one(c).await)?;
    Ok(count)
}

/// Keeps an attempt and what its trip needs, inside a write.
pub(super) async fn insert(
    connection: &mut Connection,
    secrets: &SecretsStore,
    new: &Attempt,
    trip: Trip,
) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&new.org).bind(&new.digest).bind(&new.link).bind(&new.connection).bind(&new.person).bind(&new.browser)
        .bind(&new.issuer).bind(&new.client).bind(&new.token_url).bind(&new.redirect).bind(&new.requested)
        .bind(&new.found).bind(new.started_at).bind(new.expires_at)
        .execute(c).await.map(|_| ()))?;
    if let Some(verifier) = trip.verifier {
        let fields = Fields::from([(VERIFIER.to_owned(), verifier)]);
        SecretsStore::put_here(connection, &secrets.seal_here(&new.org, &new.trip(), TRIP, &fields)?).await?;
    }
    let fields = Fields::from([(LINK.to_owned(), trip.link)]);
    SecretsStore::put_here(connection, &secrets.seal_here(&new.org, &way_of(&new.digest), TRIP, &fields)?).await
}

/// Ends an attempt, inside a write, unless another took its place; what was sealed of it is forgotten.
pub(in crate::connections) async fn settle(
    connection: &mut Connection,
    attempt: &Attempt,
    now_ms: i64,
    missing: Option<&str>,
) -> Result<bool> {
    let changed = on_connection!(connection, c => sqlx::query(SETTLE)
        .bind(&attempt.org).bind(&attempt.digest).bind(now_ms).bind(missing)
        .execute(c).await.map(|done| done.rows_affected()))?;
    SecretsStore::delete_here(connection, &attempt.org, &attempt.trip()).await?;
    Ok(changed == 1)
}

/// Ends whatever attempts of a connection are under way, inside a write.
pub(in crate::connections) async fn void(connection: &mut Connection, org: &str, id: &str, now_ms: i64) -> Result<()> {
    let open: Vec<(String,)> =
        on_connection!(connection, c => sqlx::query_as(OPEN).bind(org).bind(id).fetch_all(c).await)?;
    for (digest,) in open {
        SecretsStore::delete_here(connection, org, &trip_of(&digest)).await?;
    }
    on_connection!(connection, c => sqlx::query(VOID).bind(org).bind(id).bind(now_ms).execute(c).await.map(|_| ()))?;
    Ok(())
}

impl Connections {
    /// The org of the attempt of a state: who comes back names none. A state is 256 random bits, so no two are alike.
    pub(super) async fn org_of_state(&self, state: &str) -> Result<Option<String>> {
        let found: Option<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(WAY_BACK)
            .bind(sha256_hex(state)).fetch_optional(pool).await)?;
        Ok(found.map(|(org,)| org))
    }

    /// The attempt of a state, as it stands.
    pub(super) async fn attempt(&self, org: &str, state: &str) -> Result<Option<Attempt>> {
        Ok(on_pool!(self.ledger.store(), pool => sqlx::query_as(FIND)
            .bind(org).bind(sha256_hex(state)).fetch_optional(pool).await)?)
    }

    /// The last attempt of a link.
    pub async fn last_attempt(&self, org: &str, link: &str) -> Result<Option<Attempt>> {
        Ok(on_pool!(self.ledger.store(), pool => sqlx::query_as(LAST)
            .bind(org).bind(super::super::links::digest(link)).fetch_optional(pool).await)?)
    }

    /// Takes an attempt, which one caller alone can.
    pub(super) async fn take(&self, attempt: &Attempt, now_ms: i64) -> Result<bool> {
        let (org, digest) = (attempt.org.clone(), attempt.digest.clone());
        let work: store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                Ok(on_connection!(connection, c => sqlx::query(TAKE)
                    .bind(&org).bind(&digest).bind(now_ms).execute(c).await.map(|done| done.rows_affected()))?)
            })
        });
        let why = "an attempt is told once its end is known";
        Ok(self.ledger.store().housekeeping(&attempt.org, why, work).await? == 1)
    }

    /// The link an attempt began at, while that is remembered.
    pub(super) async fn link_of(&self, attempt: &Attempt) -> Option<Zeroizing<String>> {
        let fields = self.secrets.get_here(&attempt.org, &way_of(&attempt.digest), TRIP).await;
        fields.ok().and_then(|mut fields| fields.remove(LINK))
    }

    /// The verifier of an attempt; none where its way has none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub(super) async fn verifier_of(&self, attempt: &Attempt) -> Result<Option<Zeroizing<String>>, Trouble> {
        match self.secrets.get_here(&attempt.org, &attempt.trip(), TRIP).await {
            Ok(mut fields) => Ok(fields.remove(VERIFIER)),
            Err(Trouble::Gone) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Keeps tokens with their attempt until they stand or are given back.
    pub(super) async fn hold(&self, attempt: &Attempt, fields: &Fields) -> Result<()> {
        let sealed = self.secrets.seal_here(&attempt.org, &attempt.trip(), TOKENS, fields)?;
        let work: store::Work<()> =
            Box::new(move |connection| Box::pin(async move { SecretsStore::put_here(connection, &sealed).await }));
        let why = "tokens that do not stand yet are nothing to tell";
        self.ledger.store().housekeeping(&attempt.org, why, work).await
    }

    /// Forgets attempts that ended before a moment, and what is sealed of them.
    pub(in crate::connections) async fn forget_attempts(&self, before_ms: i64) -> Result<()> {
        loop {
            let over: Vec<(String, String)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(OVER)
                .bind(before_ms).fetch_all(pool).await)?;
            if over.is_empty() {
                return Ok(());
            }
            for (org, digest) in over {
                self.forget_attempt(org, digest).await?;
            }
        }
    }

    async fn forget_attempt(&self, org: String, digest: String) -> Result<()> {
        let of = org.clone();
        let work: store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                SecretsStore::delete_here(connection, &org, &trip_of(&digest)).await?;
                SecretsStore::delete_here(connection, &org, &way_of(&digest)).await?;
                on_connection!(connection, c => sqlx::query(FORGET).bind(&org).bind(&digest).execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.ledger.store().housekeeping(&of, "what became of an attempt stays in the audit", work).await
    }
}
