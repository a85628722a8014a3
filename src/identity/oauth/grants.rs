//! Grants: what a person allowed one client in one org. Each owns a family of refresh tokens; revoking it ends them at
//! once and its access tokens within the reading of [`super::revocations`].

use serde_json::json;

use super::refresh::ends_at;
use super::scopes::Scopes;
use super::{AuthorizationServer, actor_of, revocations};
use crate::error::Result;
use crate::ledger::{Actor, Changed, Event};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// The most grants of a person; at one more, the one used least recently is revoked.
const MOST: i64 = 200;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT org, id, person, client, client_name, returns_to, resources, scopes, auth_time, created_at, ",
            "last_used_at, expires_at, revoked_at FROM oauth_grants WHERE ",
            $rest
        )
    };
}

const ONE: &str = select!("org = $1 AND id = $2");
const LIVE: &str = select!(
    "org = $1 AND revoked_at IS NULL AND expires_at > $2 AND (CAST($3 AS TEXT) IS NULL OR person = $3) \
     AND (created_at < $4 OR (created_at = $4 AND id < $5)) ORDER BY created_at DESC, id DESC LIMIT $6"
);
const OF_PERSON: &str =
    select!("person = $1 AND revoked_at IS NULL AND expires_at > $2 ORDER BY last_used_at DESC, org, id LIMIT 1000");
const OF_PERSON_IN: &str = select!("org = $1 AND person = $2 AND revoked_at IS NULL AND expires_at > $3 ORDER BY id");
const OF_CLIENT: &str = select!("client = $1 AND revoked_at IS NULL AND expires_at > $2 ORDER BY org, id");
const INSERT: &str = "INSERT INTO oauth_grants (org, id, person, client, client_name, returns_to, resources, scopes, \
     auth_time, created_at, last_used_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)";
const USED: &str = "UPDATE oauth_grants SET last_used_at = $3, expires_at = $4 \
     WHERE org = $1 AND id = $2 AND revoked_at IS NULL";
const REVOKE: &str = "UPDATE oauth_grants SET revoked_at = $3 WHERE org = $1 AND id = $2 AND revoked_at IS NULL";
const FORGET_FAMILY: &str = "DELETE FROM oauth_families WHERE org = $1 AND grant_id = $2";
const FORGET_TOKENS: &str = "DELETE FROM oauth_refresh_tokens WHERE org = $1 AND grant_id = $2";
const FORGET_CONSENTS: &str = "DELETE FROM oauth_consents WHERE org = $1 AND person = $2 AND client = $3";
const STANDING: &str = "SELECT COUNT(*) FROM memberships m JOIN people p ON p.id = m.person \
     WHERE m.org = $1 AND m.person = $2 AND p.status = 'active'";
const LAST_ORG: &str =
    "SELECT org FROM oauth_grants WHERE person = $1 AND client = $2 ORDER BY last_used_at DESC LIMIT 1";

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The org it is in.
    pub org: String,
    /// Its id: `grant_` and 22 characters.
    pub id: String,
    /// Who allowed it.
    pub person: String,
    /// The client's id.
    pub client: String,
    /// What the client called itself then.
    pub client_name: String,
    /// The host it returned to, or its scheme.
    pub returns_to: String,
    /// The resources, in canonical form.
    pub resources: Vec<String>,
    /// What it may do.
    pub scopes: Scopes,
    /// When the person had signed in.
    pub auth_time: i64,
    /// When it was given.
    pub created_at: i64,
    /// When it last led to a token.
    pub last_used_at: i64,
    /// When it ends by itself.
    pub expires_at: i64,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct Row {
    org: String,
    id: String,
    person: String,
    client: String,
    client_name: String,
    returns_to: String,
    resources: String,
    scopes: String,
    auth_time: i64,
    created_at: i64,
    last_used_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
}

impl TryFrom<Row> for Grant {
    type Error = crate::error::Problem;

    fn try_from(row: Row) -> Result<Self> {
        Ok(Self {
            org: row.org,
            id: row.id,
            person: row.person,
            client: row.client,
            client_name: row.client_name,
            returns_to: row.returns_to,
            resources: serde_json::from_str(&row.resources)?,
            scopes: Scopes::known(&row.scopes),
            auth_time: row.auth_time,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
        })
    }
}

impl Grant {
    /// Whether it still stands at `now`.
    pub const fn is_live(&self, now: i64) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// Why grants are revoked, as the audit tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Somebody withdrew it.
    Withdrawn,
    /// The client said it needs it no more.
    ClientRevoked,
    /// A refresh token was used too late.
    RefreshReused,
    /// Its code was used twice.
    CodeReused,
    /// The person belongs to the org no more, or their account ended.
    PersonLeft,
    /// The person signed out everywhere.
    SignedOut,
    /// The client was deleted.
    ClientDeleted,
    /// The person has more grants than fit.
    TooMany,
}

