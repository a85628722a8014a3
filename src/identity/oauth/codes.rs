//! Authorization codes: made when a person allows, taken once at the token endpoint (`identity.md` 7.2 and 7.4).

use zeroize::Zeroizing;

use super::authorize::Asked;
use super::client::Client;
use super::grants::{self, Because, Grant};
use super::refresh::ends_at;
use super::refusal::{Code as Error, Refusal};
use super::scopes::Scopes;
use super::{AuthorizationServer, actor_of, challenge, families, redirect_uri};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::identity::resource::Resource;
use crate::ledger::Changed;
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// How long a code is good, in milliseconds.
pub const GOOD_MS: i64 = 60 * 1_000;

const INSERT: &str = "INSERT INTO oauth_codes (org, digest, client, redirect_uri, challenge, resources, scopes, person, \
     auth_time, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const ORG: &str = "SELECT org FROM oauth_codes WHERE digest = $1";
const ONE: &str = "SELECT org, client, redirect_uri, challenge, resources, scopes, person, auth_time, expires_at, used_at, \
     grant_id FROM oauth_codes WHERE org = $1 AND digest = $2";
const USE: &str =
    "UPDATE oauth_codes SET used_at = $3, grant_id = $4 WHERE org = $1 AND digest = $2 AND used_at IS NULL";

/// Who allowed what a code stands for.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    pub(super) org: String,
    pub(super) person: String,
    pub(super) scopes: Scopes,
    pub(super) auth_time_ms: i64,
}

/// What a client sends with a code.
pub(super) struct Given {
    pub(super) code: Zeroizing<String>,
    pub(super) redirect_uri: String,
    pub(super) verifier: Zeroizing<String>,
    pub(super) resource: Option<String>,
}

/// A code taken: the grant it led to, and the first refresh token where the client gets those.
pub(super) struct Taken {
    pub(super) grant: Grant,
    pub(super) token: Option<Zeroizing<String>>,
}

/// How taking a code ended, with what is written in any case.
enum Outcome {
    Taken(Box<Taken>),
    Refused(Refusal),
    /// It was taken before; the grant of that time is revoked.
    Replayed(String),
}

#[derive(sqlx::FromRow)]
struct Row {
    org: String,
    client: String,
    redirect_uri: String,
    challenge: String,
    resources: String,
    scopes: String,
    person: String,
    auth_time: i64,
    expires_at: i64,
    used_at: Option<i64>,
    grant_id: Option<String>,
}

/// Keeps a new code, inside the write of the consent.
pub(super) async fn insert(
    connection: &mut Connection,
    code: &str,
    asked: &Asked,
    allowed: &Allowed,
    now: i64,
) -> Result<()> {
    let resources = serde_json::to_string(&asked.resources)?;
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&allowed.org).bind(sha256_hex(code)).bind(&asked.client).bind(&asked.redirect_uri)
        .bind(&asked.challenge).bind(&resources).bind(allowed.scopes.to_string()).bind(&allowed.person)
        .bind(allowed.auth_time_ms).bind(now + GOOD_MS).execute(c).await.map(|_| ()))?;
    Ok(())
}

