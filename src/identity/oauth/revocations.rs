//! The list of what was revoked before its end: grants and single access tokens, by their ids. Each server keeps it in
//! memory and reads it anew every two seconds (`identity.md` 7.5).

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::AuthorizationServer;
use crate::error::Result;
use crate::store::Connection;
use crate::{on_connection, on_pool};

const LIVE: &str = "SELECT id, until FROM oauth_revocations WHERE until > $1";
const INSERT: &str = "INSERT INTO oauth_revocations (org, id, until) VALUES ($1, $2, $3) \
     ON CONFLICT (org, id) DO UPDATE SET until = excluded.until";

/// The list as it was read last: ids and until when each can be on a token that is good otherwise. Clones share it, so
/// that whoever checks tokens asks without a query.
#[derive(Clone, Default)]
pub struct Revocations(Arc<RwLock<HashMap<String, i64>>>);

impl Revocations {
    fn set(&self, list: HashMap<String, i64>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = list;
    }

    /// Adds what this server has just revoked, so that it need not wait for the next reading.
    pub(super) fn add(&self, id: &str, until: i64) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), until);
    }

    /// Whether the grant or token of this id was revoked.
    pub fn has(&self, id: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}

impl AuthorizationServer {
    /// Whether the grant or the token of these ids was revoked, as of the last reading.
    pub fn is_revoked(&self, gid: &str, jti: &str) -> bool {
        self.0.revocations.has(gid) || self.0.revocations.has(jti)
    }

    /// Reads the list anew.
    pub async fn read_revocations(&self) -> Result<()> {
        let now = self.now();
        let rows: Vec<(String, i64)> =
            on_pool!(self.0.ledger.store(), pool => sqlx::query_as(LIVE).bind(now).fetch_all(pool).await)?;
        self.0.revocations.set(rows.into_iter().collect());
        Ok(())
    }
}

/// Puts `id` on the list until `until`, inside a write.
pub(super) async fn revoke(connection: &mut Connection, org: &str, id: &str, until: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT).bind(org).bind(id).bind(until).execute(c).await.map(|_| ()))?;
    Ok(())
}