impl Because {
    const fn word(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::ClientRevoked => "client_revoked",
            Self::RefreshReused => "refresh_reused",
            Self::CodeReused => "code_reused",
            Self::PersonLeft => "person_left",
            Self::SignedOut => "signed_out",
            Self::ClientDeleted => "client_deleted",
            Self::TooMany => "too_many",
        }
    }
}

impl AuthorizationServer {
    /// A grant of the org, live or not.
    pub async fn grant(&self, org: &str, id: &str) -> Result<Option<Grant>> {
        let row = on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(ONE)
            .bind(org).bind(id).fetch_optional(pool).await)?;
        row.map(Grant::try_from).transpose()
    }

    /// At most `limit` live grants of the org, of one person or of all, newest first, older than `before`.
    pub async fn grants(
        &self,
        org: &str,
        person: Option<&str>,
        before: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Grant>> {
        let (at, id) = before.unwrap_or((i64::MAX, String::new()));
        let rows = on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(LIVE)
            .bind(org).bind(self.now()).bind(person).bind(at).bind(&id).bind(limit).fetch_all(pool).await)?;
        rows.into_iter().map(Grant::try_from).collect()
    }

    /// Every live grant of a person, in any org, the one used last first.
    pub async fn grants_of(&self, person: &str) -> Result<Vec<Grant>> {
        let rows = on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(OF_PERSON)
            .bind(person).bind(self.now()).fetch_all(pool).await)?;
        rows.into_iter().map(Grant::try_from).collect()
    }

    /// The org a person last used this client in.
    pub async fn last_org(&self, person: &str, client: &str) -> Result<Option<String>> {
        let row: Option<(String,)> = on_pool!(self.0.ledger.store(), pool => sqlx::query_as(LAST_ORG)
            .bind(person).bind(client).fetch_optional(pool).await)?;
        Ok(row.map(|(org,)| org))
    }

    /// Revokes a grant; whether it was still live.
    pub async fn revoke_grant(&self, org: &str, id: &str, actor: Actor, because: Because) -> Result<bool> {
        let Some(grant) = self.grant(org, id).await?.filter(|grant| grant.is_live(self.now())) else {
            return Ok(false);
        };
        let revoked = self.revoke_all(org, vec![grant], actor, because).await?;
        Ok(revoked > 0)
    }

    /// Revokes every grant of a person in every org: after a reset with `sign out everywhere`, or at the end of the
    /// account.
    pub async fn revoke_grants_of(&self, person: &str, actor: Actor, because: Because) -> Result<u64> {
        self.revoke_by_org(self.grants_of(person).await?, actor, because).await
    }

    /// Revokes every grant of a client.
    pub async fn revoke_grants_to(&self, client: &str, actor: Actor, because: Because) -> Result<u64> {
        let rows = on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(OF_CLIENT)
            .bind(client).bind(self.now()).fetch_all(pool).await)?;
        let grants = rows.into_iter().map(Grant::try_from).collect::<Result<_>>()?;
        self.revoke_by_org(grants, actor, because).await
    }

    async fn revoke_by_org(&self, mut grants: Vec<Grant>, actor: Actor, because: Because) -> Result<u64> {
        let mut revoked = 0;
        while let Some(org) = grants.first().map(|grant| grant.org.clone()) {
            let (here, elsewhere) = grants.into_iter().partition(|grant| grant.org == org);
            grants = elsewhere;
            revoked += self.revoke_all(&org, here, actor.clone(), because).await?;
        }
        Ok(revoked)
    }

    async fn revoke_all(&self, org: &str, grants: Vec<Grant>, actor: Actor, because: Because) -> Result<u64> {
        let (now, until) = (self.now(), self.revoked_until());
        let ids: Vec<String> = grants.iter().map(|grant| grant.id.clone()).collect();
        let count = self
            .0
            .ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let mut events = Vec::new();
                        for grant in &grants {
                            events.extend(revoke(connection, grant, &actor, because, now, until).await?);
                        }
                        Ok(Changed::of(events.len() as u64, events))
                    })
                }),
            )
            .await?;
        for id in &ids {
            self.0.revocations.add(id, until);
        }
        Ok(count)
    }
}