impl AuthorizationServer {
    /// Takes a code of `client`, once.
    pub(super) async fn take_code(&self, client: &Client, given: Given) -> Result<Taken, Refusal> {
        let digest = sha256_hex(given.code.as_str());
        let org: Option<(String,)> = on_pool!(self.0.ledger.store(), pool => sqlx::query_as(ORG)
            .bind(&digest).fetch_optional(pool).await)
        .map_err(crate::error::Problem::from)?;
        let Some((org,)) = org else { return Err(Refusal::grant()) };
        let (now, until, ids) = (self.now(), self.revoked_until(), self.0.ids.clone());
        let (server, client) = (self.clone(), client.clone());
        let outcome = self
            .0
            .ledger
            .commit(
                &org.clone(),
                Box::new(move |connection| {
                    Box::pin(async move {
                        let row = on_connection!(connection, c => sqlx::query_as::<_, Row>(ONE)
                            .bind(&org).bind(&digest).fetch_optional(c).await)?;
                        let Some(row) = row else { return Ok(Changed::nothing(Outcome::Refused(Refusal::grant()))) };
                        if row.used_at.is_some() {
                            return replayed(connection, &row, now, until).await;
                        }
                        if let Err(refusal) = row.fits(&client, &given, now, server.issuer()) {
                            return Ok(Changed::nothing(Outcome::Refused(refusal)));
                        }
                        if !grants::may_act(connection, &org, &row.person).await? {
                            return Ok(Changed::nothing(Outcome::Refused(Refusal::grant())));
                        }
                        let grant = row.grant(ids.base62("grant_", 22), &client, now, server.access_token_ttl_ms())?;
                        let used = on_connection!(connection, c => sqlx::query(USE)
                            .bind(&org).bind(&digest).bind(now).bind(&grant.id)
                            .execute(c).await.map(|done| done.rows_affected()))?;
                        if used != 1 {
                            return Ok(Changed::nothing(Outcome::Refused(Refusal::grant())));
                        }
                        let events = grants::insert(connection, &grant, until).await?;
                        let token = match client.gets_refresh_tokens() {
                            true => Some(families::begin(connection, &ids, &grant).await?),
                            false => None,
                        };
                        let taken = Taken { grant, token };
                        // That a person allowed it is told already; that the client fetched its tokens adds nothing.
                        Ok(Changed::of(Outcome::Taken(Box::new(taken)), events))
                    })
                }),
            )
            .await?;
        match outcome {
            Outcome::Taken(taken) => Ok(*taken),
            Outcome::Refused(refusal) => Err(refusal),
            Outcome::Replayed(grant) => {
                self.0.revocations.add(&grant, until);
                Err(Refusal::grant())
            }
        }
    }
}

/// A code that comes twice was seen by somebody it was not for (RFC 6749, section 4.1.2).
async fn replayed(connection: &mut Connection, row: &Row, now: i64, until: i64) -> Result<Changed<Outcome>> {
    let id = row.grant_id.clone().unwrap_or_default();
    let Some(grant) = grants::find(connection, &row.org, &id).await? else {
        return Ok(Changed::nothing(Outcome::Refused(Refusal::grant())));
    };
    let actor = actor_of(&row.person, "");
    let event = grants::revoke(connection, &grant, &actor, Because::CodeReused, now, until).await?;
    Ok(Changed::of(Outcome::Replayed(id), event))
}

impl Row {
    /// Whether everything the code is bound to is as it was.
    fn fits(&self, client: &Client, given: &Given, now: i64, public_url: &str) -> Result<(), Refusal> {
        let bound = now < self.expires_at
            && self.client == client.id
            && self.redirect_uri == given.redirect_uri
            && challenge::verifies(&self.challenge, &given.verifier);
        if !bound {
            return Err(Refusal::grant());
        }
        let resources: Vec<String> = serde_json::from_str(&self.resources).map_err(crate::error::Problem::from)?;
        same_resource(given.resource.as_deref(), &resources, public_url)
    }

    fn grant(&self, id: String, client: &Client, now: i64, access_token_ttl_ms: i64) -> Result<Grant> {
        let returns_to = redirect_uri::host(&self.redirect_uri);
        let expires_at = if client.gets_refresh_tokens() { ends_at(now, now) } else { now + access_token_ttl_ms };
        Ok(Grant {
            org: self.org.clone(),
            id,
            person: self.person.clone(),
            client: self.client.clone(),
            client_name: client.name.clone(),
            returns_to: returns_to.or(self.redirect_uri.split(':').next()).unwrap_or_default().to_owned(),
            resources: serde_json::from_str(&self.resources)?,
            scopes: Scopes::known(&self.scopes),
            auth_time: self.auth_time,
            created_at: now,
            last_used_at: now,
            expires_at,
            revoked_at: None,
        })
    }
}

/// A resource named at the token endpoint must be the one that was named before (RFC 8707, `identity.md` 7.4).
pub(super) fn same_resource(named: Option<&str>, before: &[String], public_url: &str) -> Result<(), Refusal> {
    let Some(named) = named else { return Ok(()) };
    let canonical = Resource::named(named, public_url).map(|resource| resource.canonical(public_url));
    match (canonical, before) {
        (Some(now), [then]) if now == *then => Ok(()),
        _ => Err(Refusal::new(Error::InvalidTarget, "resource is not the one of the authorization")),
    }
}
