//! Clients that issuers registered for an org: never used with another issuer, another return address or another org.

use zeroize::Zeroizing;

use super::Refused;
use super::registration::Registered;
use crate::connections::Connections;
use crate::connections::catalogue::ClientAuth;
use crate::digest::sha256_hex;
use crate::error::{Problem, Result};
use crate::secrets::{Fields, SecretsStore, Trouble};
use crate::store::Work;
use crate::{on_connection, on_pool};

/// The most registrations an hour with one issuer (`connections.md` 7, step 8).
const MOST_AN_HOUR: i64 = 3;
const HOUR_MS: i64 = 60 * 60 * 1_000;
/// A secret that ends while a person is away is of no use.
const MARGIN_MS: i64 = 15 * 60 * 1_000;

const FIND: &str = "SELECT client, method, expires_at FROM connection_clients \
     WHERE org = $1 AND issuer = $2 AND redirect = $3 AND client IS NOT NULL";
const IN_HOUR: &str = "SELECT CAST(COALESCE(SUM(in_hour), 0) AS BIGINT) FROM connection_clients \
     WHERE org = $1 AND issuer = $2 AND hour_from > $3";
const COUNT: &str = "INSERT INTO connection_clients (org, issuer, redirect, hour_from, in_hour) \
     VALUES ($1, $2, $3, $4, 1) ON CONFLICT (org, issuer, redirect) DO UPDATE SET \
     in_hour = CASE WHEN connection_clients.hour_from > $5 THEN connection_clients.in_hour + 1 ELSE 1 END, \
     hour_from = CASE WHEN connection_clients.hour_from > $5 THEN connection_clients.hour_from ELSE $4 END";
const KEEP: &str = "UPDATE connection_clients SET client = $4, method = $5, expires_at = $6 \
     WHERE org = $1 AND issuer = $2 AND redirect = $3";
const DROP: &str = "UPDATE connection_clients SET client = NULL, method = NULL, expires_at = NULL \
     WHERE org = $1 AND issuer = $2 AND redirect = $3 AND client = $4";
/// Forgets an org's clients; their secrets go with the org's credentials.
pub(in crate::connections) const FORGET_ORG: &str = "DELETE FROM connection_clients WHERE org = $1";

const SECRET: &str = "client_secret";
const VERSION: i64 = 1;
const WHY: &str = "a client with an issuer is no fact of the business";

/// Whose client it is: an org's, with an issuer, for people who come back to one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    pub(super) org: String,
    pub(super) issuer: String,
    pub(super) redirect: String,
}

impl At {
    /// The secret's record, which is another for each client.
    fn record(&self, client: &str) -> String {
        format!("client_{}", sha256_hex(format!("{}\n{}\n{client}", self.issuer, self.redirect)))
    }
}

impl Connections {
    /// The client that is kept, if its secret lasts.
    pub(super) async fn kept_client(&self, at: &At, now_ms: i64) -> Result<Option<(String, ClientAuth)>> {
        let row: Option<(String, String, Option<i64>)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(FIND)
            .bind(&at.org).bind(&at.issuer).bind(&at.redirect).fetch_optional(pool).await)?;
        let Some((client, method, expires_at)) = row else { return Ok(None) };
        if expires_at.is_some_and(|end| end < now_ms + MARGIN_MS) {
            return Ok(None);
        }
        let method: ClientAuth = serde_json::from_value(method.into())?;
        let is_whole = method == ClientAuth::None || self.client_secret(at, &client).await?.is_some();
        Ok(is_whole.then_some((client, method)))
    }

    /// Counts a registration that is about to be asked for.
    pub(super) async fn count_registration(&self, at: &At, now_ms: i64) -> Result<(), Refused> {
        let of = at.clone();
        let work: Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                let since = now_ms - HOUR_MS;
                let (count,): (i64,) = on_connection!(connection, c => sqlx::query_as(IN_HOUR)
                    .bind(&of.org).bind(&of.issuer).bind(since).fetch_one(c).await)?;
                if count >= MOST_AN_HOUR {
                    return Ok(false);
                }
                on_connection!(connection, c => sqlx::query(COUNT)
                    .bind(&of.org).bind(&of.issuer).bind(&of.redirect).bind(now_ms).bind(since)
                    .execute(c).await.map(|_| ()))?;
                Ok(true)
            })
        });
        let counted = self.ledger.store().housekeeping(&at.org, WHY, work).await?;
        if counted { Ok(()) } else { Err(Refused::NoClient("too many registrations in an hour")) }
    }

    /// Keeps a client in place of the one before, whose secret is forgotten.
    pub(super) async fn keep_client(&self, at: &At, new: &Registered) -> Result<()> {
        let method = serde_json::to_value(new.method)?;
        let method = method.as_str().unwrap_or_default().to_owned();
        let (of, id, expires_at) = (at.clone(), new.id.clone(), new.expires_at_ms);
        let record = at.record(&new.id);
        let sealed = match &new.secret {
            Some(secret) => {
                let fields = Fields::from([(SECRET.to_owned(), secret.clone())]);
                Some(self.secrets.seal(&at.org, &record, VERSION, &fields)?)
            }
            None => None,
        };
        if let Some(secret) = &new.secret {
            self.log_secrets.register(secret);
        }
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                let before: Option<(String, String, Option<i64>)> = on_connection!(connection, c => sqlx::query_as(FIND)
                    .bind(&of.org).bind(&of.issuer).bind(&of.redirect).fetch_optional(c).await)?;
                if let Some((before, ..)) = before {
                    SecretsStore::delete(connection, &of.org, &of.record(&before)).await?;
                }
                SecretsStore::delete(connection, &of.org, &record).await?;
                if let Some(sealed) = &sealed {
                    SecretsStore::put(connection, sealed).await?;
                }
                on_connection!(connection, c => sqlx::query(KEEP)
                    .bind(&of.org).bind(&of.issuer).bind(&of.redirect).bind(&id).bind(&method).bind(expires_at)
                    .execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.ledger.store().housekeeping(&at.org, WHY, work).await
    }

    /// Forgets a client that its issuer does not know any more; another that took its place stays.
    pub(super) async fn drop_client(&self, at: &At, client: &str) -> Result<()> {
        let (of, id) = (at.clone(), client.to_owned());
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                let dropped = on_connection!(connection, c => sqlx::query(DROP)
                    .bind(&of.org).bind(&of.issuer).bind(&of.redirect).bind(&id)
                    .execute(c).await.map(|done| done.rows_affected()))?;
                if dropped == 1 {
                    SecretsStore::delete(connection, &of.org, &of.record(&id)).await?;
                }
                Ok(())
            })
        });
        self.ledger.store().housekeeping(&at.org, WHY, work).await
    }

    /// The secret of a client; `None` where it has none, or it is forgotten.
    pub(super) async fn client_secret(&self, at: &At, client: &str) -> Result<Option<Zeroizing<String>>> {
        match self.secrets.get(&at.org, &at.record(client), VERSION).await {
            Ok(mut fields) => Ok(fields.remove(SECRET)),
            Err(Trouble::Gone | Trouble::Unreadable) => Ok(None),
            Err(Trouble::Unavailable) => Err(Problem::unavailable("The secrets store does not answer just now.")),
        }
    }
}
