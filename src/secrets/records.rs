//! Sealed records in the database: the local secrets store (`connections.md` 13.1, decision D6).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zeroize::Zeroizing;

use super::{Derived, KeyRing, Misconfigured, Place, key_file};
use crate::config::{DatabaseKind, Settings};
use crate::error::{Problem, Result};
use crate::ids::Ids;
use crate::store::{Connection, Store};
use crate::{on_connection, on_pool};

const CANARY: (&str, &str) = ("", "canary");
const INSERT: &str =
    "INSERT INTO secrets (org, record, version, field, key_id, sealed) VALUES ($1, $2, $3, $4, $5, $6)";
const INSERT_ONCE: &str = "INSERT INTO secrets (org, record, version, field, key_id, sealed) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org, record, version, field) DO NOTHING";
const FIELDS: &str = "SELECT field, sealed FROM secrets WHERE org = $1 AND record = $2 AND version = $3";
const DELETE: &str = "DELETE FROM secrets WHERE org = $1 AND record = $2";
const DELETE_BEFORE: &str = "DELETE FROM secrets WHERE org = $1 AND record = $2 AND version < $3";
const DELETE_ORG: &str = "DELETE FROM secrets WHERE org = $1";
/// The fields of a credential, such as `value`; wiped when dropped, never printed.
pub type Fields = BTreeMap<String, Zeroizing<String>>;

/// Why a record could not be read.
#[derive(Debug)]
pub enum Trouble {
    /// It is not there (any more).
    Gone,
    /// It is there and does not open with the keys at hand.
    Unreadable,
    /// The store does not answer just now.
    Unavailable,
}

/// The local secrets store. Cheap to clone.
#[derive(Clone)]
pub struct SecretsStore {
    pub(super) ring: Arc<KeyRing>,
    pub(super) store: Store,
}

