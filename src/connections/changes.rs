//! What changes a connection: each change is one transaction with exactly one event of the audit (`connections.md` 2.2).

use serde_json::{Value, json};

use super::consent::{self, Consented};
use super::links::{self, Link};
use super::record::{Record, Status, Stored};
use super::standing::VALUE;
use super::{Connections, Draft, rows};
use crate::clock;
use crate::config::{CredentialKind, ServerType};
use crate::error::{Problem, Reason, Result};
use crate::ids::Ids;
use crate::ledger::{Actor, Changed, Event};
use crate::on_connection;
use crate::secrets::{Fields, SecretsStore};
use crate::store::Connection;

/// How long a link lives, in milliseconds.
pub const LINK_MS: i64 = 10 * 60 * 1_000;
/// The most connections of an org that wait for approval.
const MAX_PENDING: i64 = 50;
/// The most connections one person adds in [`ADDS_WITHIN_MS`].
const MAX_ADDS: usize = 20;
const ADDS_WITHIN_MS: i64 = 10 * 60 * 1_000;

const INSERT: &str = "INSERT INTO connections (org, id, name, title, type, provider, entry, placeholders, credential, \
     document, status, credential_version, revision, added_by, added_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', 0, 1, $11, $12)";
const TAKEN: &str = "SELECT status FROM connections WHERE org = $1 AND name = $2 AND status <> 'removed'";
const COUNTS: &str = "SELECT COUNT(*), COALESCE(SUM(CASE WHEN status = 'pending' THEN 1 ELSE 0 END), 0) \
     FROM connections WHERE org = $1 AND status <> 'removed'";
const RECENT: &str = "SELECT added_by FROM connections WHERE org = $1 AND added_at > $2";
const CONNECT: &str = "UPDATE connections SET status = 'connected', connected_by = $3, connected_at = $4, account = $5, \
     credential_version = $6, scopes = $7, expires_at = $8, account_digest = $9, revision = revision + 1 \
     WHERE org = $1 AND id = $2 AND status = 'pending'";
const REMOVE: &str = "UPDATE connections SET status = 'removed', removed_by = $3, removed_at = $4, entry = $5, \
     placeholders = '{}', account = NULL, account_digest = NULL, scopes = NULL, expires_at = NULL, document = NULL, \
     credential_version = 0, revision = revision + 1 \
     WHERE org = $1 AND id = $2 AND status <> 'removed'";
/// What is left of a removed connection's entry.
const EMPTY_ENTRY: &str = r#"{"record_content":true}"#;

/// A connection just added, with the link that approves it: the only time the link is told.
pub struct Added {
    /// The connection.
    pub record: Record,
    /// The link, which is kept nowhere.
    pub link: String,
}

/// What is kept of an approval.
#[derive(Clone, Copy)]
pub enum Kept<'a> {
    /// Nothing: there is no credential, or a variable of the server holds it.
    Nothing,
    /// The value a person gave.
    Value(&'a str),
    /// The tokens a consent brought.
    Tokens(&'a Consented<'a>),
}

/// How a pending connection ends without being approved, or a connected one is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// The person cancelled on the page.
    Cancelled,
    /// Somebody removed it.
    Removed,
    /// Nobody approved it for seven days.
    NeverApproved,
}

