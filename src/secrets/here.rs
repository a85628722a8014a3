//! Secrets that live for minutes and must be written with the rows they belong to, such as the verifier of a person's
//! trip to a provider or tokens that the store did not take: sealed in the database, wherever credentials are kept.

use super::{Fields, Sealed, SecretsStore, Trouble};
use crate::error::Result;
use crate::store::Connection;
use crate::{on_connection, on_pool};

const INSERT: &str =
    "INSERT INTO sealed_records (org, record, version, field, key_id, sealed) VALUES ($1, $2, $3, $4, $5, $6)";
const FIELDS: &str = "SELECT field, sealed FROM sealed_records WHERE org = $1 AND record = $2 AND version = $3";
const DELETE: &str = "DELETE FROM sealed_records WHERE org = $1 AND record = $2";
const DELETE_ORG: &str = "DELETE FROM sealed_records WHERE org = $1";

impl SecretsStore {
    /// Seals the fields of `(org, record, version)`, to be written by [`Self::put_here`].
    pub fn seal_here(&self, org: &str, record: &str, version: i64, fields: &Fields) -> Result<Sealed> {
        self.seal_fields(org, record, version, fields)
    }

    /// Writes a sealed record inside a write; a version that is there already is never overwritten.
    pub async fn put_here(connection: &mut Connection, sealed: &Sealed) -> Result<()> {
        for (field, text) in &sealed.fields {
            on_connection!(connection, c => sqlx::query(INSERT)
                .bind(&sealed.org).bind(&sealed.record).bind(sealed.version).bind(field).bind(&sealed.key_id).bind(text)
                .execute(c).await.map(|_| ()))?;
        }
        Ok(())
    }

    /// Opens the fields of a record's version.
    pub async fn get_here(&self, org: &str, record: &str, version: i64) -> Result<Fields, Trouble> {
        let rows: Vec<(String, String)> = on_pool!(self.store, pool => sqlx::query_as(FIELDS)
            .bind(org).bind(record).bind(version).fetch_all(pool).await)
        .map_err(|error| {
            tracing::warn!(%error, "sealed records could not be read");
            Trouble::Unavailable
        })?;
        self.opened(org, record, version, rows)
    }

    /// Forgets every version of a record, inside a write; again is the same.
    pub async fn delete_here(connection: &mut Connection, org: &str, record: &str) -> Result<()> {
        on_connection!(connection, c => sqlx::query(DELETE).bind(org).bind(record).execute(c).await.map(|_| ()))?;
        Ok(())
    }

    /// Forgets every record of an org, inside a write.
    pub async fn delete_org_here(connection: &mut Connection, org: &str) -> Result<()> {
        on_connection!(connection, c => sqlx::query(DELETE_ORG).bind(org).execute(c).await.map(|_| ()))?;
        Ok(())
    }
}
