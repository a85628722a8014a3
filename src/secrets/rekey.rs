//! Moving what is sealed to the first key, while servers run (`connections.md` 13.2).

use super::{Error, Place, SecretsStore, key_id_of};
use crate::error::Result;
use crate::{on_connection, on_pool};

macro_rules! sealed_in {
    ($table:literal) => {
        Column {
            table: $table,
            page: concat!(
                "SELECT org, record, version, field, sealed FROM ",
                $table,
                " WHERE (org, record, version, field) > ($1, $2, $3, $4) ",
                "ORDER BY org, record, version, field LIMIT 100"
            ),
            rewrap: concat!(
                "UPDATE ",
                $table,
                " SET key_id = $5, sealed = $6 WHERE org = $1 AND record = $2 AND version = $3 AND field = $4 ",
                "AND sealed = $7"
            ),
        }
    };
}

/// Every table with a column `sealed`: a test holds this list against the schema.
pub const SEALED_COLUMNS: [Column; 2] = [sealed_in!("secrets"), sealed_in!("sealed_records")];

/// A table whose rows are sealed, with how they are read and written.
pub struct Column {
    /// Its name.
    pub table: &'static str,
    page: &'static str,
    rewrap: &'static str,
}

/// What a change of keys did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rekeyed {
    /// Records looked at.
    pub seen: u64,
    /// Records that were under another key than the first.
    pub old: u64,
    /// Records moved to the first key.
    pub moved: u64,
    /// Records whose key is not configured: they stay as they are.
    pub unreadable: u64,
}

#[derive(sqlx::FromRow)]
struct Stored {
    org: String,
    record: String,
    version: i64,
    field: String,
    sealed: String,
}

impl SecretsStore {
    /// Moves every sealed record to the first key, online: resumable, and again is the same. `dry_run` only counts.
    pub async fn rekey(&self, dry_run: bool) -> Result<Rekeyed> {
        let mut done = Rekeyed::default();
        for column in &SEALED_COLUMNS {
            self.rekey_column(column, dry_run, &mut done).await?;
        }
        Ok(done)
    }

    async fn rekey_column(&self, column: &Column, dry_run: bool, done: &mut Rekeyed) -> Result<()> {
        let mut last = Stored {
            org: String::new(),
            record: String::new(),
            version: -1,
            field: String::new(),
            sealed: String::new(),
        };
        loop {
            let page: Vec<Stored> = on_pool!(self.store, pool => sqlx::query_as(column.page)
                .bind(&last.org).bind(&last.record).bind(last.version).bind(&last.field).fetch_all(pool).await)?;
            let Some(end) = page.len().checked_sub(1) else { return Ok(()) };
            for (index, row) in page.into_iter().enumerate() {
                done.seen += 1;
                self.rekey_one(column.rewrap, &row, dry_run, done).await?;
                if index == end {
                    last = row;
                }
            }
        }
    }

    async fn rekey_one(&self, rewrap: &'static str, row: &Stored, dry_run: bool, done: &mut Rekeyed) -> Result<()> {
        if key_id_of(&row.sealed) == Some(self.ring.current_key_id()) {
            return Ok(());
        }
        done.old += 1;
        if dry_run {
            return Ok(());
        }
        let place = Place { org: &row.org, record: &row.record, version: row.version, field: &row.field };
        let rewrapped = match self.ring.rewrap(place, &row.sealed) {
            Ok(Some(sealed)) => sealed,
            Ok(None) => return Ok(()),
            Err(Error::NoKey { .. } | Error::Unreadable) => {
                done.unreadable += 1;
                return Ok(());
            }
        };
        let key_id = self.ring.current_key_id().to_owned();
        let (org, record, version) = (row.org.clone(), row.record.clone(), row.version);
        let (field, before) = (row.field.clone(), row.sealed.clone());
        let moved = self
            .store
            .housekeeping(
                &row.org,
                "the same credential under another key is no fact of the business",
                Box::new(move |connection| {
                    Box::pin(async move {
                        let rows = on_connection!(connection, c => sqlx::query(rewrap)
                            .bind(&org).bind(&record).bind(version).bind(&field).bind(&key_id).bind(&rewrapped).bind(&before)
                            .execute(c).await.map(|done| done.rows_affected()))?;
                        Ok(rows)
                    })
                }),
            )
            .await?;
        done.moved += moved;
        Ok(())
    }
}