impl Connections {
    /// Adds a connection, pending, with its link.
    pub async fn add(
        &self,
        org: &str,
        actor: Actor,
        now_ms: i64,
        ids: &Ids,
        draft: Draft,
        document: Option<String>,
    ) -> Result<Added> {
        let (id, link) = (ids.connection(), ids.link());
        let digest = links::digest(&link);
        let max = i64::from(self.settings.connections.max_per_org);
        let (org_name, id_made, actor_made) = (org.to_owned(), id, actor.clone());
        let record = self
            .ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let (org, id, actor) = (org_name, id_made, actor_made);
                        room(connection, &org, &draft.name, &actor.id, now_ms, max).await?;
                        insert(connection, &org, &id, &actor, now_ms, &draft, document.as_deref()).await?;
                        let link = Link::open(&id, &actor.id, now_ms + LINK_MS);
                        links::insert(connection, &org, &digest, &link).await?;
                        let record =
                            one(connection, &org, &id).await?.ok_or_else(|| Problem::internal("just added"))?;
                        let facts = json!({
                            "provider": record.provider,
                            "type": record.kind,
                            "host": record.host(),
                            "kind": record.credential.as_ref().map(|credential| credential.kind),
                            "link_expires_at": clock::iso(link.expires_at),
                        });
                        let event = event(&id, "connection_added", actor, facts).about(record.name.as_str());
                        Ok(Changed::by(record, event))
                    })
                }),
            )
            .await?;
        Ok(Added { record, link })
    }

    /// Pending becomes connected, once, with what is kept for it. Whoever comes later finds it connected already; the flag
    /// tells who won. A trip to a provider that another took the place of wins nothing.
    pub async fn connect(
        &self,
        org: &str,
        record: &Record,
        actor: Actor,
        now_ms: i64,
        kept: Kept<'_>,
        account: Option<String>,
    ) -> Result<(Record, bool)> {
        let fields = match kept {
            Kept::Nothing => None,
            Kept::Value(value) => Some(Fields::from([(VALUE.to_owned(), zeroize::Zeroizing::new(value.to_owned()))])),
            Kept::Tokens(consented) => Some(consented.tokens.fields()),
        };
        let version = i64::from(fields.is_some());
        let sealed = fields.map(|fields| self.secrets.seal(org, &record.id, version, &fields)).transpose()?;
        let consented = match kept {
            Kept::Tokens(consented) => Some(consented),
            Kept::Nothing | Kept::Value(_) => None,
        };
        let scopes = consented.map(|consented| consented.scopes.clone());
        let ends = consented.and_then(|consented| consented.tokens.grant.expires_at_ms);
        let account_digest = consented.and_then(|consented| consented.account_digest.clone());
        let attempt = consented.and_then(|consented| consented.attempt).cloned();
        let how = match record.credential.as_ref().map(|credential| credential.kind) {
            Some(CredentialKind::Secret) => "secret",
            Some(CredentialKind::Reference) => "reference",
            Some(CredentialKind::ClientCredentials) => "client_credentials",
            Some(CredentialKind::Authorization) => "authorization",
            None => "approved",
        };
        let (org_name, id) = (org.to_owned(), record.id.clone());
        self.ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let by = serde_json::to_string(&actor)?;
                        let stands = match &attempt {
                            Some(attempt) => consent::settle(connection, attempt, now_ms, None).await?,
                            None => true,
                        };
                        let granted = scopes.as_ref().map(serde_json::to_string).transpose()?;
                        let changed = stands
                            && on_connection!(connection, c => sqlx::query(CONNECT)
                                .bind(&org_name).bind(&id).bind(&by).bind(now_ms).bind(&account).bind(version)
                                .bind(&granted).bind(ends).bind(&account_digest)
                                .execute(c).await.map(|done| done.rows_affected()))?
                                == 1;
                        let found = one(connection, &org_name, &id).await?.ok_or_else(links::gone)?;
                        if !changed {
                            return Ok(Changed::nothing((found, false)));
                        }
                        if let Some(sealed) = &sealed {
                            SecretsStore::put(connection, sealed).await?;
                        }
                        links::end(connection, &org_name, &id, "used").await?;
                        let facts = json!({
                            "how": how, "account": account, "version": version,
                            "scopes": scopes.map(|scopes| scopes.granted),
                        });
                        let event = event(&id, "connection_connected", actor, facts).about(found.name.as_str());
                        Ok(Changed::by((found, true), event))
                    })
                }),
            )
            .await
    }

    /// Ends a connection for good and forgets its credential; again is the same. The flag tells whether this did it.
    pub async fn remove(&self, org: &str, id: &str, actor: Actor, now_ms: i64, how: Removal) -> Result<(Record, bool)> {
        let (org_name, id) = (org.to_owned(), id.to_owned());
        self.ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let Some(before) = one(connection, &org_name, &id).await? else { return Err(unknown()) };
                        // A cancel ends only what waits; what was approved meanwhile stays.
                        if before.status == Status::Removed
                            || (how != Removal::Removed && before.status != Status::Pending)
                        {
                            return Ok(Changed::nothing((before, false)));
                        }
                        let by = serde_json::to_string(&actor)?;
                        on_connection!(connection, c => sqlx::query(REMOVE)
                            .bind(&org_name).bind(&id).bind(&by).bind(now_ms).bind(EMPTY_ENTRY)
                            .execute(c).await.map(|_| ()))?;
                        SecretsStore::delete(connection, &org_name, &id).await?;
                        consent::void(connection, &org_name, &id, now_ms).await?;
                        let (kind, state, facts) = match how {
                            Removal::Cancelled => ("connection_cancelled", "cancelled", json!({})),
                            Removal::Removed => ("connection_removed", "removed", json!({})),
                            Removal::NeverApproved => {
                                ("connection_removed", "removed", json!({ "cause": "never_approved" }))
                            }
                        };
                        links::end(connection, &org_name, &id, state).await?;
                        let after = one(connection, &org_name, &id).await?.ok_or_else(unknown)?;
                        let event = event(&id, kind, actor, facts).about(after.name.as_str());
                        Ok(Changed::by((after, true), event))
                    })
                }),
            )
            .await
    }
}

