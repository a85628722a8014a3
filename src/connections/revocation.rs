//! The outbox of grants to be ended at their providers (`connections.md` 12.3): kept with the change that makes them
//! unwanted, tried five times within an hour, then forgotten in any case.

use serde::{Deserialize, Serialize};
use serde_json::json;
use zeroize::Zeroizing;

use super::Connections;
use super::catalogue::{Revoke, RevokeEnds};
use super::changes::event;
use super::oauth::{self, Client, Revocation, Tokens};
use super::record::Record;
use super::source::Source;
use crate::egress::Provenance;
use crate::error::Result;
use crate::ids::Ids;
use crate::ledger::{Actor, Changed, Event};
use crate::secrets::{Fields, Sealed, SecretsStore};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// How long a grant is tried to be ended.
const GIVES_UP_MS: i64 = 60 * 60 * 1_000;
/// How long after each try the next one is.
const WAITS_MS: [i64; 4] = [60_000, 5 * 60_000, 15 * 60_000, 35 * 60_000];
/// How long a try may take before another server may take it over.
const TAKEN_MS: i64 = 60_000;
const REQUEST: &str = "request";

const INSERT: &str = "INSERT INTO connection_revocations (org, id, connection, host, tries, next_attempt_at, gives_up_at) \
     VALUES ($1, $2, $3, $4, 0, $5, $6)";
const DUE: &str = "SELECT org, id, connection, host, tries, gives_up_at FROM connection_revocations \
     WHERE next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT 50";
const TAKE: &str = "UPDATE connection_revocations SET tries = tries + 1, next_attempt_at = $3 \
     WHERE org = $1 AND id = $2 AND tries = $4";
const LATER: &str = "UPDATE connection_revocations SET next_attempt_at = $3 WHERE org = $1 AND id = $2";
const DELETE: &str = "DELETE FROM connection_revocations WHERE org = $1 AND id = $2";
/// Whether another connection of this server stands on the same grant: the one question that is asked across orgs.
const SHARED: &str = "SELECT COUNT(*) FROM connections WHERE account_digest = $1 AND status = 'connected' \
     AND NOT (org = $2 AND id = $3)";

/// What a job sends; sealed with the tokens.
#[derive(Serialize, Deserialize)]
struct Kept {
    url: url::Url,
    learned: bool,
    rules: Revoke,
}

/// A grant that may have to be ended, sealed already.
pub(super) struct Ending {
    org: String,
    connection: String,
    name: String,
    id: String,
    host: String,
    now_ms: i64,
    sealed: Sealed,
    /// What tells the account, where ending one token ends every grant of it.
    account: Option<String>,
}

impl Ending {
    /// Of tokens nobody wants any more; `None` where their provider has no way of ending them.
    pub(super) fn of(
        secrets: &SecretsStore,
        ids: &Ids,
        record: &Record,
        tokens: &Tokens,
        source: &Source,
        now_ms: i64,
    ) -> Result<Option<Self>> {
        let Some((url, rules)) = &source.revocation else { return Ok(None) };
        let kept =
            Kept { url: url.clone(), learned: source.endpoint.provenance == Provenance::Learned, rules: rules.clone() };
        let client = source.endpoint.client.text();
        let id = ids.base62("revocation_", 22);
        let mut fields = tokens.fields();
        fields.insert(REQUEST.to_owned(), Zeroizing::new(serde_json::to_string(&kept)?));
        fields.insert("client".to_owned(), client);
        Ok(Some(Self {
            org: record.org.clone(),
            connection: record.id.clone(),
            name: record.name.clone(),
            host: url.host_str().unwrap_or_default().to_owned(),
            now_ms,
            sealed: secrets.seal_here(&record.org, &id, 1, &fields)?,
            id,
            account: record.account_digest.clone().filter(|_| rules.ends == RevokeEnds::Grant),
        }))
    }
}

/// Leaves a grant to be ended, inside the write that makes it unwanted; what is told of it where nothing is.
pub(super) async fn insert(connection: &mut Connection, ending: Option<Ending>) -> Result<Vec<Event>> {
    let Some(ending) = ending else { return Ok(Vec::new()) };
    if is_shared(connection, &ending).await? {
        let facts = json!({ "endpoint": ending.host, "code": "shared_grant" });
        let skipped = event(&ending.connection, "connection_revoke_skipped", Actor::system(), facts);
        return Ok(vec![skipped.about(ending.name)]);
    }
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&ending.org).bind(&ending.id).bind(&ending.connection).bind(&ending.host)
        .bind(ending.now_ms).bind(ending.now_ms + GIVES_UP_MS)
        .execute(c).await.map(|_| ()))?;
    SecretsStore::put_here(connection, &ending.sealed).await?;
    Ok(Vec::new())
}