/// Revokes every grant of a person in an org, inside a write that ends the membership; the events to commit with it.
/// `until` is when the last access token issued by then has ended.
pub async fn revoke_grants_in(
    connection: &mut Connection,
    org: &str,
    person: &str,
    actor: &Actor,
    now: i64,
    until: i64,
) -> Result<Vec<Event>> {
    let rows = on_connection!(connection, c => sqlx::query_as::<_, Row>(OF_PERSON_IN)
        .bind(org).bind(person).bind(now).fetch_all(c).await)?;
    let mut events = Vec::new();
    for row in rows {
        events.extend(revoke(connection, &Grant::try_from(row)?, actor, Because::PersonLeft, now, until).await?);
    }
    Ok(events)
}

/// Whether a person can still act in an org, inside a write: an account that was stopped gets no token, and its grants
/// stand until it is let in again (`identity.md` 1.4).
pub(super) async fn may_act(connection: &mut Connection, org: &str, person: &str) -> Result<bool> {
    let (count,): (i64,) = on_connection!(connection, c => sqlx::query_as(STANDING)
        .bind(org).bind(person).fetch_one(c).await)?;
    Ok(count == 1)
}

/// A grant, read inside a write.
pub(super) async fn find(connection: &mut Connection, org: &str, id: &str) -> Result<Option<Grant>> {
    let row = on_connection!(connection, c => sqlx::query_as::<_, Row>(ONE)
        .bind(org).bind(id).fetch_optional(c).await)?;
    row.map(Grant::try_from).transpose()
}

/// Revokes one grant inside a write: its tokens are put on the list, its refresh tokens and what was remembered of the
/// consent are forgotten. Nothing where it was revoked already.
pub(super) async fn revoke(
    connection: &mut Connection,
    grant: &Grant,
    actor: &Actor,
    because: Because,
    now: i64,
    until: i64,
) -> Result<Option<Event>> {
    let changed = on_connection!(connection, c => sqlx::query(REVOKE)
        .bind(&grant.org).bind(&grant.id).bind(now).execute(c).await.map(|done| done.rows_affected()))?;
    if changed == 0 {
        return Ok(None);
    }
    for forget in [FORGET_FAMILY, FORGET_TOKENS] {
        on_connection!(connection, c => sqlx::query(forget)
            .bind(&grant.org).bind(&grant.id).execute(c).await.map(|_| ()))?;
    }
    on_connection!(connection, c => sqlx::query(FORGET_CONSENTS)
        .bind(&grant.org).bind(&grant.person).bind(&grant.client).execute(c).await.map(|_| ()))?;
    revocations::revoke(connection, &grant.org, &grant.id, until).await?;
    let (kind, facts) = match because {
        Because::RefreshReused => ("refresh_reuse", facts(grant)),
        Because::CodeReused => ("code_reuse", facts(grant)),
        other => {
            let mut facts = facts(grant);
            facts["because"] = other.word().into();
            ("grant_revoked", facts)
        }
    };
    Ok(Some(Event::audit(format!("grants/{}", grant.id), kind, actor.clone(), facts)))
}

fn facts(grant: &Grant) -> serde_json::Value {
    json!({ "person": grant.person, "client_id": grant.client, "client_name": grant.client_name })
}

/// Keeps a new grant, inside a write; revokes the person's least recently used one of this org where they have too many.
pub(super) async fn insert(connection: &mut Connection, grant: &Grant, until: i64) -> Result<Vec<Event>> {
    let resources = serde_json::to_string(&grant.resources)?;
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&grant.org).bind(&grant.id).bind(&grant.person).bind(&grant.client).bind(&grant.client_name)
        .bind(&grant.returns_to).bind(&resources).bind(grant.scopes.to_string()).bind(grant.auth_time)
        .bind(grant.created_at).bind(grant.expires_at).execute(c).await.map(|_| ()))?;
    let rows = on_connection!(connection, c => sqlx::query_as::<_, Row>(OF_PERSON)
        .bind(&grant.person).bind(grant.created_at).fetch_all(c).await)?;
    let mut events = Vec::new();
    let over = usize::try_from(rows.len() as i64 - MOST).unwrap_or(0);
    for row in rows.into_iter().rev().filter(|row| row.org == grant.org && row.id != grant.id).take(over) {
        let oldest = Grant::try_from(row)?;
        let actor = actor_of(&grant.person, "");
        events.extend(revoke(connection, &oldest, &actor, Because::TooMany, grant.created_at, until).await?);
    }
    Ok(events)
}

/// Notes a use at `now`, inside a write: the grant lives on.
pub(super) async fn used(connection: &mut Connection, grant: &Grant, now: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(USED)
        .bind(&grant.org).bind(&grant.id).bind(now).bind(ends_at(grant.created_at, now)).execute(c).await.map(|_| ()))?;
    Ok(())
}
