//! Authorization requests that wait for a person: kept here for a quarter of an hour, found by an id that stands in a
//! cookie and in the form of the consent page, so that no address says where to go next (security case 37).

use std::time::Duration;

use super::authorize::Asked;
use super::{AuthorizationServer, SERVER};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// How long a request waits, in milliseconds.
pub const WAITS_MS: i64 = 15 * 60 * 1_000;
/// The same, for the cookie.
pub const WAITS: Duration = Duration::from_secs(15 * 60);
/// The most that wait at once; at one more, the oldest is forgotten.
const MOST: i64 = 100_000;

const INSERT: &str = "INSERT INTO oauth_requests (digest, asked, expires_at) VALUES ($1, $2, $3)";
const FIND: &str = "SELECT asked FROM oauth_requests WHERE digest = $1 AND expires_at > $2";
const TAKE: &str = "DELETE FROM oauth_requests WHERE digest = $1 AND expires_at > $2";
const CROWD_OUT: &str = "DELETE FROM oauth_requests WHERE digest IN \
     (SELECT digest FROM oauth_requests ORDER BY expires_at DESC LIMIT 1000 OFFSET $1)";

/// A request that waits, under its id.
#[derive(Clone)]
pub struct Waiting {
    /// Its id, which the browser holds.
    pub id: String,
    /// What was asked.
    pub asked: Asked,
}

impl AuthorizationServer {
    /// Keeps a request; its id, 256 random bits, which is kept nowhere.
    pub async fn create_request(&self, asked: Asked) -> Result<Waiting> {
        let id = self.0.ids.base62("req_", 43);
        let (digest, text, now) = (sha256_hex(&id), serde_json::to_string(&asked)?, self.now());
        let why = "what a client asks is told in the audit once a person has answered";
        self.0
            .ledger
            .store()
            .housekeeping(
                SERVER,
                why,
                Box::new(move |connection| {
                    Box::pin(async move {
                        on_connection!(connection, c => sqlx::query(INSERT)
                            .bind(&digest).bind(&text).bind(now + WAITS_MS).execute(c).await.map(|_| ()))?;
                        on_connection!(connection, c => sqlx::query(CROWD_OUT)
                            .bind(MOST).execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                }),
            )
            .await?;
        Ok(Waiting { id, asked })
    }

    /// The request of an id, while it waits.
    pub async fn find_request(&self, id: &str) -> Result<Option<Waiting>> {
        if !id.starts_with("req_") {
            return Ok(None);
        }
        let row: Option<(String,)> = on_pool!(self.0.ledger.store(), pool => sqlx::query_as(FIND)
            .bind(sha256_hex(id)).bind(self.now()).fetch_optional(pool).await)?;
        row.map(|(text,)| Ok(Waiting { id: id.to_owned(), asked: serde_json::from_str(&text)? })).transpose()
    }
}

/// Takes a request away, inside the write that answers it; whether it was still there.
pub(super) async fn finish(connection: &mut Connection, id: &str, now: i64) -> Result<bool> {
    let taken = on_connection!(connection, c => sqlx::query(TAKE)
        .bind(sha256_hex(id)).bind(now).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(taken == 1)
}