impl SecretsStore {
    /// Opens the store with the keys of the settings, or with its key file beside a SQLite database, and checks the canary.
    pub async fn open(settings: &Settings, store: Store, ids: Ids) -> Result<Self, String> {
        let ring = ring(settings, ids).map_err(|error| error.to_string())?;
        let secrets = Self { ring: Arc::new(ring), store };
        let sealed = secrets.ring.seal_canary().map_err(|error| error.to_string())?;
        let key_id = secrets.ring.current_key_id().to_owned();
        secrets
            .store
            .housekeeping(
                CANARY.0,
                "the canary belongs to no org and tells nobody anything",
                Box::new(move |connection| {
                    Box::pin(async move {
                        on_connection!(connection, c => sqlx::query(INSERT_ONCE)
                            .bind(CANARY.0).bind(CANARY.1).bind(1_i64).bind(CANARY.1).bind(&key_id).bind(&sealed)
                            .execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                }),
            )
            .await
            .map_err(|error| error.to_string())?;
        let sealed = secrets.canary().await.map_err(|error| error.to_string())?;
        secrets.ring.check_canary(&sealed).map_err(|error| error.to_string())?;
        Ok(secrets)
    }

    async fn canary(&self) -> Result<String> {
        let row: Option<(String, String)> = on_pool!(self.store, pool => sqlx::query_as(FIELDS)
            .bind(CANARY.0).bind(CANARY.1).bind(1_i64).fetch_optional(pool).await)?;
        row.map(|(_, sealed)| sealed).ok_or_else(|| Problem::internal("the secrets' canary is gone"))
    }

    /// The id of the key that seals.
    pub fn current_key_id(&self) -> &str {
        self.ring.current_key_id()
    }

    /// Whether the canary opens.
    pub async fn check_canary(&self) -> Result<()> {
        let sealed = self.canary().await?;
        self.ring.check_canary(&sealed).map_err(|error| Problem::internal(error.to_string()))
    }

    /// A key of another purpose, the same on every server that has the same keys.
    pub fn derive(&self, label: &str) -> Result<Derived> {
        self.ring.derive(label).map_err(Problem::internal)
    }

    /// The keys of a purpose from every key there is, the current one first: what was made before a change of keys is
    /// still recognised.
    pub fn derive_all(&self, label: &str) -> Result<Vec<Derived>> {
        self.ring.derive_all(label).map_err(Problem::internal)
    }

    /// Seals the fields of `(org, record, version)`, to be written by [`Self::put`].
    pub fn seal(&self, org: &str, record: &str, version: i64, fields: &Fields) -> Result<Sealed> {
        self.seal_fields(org, record, version, fields)
    }

    /// The fields sealed for their places.
    pub(super) fn seal_fields(&self, org: &str, record: &str, version: i64, fields: &Fields) -> Result<Sealed> {
        let sealed = fields.iter().map(|(field, value)| {
            let place = Place { org, record, version, field };
            Ok((field.clone(), self.ring.seal(place, value.as_bytes()).map_err(Problem::internal)?))
        });
        Ok(Sealed {
            org: org.to_owned(),
            record: record.to_owned(),
            version,
            key_id: self.ring.current_key_id().to_owned(),
            fields: sealed.collect::<Result<_>>()?,
        })
    }

    /// Writes a sealed record inside a write; a version that is there already is never overwritten.
    pub async fn put(connection: &mut Connection, sealed: &Sealed) -> Result<()> {
        for (field, text) in &sealed.fields {
            on_connection!(connection, c => sqlx::query(INSERT)
                .bind(&sealed.org).bind(&sealed.record).bind(sealed.version).bind(field).bind(&sealed.key_id).bind(text)
                .execute(c).await.map(|_| ()))?;
        }
        Ok(())
    }

    /// Opens the fields of a record's version.
    pub async fn get(&self, org: &str, record: &str, version: i64) -> Result<Fields, Trouble> {
        let rows: Vec<(String, String)> = on_pool!(self.store, pool => sqlx::query_as(FIELDS)
            .bind(org).bind(record).bind(version).fetch_all(pool).await)
        .map_err(|error| {
            tracing::warn!(%error, "the secrets store did not answer");
            Trouble::Unavailable
        })?;
        self.opened(org, record, version, rows)
    }

    /// The fields of sealed rows, by their names.
    pub(super) fn opened(
        &self,
        org: &str,
        record: &str,
        version: i64,
        rows: Vec<(String, String)>,
    ) -> Result<Fields, Trouble> {
        if rows.is_empty() {
            return Err(Trouble::Gone);
        }
        let mut fields = Fields::new();
        for (field, sealed) in rows {
            let place = Place { org, record, version, field: &field };
            let opened = self.ring.open(place, &sealed).map_err(|error| {
                tracing::error!(%error, org.id = org, record, "a credential does not open");
                Trouble::Unreadable
            })?;
            let text = std::str::from_utf8(&opened).map_err(|_| Trouble::Unreadable)?;
            fields.insert(field, Zeroizing::new(text.to_owned()));
        }
        Ok(fields)
    }

    /// Forgets every version of a record, inside a write; again is the same.
    pub async fn delete(connection: &mut Connection, org: &str, record: &str) -> Result<()> {
        on_connection!(connection, c => sqlx::query(DELETE).bind(org).bind(record).execute(c).await.map(|_| ()))?;
        Ok(())
    }

    /// Forgets the versions of a record before `version`, inside a write.
    pub async fn delete_before(connection: &mut Connection, org: &str, record: &str, version: i64) -> Result<()> {
        on_connection!(connection, c => sqlx::query(DELETE_BEFORE)
            .bind(org).bind(record).bind(version).execute(c).await.map(|_| ()))?;
        Ok(())
    }

    /// Forgets every record of an org inside a write; the server's own, of the org "", stay whatever is asked.
    pub async fn delete_org(connection: &mut Connection, org: &str) -> Result<()> {
        if org == CANARY.0 {
            return Err(Problem::internal("the server's own secrets are no org's"));
        }
        on_connection!(connection, c => sqlx::query(DELETE_ORG).bind(org).execute(c).await.map(|_| ()))?;
        Ok(())
    }
}

/// A record about to be written, sealed already.
pub struct Sealed {
    pub(super) org: String,
    pub(super) record: String,
    pub(super) version: i64,
    pub(super) key_id: String,
    pub(super) fields: BTreeMap<String, String>,
}

fn ring(settings: &Settings, ids: Ids) -> Result<KeyRing, Misconfigured> {
    if !settings.secrets.keys.is_empty() {
        let keys = settings.secrets.keys.iter().map(|key| (key.id.clone(), *key.key.expose()));
        return KeyRing::of(keys, ids);
    }
    match settings.database.kind {
        DatabaseKind::Sqlite => key_file::open_or_create(&key_file_of(settings.database.url.expose()), ids),
        DatabaseKind::Postgres => Err(Misconfigured(
            "SECRETS_KEYS is not set: with PostgreSQL the keys that seal credentials must be given, the same to every \
             server, as id:base64 of 32 random bytes."
                .into(),
        )),
    }
}

/// `secrets.key` beside the SQLite file.
fn key_file_of(url: &str) -> PathBuf {
    let file = url.trim_start_matches("sqlite:").trim_start_matches("//");
    let file = file.split('?').next().unwrap_or(file);
    Path::new(file).with_file_name("secrets.key")
}
