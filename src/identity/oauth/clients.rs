//! Finding clients, whichever way they became known, and those the operator or they themselves registered
//! (`identity.md` 7.7).

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::client::{Client, Keys, Method, Origin};
use super::grants::Because;
use super::refusal::{Code, Refusal};
use super::registration::Registration;
use super::{AuthorizationServer, SERVER, document};
use crate::config::Secret;
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::ledger::{Actor, Changed, Event};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// The most clients that registered themselves.
const MOST: i64 = 5_000;
/// How long one just made is never put out for another, in milliseconds.
const SAFE_MS: i64 = 10 * 60 * 1_000;
/// How long one is kept that nobody used.
pub(super) const NEVER_USED_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long one is kept that was used once and has no live grant.
pub(super) const UNUSED_MS: i64 = 90 * 24 * 60 * 60 * 1_000;
/// How exact the time of the last use is.
const USE_EXACT_MS: i64 = 60 * 60 * 1_000;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, origin, redirect_uris, method, secret_sha256, keys, refreshes, created_at, last_used_at ",
            "FROM oauth_clients ",
            $rest
        )
    };
}

const ONE: &str = select!("WHERE id = $1");
const ALL: &str = select!("ORDER BY created_at, id LIMIT 10000");
const INSERT: &str = "INSERT INTO oauth_clients (id, name, origin, redirect_uris, method, secret_sha256, keys, refreshes, \
     created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const COUNT: &str = "SELECT COUNT(*) FROM oauth_clients WHERE origin = 'registered'";
const PUT_OUT: &str = "DELETE FROM oauth_clients WHERE id = (SELECT id FROM oauth_clients \
     WHERE origin = 'registered' AND last_used_at IS NULL AND created_at < $1 ORDER BY created_at, id LIMIT 1)";
const USED: &str = "UPDATE oauth_clients SET last_used_at = $2 \
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)";
const DELETE: &str = "DELETE FROM oauth_clients WHERE id = $1";

/// A client as it is listed.
pub struct Listed {
    /// The client.
    pub client: Client,
    /// When it was made.
    pub created_at: i64,
    /// When somebody last allowed it something, exact to an hour.
    pub last_used_at: Option<i64>,
}

/// A client just made: the only time its secret is told.
pub struct Made {
    /// The client.
    pub client: Client,
    /// Its secret, where it has one.
    pub secret: Option<Secret>,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: String,
    name: String,
    origin: String,
    redirect_uris: String,
    method: String,
    secret_sha256: Option<String>,
    keys: Option<String>,
    refreshes: bool,
    created_at: i64,
    last_used_at: Option<i64>,
}

impl TryFrom<Row> for Listed {
    type Error = crate::error::Problem;

    fn try_from(row: Row) -> Result<Self> {
        let client = Client {
            id: row.id,
            name: row.name,
            origin: if row.origin == "operator" { Origin::Operator } else { Origin::Registered },
            redirect_uris: serde_json::from_str(&row.redirect_uris)?,
            method: Method::of(&row.method).unwrap_or(Method::PrivateKeyJwt),
            secret_sha256: row.secret_sha256,
            keys: row.keys.map(|text| serde_json::from_str(&text)).transpose()?.map_or(Keys::None, Keys::Here),
            refreshes: row.refreshes,
        };
        Ok(Self { client, created_at: row.created_at, last_used_at: row.last_used_at })
    }
}