async fn is_shared(connection: &mut Connection, ending: &Ending) -> Result<bool> {
    let Some(account) = &ending.account else { return Ok(false) };
    let (others,): (i64,) = on_connection!(connection, c => sqlx::query_as(SHARED)
        .bind(account).bind(&ending.org).bind(&ending.connection).fetch_one(c).await)?;
    Ok(others > 0)
}

/// A job of the outbox.
#[derive(sqlx::FromRow)]
struct Job {
    org: String,
    id: String,
    connection: String,
    host: String,
    tries: i64,
    gives_up_at: i64,
}

impl Connections {
    /// Tries every grant that is due to be ended.
    pub async fn sweep_revocations(&self) -> Result<()> {
        let now = self.database_clock.now_ms().await?;
        let jobs: Vec<Job> =
            on_pool!(self.ledger.store(), pool => sqlx::query_as(DUE).bind(now).fetch_all(pool).await)?;
        for job in jobs {
            if self.take_job(&job, now).await? {
                let ended = self.try_to_end(&job, now).await;
                self.told(job, ended, now).await?;
            }
        }
        Ok(())
    }

    async fn take_job(&self, job: &Job, now_ms: i64) -> Result<bool> {
        let (org, id, tries) = (job.org.clone(), job.id.clone(), job.tries);
        let work: crate::store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                Ok(on_connection!(connection, c => sqlx::query(TAKE)
                    .bind(&org).bind(&id).bind(now_ms + TAKEN_MS).bind(tries)
                    .execute(c).await.map(|done| done.rows_affected()))?)
            })
        });
        let why = "who tries to end a grant is told by how it went";
        Ok(self.ledger.store().housekeeping(&job.org, why, work).await? == 1)
    }

    async fn try_to_end(&self, job: &Job, now_ms: i64) -> std::result::Result<(), String> {
        let unreadable = || "unreadable".to_owned();
        let mut fields = self.secrets.get_here(&job.org, &job.id, 1).await.map_err(|_| unreadable())?;
        let (revocation, tokens) = read(&mut fields, &self.ids).ok_or_else(unreadable)?;
        oauth::revoke(&self.egress, &revocation, &tokens, now_ms).await
    }

    /// Tells how a try went, where it was the last one, and forgets the tokens.
    async fn told(&self, job: Job, ended: std::result::Result<(), String>, now_ms: i64) -> Result<()> {
        let wait = usize::try_from(job.tries).ok().and_then(|tries| WAITS_MS.get(tries));
        let again = wait.map(|wait| now_ms + wait).filter(|next| ended.is_err() && *next < job.gives_up_at);
        let org = job.org.clone();
        self.ledger
            .commit(
                &org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        if let Some(next) = again {
                            on_connection!(connection, c => sqlx::query(LATER)
                                .bind(&job.org).bind(&job.id).bind(next).execute(c).await.map(|_| ()))?;
                            return Ok(Changed::nothing(()));
                        }
                        on_connection!(connection, c => sqlx::query(DELETE)
                            .bind(&job.org).bind(&job.id).execute(c).await.map(|_| ()))?;
                        SecretsStore::delete_here(connection, &job.org, &job.id).await?;
                        let (kind, code) = match ended {
                            Ok(()) => ("connection_revoked", None),
                            Err(code) => ("connection_revoke_failed", Some(code)),
                        };
                        let facts = json!({ "endpoint": job.host, "code": code });
                        let told = event(&job.connection, kind, Actor::system(), facts);
                        let found = super::changes::one(connection, &job.org, &job.connection).await?;
                        Ok(Changed::by(
                            (),
                            match found {
                                Some(record) => told.about(record.name),
                                None => told,
                            },
                        ))
                    })
                }),
            )
            .await
    }

    /// What ends the grant of a connection that is about to go; `None` where there is none, or nobody can end it.
    pub(super) async fn ending(&self, record: &Record, now_ms: i64) -> Result<Option<Ending>> {
        if record.scopes.is_none() && record.renewal.is_none() {
            return Ok(None);
        }
        let Ok(fields) = self.secrets.get(&record.org, &record.id, record.credential_version).await else {
            return Ok(None);
        };
        let Some(tokens) = Tokens::of(fields) else { return Ok(None) };
        // A provider that is no longer set up cannot be asked, which keeps nothing from being removed.
        let kind = super::refresh::kind_of(record);
        let Ok(source) = self.source(record, kind, tokens.grant.found.as_ref()).await else { return Ok(None) };
        Ending::of(&self.secrets, &self.ids, record, &tokens, &source, now_ms)
    }
}

fn read(fields: &mut Fields, ids: &Ids) -> Option<(Revocation, Tokens)> {
    let kept: Kept = serde_json::from_str(fields.remove(REQUEST)?.as_str()).ok()?;
    let client = Client::of_text(fields.remove("client")?.as_str(), ids)?;
    let provenance = if kept.learned { Provenance::Learned } else { Provenance::Person };
    let tokens = Tokens::of(std::mem::take(fields))?;
    Some((Revocation { url: kept.url, provenance, rules: kept.rules, client }, tokens))
}