/// Whether `text` has the form of a connection's id.
pub fn is_id(text: &str) -> bool {
    let made = text.strip_prefix("conn_");
    made.is_some_and(|made| made.len() == 22 && made.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The refusal for a connection that does not exist in the org.
pub fn unknown() -> Problem {
    Problem::not_found("There is no such connection. list_connections shows those of the org.")
}

/// An event of the audit about a connection.
pub(super) fn event(id: &str, kind: &'static str, actor: Actor, facts: Value) -> Event {
    Event::audit(format!("connections/{id}"), kind, actor, facts)
}

/// The row of a connection inside a write.
pub(super) async fn one(connection: &mut Connection, org: &str, id: &str) -> Result<Option<Record>> {
    let row = on_connection!(connection, c => sqlx::query_as::<_, Stored>(rows::ONE)
        .bind(org).bind(id).fetch_optional(c).await)?;
    row.map(Record::try_from).transpose()
}

/// Whether there is room for one more: the name, the org's limits, the person's pace.
async fn room(connection: &mut Connection, org: &str, name: &str, person: &str, now_ms: i64, max: i64) -> Result<()> {
    let taken: Option<(String,)> =
        on_connection!(connection, c => sqlx::query_as(TAKEN).bind(org).bind(name).fetch_optional(c).await)?;
    if let Some((status,)) = taken {
        return Err(Problem::conflict(
            "taken",
            format!(
                "A connection of this name is there and {status}. remove_connection frees the name, or choose another."
            ),
        ));
    }
    let (living, pending): (i64, i64) =
        on_connection!(connection, c => sqlx::query_as(COUNTS).bind(org).fetch_one(c).await)?;
    if living >= max {
        return Err(Problem::new(
            Reason::Conflict,
            format!("The org has {max} connections, the most there may be. Remove one first."),
        ));
    }
    if pending >= MAX_PENDING {
        let words = "50 connections of the org wait for approval, the most there may be. Approve or remove some first.";
        return Err(Problem::new(Reason::Conflict, words));
    }
    let recent: Vec<(String,)> = on_connection!(connection, c => sqlx::query_as(RECENT)
        .bind(org).bind(now_ms - ADDS_WITHIN_MS).fetch_all(c).await)?;
    let by_person =
        recent.iter().filter_map(|(by,)| serde_json::from_str::<Actor>(by).ok()).filter(|by| by.id == person);
    if by_person.count() >= MAX_ADDS {
        let words = "20 connections were added in the last ten minutes, the most there may be. Wait a little.";
        return Err(Problem::new(Reason::TooManyRequests, words).retry_after(60));
    }
    Ok(())
}

async fn insert(
    connection: &mut Connection,
    org: &str,
    id: &str,
    actor: &Actor,
    now_ms: i64,
    draft: &Draft,
    document: Option<&str>,
) -> Result<()> {
    let kind = match draft.kind {
        ServerType::Mcp => "mcp",
        ServerType::Openapi => "openapi",
    };
    let entry = serde_json::to_string(&draft.entry)?;
    let placeholders = serde_json::to_string(&draft.placeholders)?;
    let credential = draft.credential.as_ref().map(serde_json::to_string).transpose()?;
    let by = serde_json::to_string(actor)?;
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(org).bind(id).bind(&draft.name).bind(&draft.title).bind(kind).bind(&draft.provider).bind(&entry)
        .bind(&placeholders).bind(&credential).bind(document).bind(&by).bind(now_ms)
        .execute(c).await.map(|_| ()))?;
    Ok(())
}
