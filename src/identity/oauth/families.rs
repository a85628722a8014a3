//! The rows of refresh tokens: one row a family with its generation, changed by compare-and-swap, and one row a token.

use zeroize::Zeroizing;

use super::grants::{self, Because, Grant};
use super::refresh::{self, Link, UNUSED_MS, Use};
use super::{AuthorizationServer, actor_of, successor};
use crate::digest::sha256_hex;
use crate::error::{Problem, Result};
use crate::ids::Ids;
use crate::ledger::Changed;
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// What a refresh token begins with.
pub const PREFIX: &str = "pmr_";

const PLACE: &str = "SELECT org, grant_id FROM oauth_refresh_tokens WHERE digest = $1";
const CHAIN: &str = "SELECT generation, issued_at, first_used_at, successor, successor_until FROM oauth_refresh_tokens \
     WHERE org = $1 AND grant_id = $2 AND generation >= \
     (SELECT generation FROM oauth_refresh_tokens WHERE org = $1 AND digest = $3) ORDER BY generation";
const BEGIN: &str = "INSERT INTO oauth_families (org, grant_id, generation) VALUES ($1, $2, 1)";
const ADVANCE: &str = "UPDATE oauth_families SET generation = generation + 1 \
     WHERE org = $1 AND grant_id = $2 AND generation = $3";
const INSERT: &str = "INSERT INTO oauth_refresh_tokens (org, grant_id, generation, digest, issued_at) \
     VALUES ($1, $2, $3, $4, $5)";
const FIRST_USE: &str = "UPDATE oauth_refresh_tokens SET first_used_at = $4, successor = $5, successor_until = $6 \
     WHERE org = $1 AND grant_id = $2 AND generation = $3";
const COPY_UNTIL: &str = "UPDATE oauth_refresh_tokens SET successor_until = $4 \
     WHERE org = $1 AND grant_id = $2 AND generation = $3 AND successor_until >= $5";
/// A token this much older than the present one is told from an unknown one no more: the oldest are forgotten.
const KEPT: i64 = 10_000;
const FORGET_OLD: &str = "DELETE FROM oauth_refresh_tokens WHERE org = $1 AND grant_id = $2 AND generation < $3";

/// What a refresh token leads to.
pub(super) enum Refreshed {
    /// A fresh access token, and the family's current refresh token where the given one still leads to it.
    Good {
        /// The grant.
        grant: Box<Grant>,
        /// The current refresh token.
        token: Option<Zeroizing<String>>,
    },
    /// Nothing: it is unknown, ended, or another client's.
    Bad,
    /// The family has just been ended, since it was used too late.
    Reused {
        /// The grant's id.
        grant: String,
    },
}

#[derive(sqlx::FromRow)]
struct Row {
    generation: i64,
    issued_at: i64,
    first_used_at: Option<i64>,
    successor: Option<String>,
    successor_until: Option<i64>,
}

/// A new refresh token: 256 random bits.
fn new_token(ids: &Ids) -> Zeroizing<String> {
    Zeroizing::new(ids.base62(PREFIX, 43))
}

/// Begins the family of a new grant, inside a write; its first token.
pub(super) async fn begin(connection: &mut Connection, ids: &Ids, grant: &Grant) -> Result<Zeroizing<String>> {
    let token = new_token(ids);
    on_connection!(connection, c => sqlx::query(BEGIN).bind(&grant.org).bind(&grant.id).execute(c).await.map(|_| ()))?;
    insert(connection, grant, 1, &token, grant.created_at).await?;
    Ok(token)
}

async fn insert(connection: &mut Connection, grant: &Grant, generation: i64, token: &str, now: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&grant.org).bind(&grant.id).bind(generation).bind(sha256_hex(token)).bind(now)
        .execute(c).await.map(|_| ()))?;
    Ok(())
}

impl AuthorizationServer {
    /// The org and grant of a refresh token, whoever holds it.
    pub(super) async fn place_of(&self, token: &str) -> Result<Option<(String, String)>> {
        if !token.starts_with(PREFIX) {
            return Ok(None);
        }
        Ok(on_pool!(self.0.ledger.store(), pool => sqlx::query_as(PLACE)
            .bind(sha256_hex(token)).fetch_optional(pool).await)?)
    }