impl AuthorizationServer {
    /// The client of an id; `None` alike for an unknown one and for a document that is not good.
    pub async fn client(&self, id: &str) -> Result<Option<Client>> {
        if let Some(configured) = self.0.configured.iter().find(|client| client.id == id) {
            return Ok(Some(configured.clone()));
        }
        if let Some(address) = document::address(id) {
            return Ok(self.document(id, address).await);
        }
        let row = on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(ONE)
            .bind(id).fetch_optional(pool).await)?;
        Ok(row.map(Listed::try_from).transpose()?.map(|listed| listed.client))
    }

    /// Every client that was made by command or by itself, the oldest first.
    pub async fn clients(&self) -> Result<Vec<Listed>> {
        let rows = on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(ALL).fetch_all(pool).await)?;
        rows.into_iter().map(Listed::try_from).collect()
    }

    /// Makes a client that registers itself.
    ///
    /// # Errors
    ///
    /// As [`Self::make_client`].
    pub async fn register_client(&self, registration: &Registration) -> Result<Made, Refusal> {
        // Nobody is known to do it, but where the request came from is.
        let nobody = Actor { origin: None, ..Actor::system() };
        self.make_client(registration, Origin::Registered, nobody).await
    }

    /// Makes a client: one of the operator's, or one that registers itself.
    ///
    /// # Errors
    ///
    /// `temporarily_unavailable` where there are 5,000 that registered themselves and none can be put out.
    pub async fn make_client(
        &self,
        registration: &Registration,
        origin: Origin,
        actor: Actor,
    ) -> Result<Made, Refusal> {
        let secret = registration.method.has_secret().then(|| Secret::new(self.0.ids.base62("pms_", 43)));
        let client = Client {
            id: self.0.ids.base62("client_", 22),
            name: registration.name.clone().unwrap_or_default(),
            origin,
            redirect_uris: registration.redirect_uris.clone(),
            method: registration.method,
            secret_sha256: secret.as_ref().map(|secret| sha256_hex(secret.expose())),
            keys: registration.keys.clone().map_or(Keys::None, Keys::Here),
            refreshes: registration.grant_types.contains(&"refresh_token"),
        };
        let facts = json!({
            "name": client.name,
            "redirect_uris": client.redirect_uris,
            "method": client.method.word(),
            "by": if origin == Origin::Operator { "operator" } else { "registration" },
        });
        let event = Event::audit(format!("clients/{}", client.id), "client_registered", actor, facts);
        let (kept, now) = (client.clone(), self.now());
        let room = self
            .0
            .ledger
            .commit(
                SERVER,
                Box::new(move |connection| {
                    Box::pin(async move {
                        if origin == Origin::Registered && !has_room(connection, now).await? {
                            return Ok(Changed::nothing(false));
                        }
                        insert(connection, &kept, now).await?;
                        Ok(Changed::by(true, event))
                    })
                }),
            )
            .await?;
        if !room {
            let words = "There is no room for another client just now; use a client id metadata document";
            return Err(Refusal::new(Code::TemporarilyUnavailable, words));
        }
        Ok(Made { client, secret })
    }

    /// Deletes a client and revokes every grant to it; whether there was one.
    pub async fn delete_client(&self, id: &str, actor: Actor) -> Result<bool> {
        self.revoke_grants_to(id, actor, Because::ClientDeleted).await?;
        let id = id.to_owned();
        let why = "its grants are revoked with an event each; the client itself is no fact of any org";
        self.0
            .ledger
            .store()
            .housekeeping(
                SERVER,
                why,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let deleted = on_connection!(connection, c => sqlx::query(DELETE)
                            .bind(&id).execute(c).await.map(|done| done.rows_affected()))?;
                        Ok(deleted == 1)
                    })
                }),
            )
            .await
    }
}

impl Made {
    /// The answer of a registration (RFC 7591, section 3.2.1); the secret stands in it, so it is wiped when dropped.
    pub fn answer(&self, registration: &Registration, now_ms: i64) -> Result<Zeroizing<String>> {
        let mut answer = Map::from_iter([
            ("client_id".to_owned(), Value::from(self.client.id.as_str())),
            ("client_id_issued_at".to_owned(), Value::from(now_ms / 1_000)),
        ]);
        if let Some(secret) = &self.secret {
            answer.insert("client_secret".into(), secret.expose().into());
            answer.insert("client_secret_expires_at".into(), 0.into());
        }
        answer.extend(registration.answer());
        Ok(Zeroizing::new(serde_json::to_string(&answer)?))
    }
}

/// Makes room where there is none, by the oldest that nobody ever used; one just made is safe (security case 42).
async fn has_room(connection: &mut Connection, now: i64) -> Result<bool> {
    let (count,): (i64,) = on_connection!(connection, c => sqlx::query_as(COUNT).fetch_one(c).await)?;
    if count < MOST {
        return Ok(true);
    }
    let out = on_connection!(connection, c => sqlx::query(PUT_OUT)
        .bind(now - SAFE_MS).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(out == 1)
}

async fn insert(connection: &mut Connection, client: &Client, now: i64) -> Result<()> {
    let origin = if client.origin == Origin::Operator { "operator" } else { "registered" };
    let keys = match &client.keys {
        Keys::Here(set) => Some(set.to_string()),
        Keys::None | Keys::At(_) => None,
    };
    let redirect_uris = serde_json::to_string(&client.redirect_uris)?;
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&client.id).bind(&client.name).bind(origin).bind(&redirect_uris).bind(client.method.word())
        .bind(&client.secret_sha256).bind(&keys).bind(client.refreshes).bind(now).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Notes that somebody allowed a client something, inside that write.
pub(super) async fn used(connection: &mut Connection, id: &str, now: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(USED)
        .bind(id).bind(now).bind(now - USE_EXACT_MS).execute(c).await.map(|_| ()))?;
    Ok(())
}