    /// Uses a refresh token of `client`; `fits` refuses a use before it counts as one.
    pub(super) async fn use_refresh_token<E: Send + 'static>(
        &self,
        token: &str,
        client: &str,
        fits: impl FnOnce(&Grant) -> Result<(), E> + Send + 'static,
    ) -> Result<Result<Refreshed, E>> {
        let Some((org, id)) = self.place_of(token).await? else { return Ok(Ok(Refreshed::Bad)) };
        let (now, until, ids) = (self.now(), self.revoked_until(), self.0.ids.clone());
        let (given, client, org_name) = (Zeroizing::new(token.to_owned()), client.to_owned(), org.clone());
        let refreshed = self
            .0
            .ledger
            .commit(
                &org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let grant = grants::find(connection, &org_name, &id).await?;
                        let Some(grant) = grant.filter(|grant| grant.is_live(now) && grant.client == client) else {
                            return Ok(Changed::nothing(Ok(Refreshed::Bad)));
                        };
                        if !grants::may_act(connection, &grant.org, &grant.person).await? {
                            return Ok(Changed::nothing(Ok(Refreshed::Bad)));
                        }
                        if let Err(refused) = fits(&grant) {
                            return Ok(Changed::nothing(Err(refused)));
                        }
                        let rows = on_connection!(connection, c => sqlx::query_as::<_, Row>(CHAIN)
                            .bind(&org_name).bind(&id).bind(sha256_hex(given.as_str())).fetch_all(c).await)?;
                        let links: Vec<Link> = rows.iter().map(Row::link).collect();
                        let token = match refresh::judge(&links, now) {
                            // The family ended between the look-up and this write.
                            _ if links.is_empty() => return Ok(Changed::nothing(Ok(Refreshed::Bad))),
                            Use::Rotate => Some(rotate(connection, &ids, &grant, &rows[0], &given, now).await?),
                            Use::Again { readable: false } => None,
                            Use::Again { readable: true } => follow(&rows, &grant, given)?,
                            Use::Reused => {
                                let actor = actor_of(&grant.person, "");
                                let because = Because::RefreshReused;
                                let event = grants::revoke(connection, &grant, &actor, because, now, until).await?;
                                let value = Ok(Refreshed::Reused { grant: grant.id });
                                return Ok(Changed::of(value, event));
                            }
                        };
                        grants::used(connection, &grant, now).await?;
                        // That a client went on is no event: the grant says when it was last used.
                        Ok(Changed::nothing(Ok(Refreshed::Good { grant: Box::new(grant), token })))
                    })
                }),
            )
            .await?;
        if let Ok(Refreshed::Reused { grant }) = &refreshed {
            self.0.revocations.add(grant, until);
        }
        Ok(refreshed)
    }
}

impl Row {
    const fn link(&self) -> Link {
        Link { issued_at: self.issued_at, first_used_at: self.first_used_at, successor_until: self.successor_until }
    }
}

/// The first use of the current token: the next one, and a copy of it for the holder of this one.
async fn rotate(
    connection: &mut Connection,
    ids: &Ids,
    grant: &Grant,
    row: &Row,
    given: &str,
    now: i64,
) -> Result<Zeroizing<String>> {
    let swapped = on_connection!(connection, c => sqlx::query(ADVANCE)
        .bind(&grant.org).bind(&grant.id).bind(row.generation).execute(c).await.map(|done| done.rows_affected()))?;
    if swapped != 1 {
        return Err(Problem::unavailable("The refresh token is being used just now."));
    }
    let next = new_token(ids);
    let copy = successor::seal(ids, given, &grant.id, &next)?;
    on_connection!(connection, c => sqlx::query(FIRST_USE)
        .bind(&grant.org).bind(&grant.id).bind(row.generation).bind(now).bind(&copy).bind(now + UNUSED_MS)
        .execute(c).await.map(|_| ()))?;
    if let Some(until) = refresh::after_first_use(Some(now), now) {
        on_connection!(connection, c => sqlx::query(COPY_UNTIL)
            .bind(&grant.org).bind(&grant.id).bind(row.generation - 1).bind(until).bind(now)
            .execute(c).await.map(|_| ()))?;
    }
    on_connection!(connection, c => sqlx::query(FORGET_OLD)
        .bind(&grant.org).bind(&grant.id).bind(row.generation - KEPT).execute(c).await.map(|_| ()))?;
    insert(connection, grant, row.generation + 1, &next, now).await?;
    Ok(next)
}

/// From the given token along the copies to the current one.
fn follow(rows: &[Row], grant: &Grant, given: Zeroizing<String>) -> Result<Option<Zeroizing<String>>> {
    let mut token = given;
    for row in &rows[..rows.len() - 1] {
        let Some(copy) = &row.successor else { return Ok(None) };
        let Some(next) = successor::open(&token, &grant.id, copy)? else { return Ok(None) };
        token = next;
    }
    Ok(Some(token))
}
