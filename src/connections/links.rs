//! Approval links: single use, ten minutes, for one person; only their digest is kept (`connections.md` 9.1).

use serde_json::json;

use super::changes::event;
use super::record::{Record, Status};
use super::{Because, Connections};
use crate::digest::sha256_hex;
use crate::error::{Problem, Result};
use crate::ledger::{Actor, Changed};
use crate::secrets::Trouble;
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// How many refused credentials end a link.
const MAX_REFUSED: i64 = 10;
/// How long the adder still sees how a link ended.
pub(super) const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1_000;

const INSERT: &str = "INSERT INTO connection_links (org, digest, connection, person, expires_at, state, refused) \
     VALUES ($1, $2, $3, $4, $5, 'open', 0)";
const FIND: &str = "SELECT connection, person, expires_at, state, refused, last_error, refused_to FROM connection_links \
     WHERE org = $1 AND digest = $2";
const ORG_OF: &str = "SELECT org FROM connection_links WHERE digest = $1";
const END: &str =
    "UPDATE connection_links SET state = $3 WHERE org = $1 AND connection = $2 AND state IN ('open', 'expired')";
const REFUSED_TO: &str = "UPDATE connection_links SET refused_to = $3 \
     WHERE org = $1 AND digest = $2 AND COALESCE(refused_to, '') <> $3";
const EXPIRE: &str = "UPDATE connection_links SET state = 'expired' WHERE org = $1 AND digest = $2 AND state = 'open'";
const RESERVE: &str = "UPDATE connection_links SET refused = refused + 1 \
     WHERE org = $1 AND digest = $2 AND state = 'open' AND refused < $3";
const GIVE_BACK: &str = "UPDATE connection_links SET refused = refused - 1 \
     WHERE org = $1 AND digest = $2 AND refused BETWEEN 1 AND $3";
/// The link tells its person what went wrong, also when its own ten minutes are over.
const TELL: &str = "UPDATE connection_links SET last_error = $3 WHERE org = $1 AND digest = $2 \
     AND state IN ('open', 'expired')";
const REFUSE: &str = "UPDATE connection_links SET refused = refused - $3, last_error = $4, \
     state = CASE WHEN refused - $3 >= $5 THEN 'expired' ELSE state END WHERE org = $1 AND digest = $2 AND state = 'open'";

/// A link as it is kept.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Link {
    /// The connection it approves.
    pub connection: String,
    /// The caller id of the person it was made for.
    pub person: String,
    /// When it ends, in milliseconds since the epoch.
    pub expires_at: i64,
    /// `open`, `used`, `expired`, `cancelled` or `removed`.
    pub state: String,
    /// Credentials refused so far.
    pub refused: i64,
    /// Code of the last attempt that failed.
    pub last_error: Option<String>,
    /// The caller id of who opened it last although it is for somebody else.
    pub refused_to: Option<String>,
}

/// A link with its connection.
pub struct Opened {
    /// The link.
    pub link: Link,
    /// The connection it approves.
    pub record: Record,
}

/// Why an attempt to approve did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// The server does not take the credential.
    Refused,
    /// The server did not answer.
    Unreachable,
}

impl Failed {
    /// The code kept in the audit and shown to the page.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Refused => "credential_refused",
            Self::Unreachable => "server_unreachable",
        }
    }
}

impl Link {
    pub(super) fn open(connection: &str, person: &str, expires_at: i64) -> Self {
        Self {
            connection: connection.to_owned(),
            person: person.to_owned(),
            expires_at,
            state: "open".into(),
            refused: 0,
            last_error: None,
            refused_to: None,
        }
    }
}

/// SHA-256 of a link, in hexadecimal: all that is kept of it.
pub fn digest(link: &str) -> String {
    sha256_hex(link)
}

/// One refusal for a link that is unknown, ended, or somebody else's org's.
pub fn gone() -> Problem {
    Problem::not_found("This link no longer works. Ask your agent for a new one.")
}

pub(super) async fn insert(connection: &mut Connection, org: &str, digest: &str, link: &Link) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(org).bind(digest).bind(&link.connection).bind(&link.person).bind(link.expires_at)
        .execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Ends whatever link of a connection may still be open.
pub(super) async fn end(connection: &mut Connection, org: &str, id: &str, state: &str) -> Result<()> {
    on_connection!(connection, c => sqlx::query(END).bind(org).bind(id).bind(state).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Keeps what went wrong for the page of a link, inside a write.
pub(super) async fn tell(connection: &mut Connection, org: &str, digest: &str, code: &str) -> Result<()> {
    on_connection!(connection, c => sqlx::query(TELL).bind(org).bind(digest).bind(code).execute(c).await.map(|_| ()))?;
    Ok(())
}

impl Connections {
    /// The org a link is of: who opens it in a browser names none. A link is 190 random bits, so no two are alike.
    pub async fn org_of_link(&self, link: &str) -> Result<Option<String>> {
        let found: Option<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ORG_OF)
            .bind(digest(link)).fetch_optional(pool).await)?;
        Ok(found.map(|(org,)| org))
    }

    /// The link and its connection, as they stand; a link found to be over is marked so, once.
    pub async fn open_link(&self, org: &str, link: &str, now_ms: i64) -> Result<Option<Opened>> {
        let digest = digest(link);
        let found = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Link>(FIND)
            .bind(org).bind(&digest).fetch_optional(pool).await)?;
        let Some(mut link) = found else { return Ok(None) };
        if now_ms >= link.expires_at + REMEMBERED_MS {
            return Ok(None);
        }
        if link.state == "open" && now_ms >= link.expires_at {
            self.expire(org, &digest, &link.connection).await?;
            link.state = "expired".into();
        }
        let record = self.find(org, &link.connection).await?;
        Ok(record.map(|record| Opened { link, record }))
    }

    /// Counts an attempt before it is tried; false when the link has no attempt left.
    pub async fn reserve_attempt(&self, org: &str, link: &str) -> Result<bool> {
        self.count_attempt(org, link, RESERVE, "an attempt is told once its end is known").await
    }

    /// Takes back the count of an attempt that refused nothing.
    pub async fn give_attempt_back(&self, org: &str, link: &str) -> Result<bool> {
        self.count_attempt(org, link, GIVE_BACK, "an attempt that was no guess is nothing to tell").await
    }

    async fn count_attempt(&self, org: &str, link: &str, sql: &'static str, why: &'static str) -> Result<bool> {
        let (org_name, digest) = (org.to_owned(), digest(link));
        let work: crate::store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(sql)
                    .bind(&org_name).bind(&digest).bind(MAX_REFUSED)
                    .execute(c).await.map(|done| done.rows_affected()))?;
                Ok(rows)
            })
        });
        Ok(self.ledger.store().housekeeping(org, why, work).await? == 1)
    }

    /// Records a failed attempt; the tenth refused credential ends the link.
    pub async fn attempt_failed(&self, org: &str, link: &str, id: &str, actor: Actor, failed: Failed) -> Result<()> {
        let (org_name, digest, id) = (org.to_owned(), digest(link), id.to_owned());
        // The attempt was counted before it was tried; only a refused credential stays counted.
        let given_back = i64::from(failed != Failed::Refused);
        self.ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let changed = on_connection!(connection, c => sqlx::query(REFUSE)
                            .bind(&org_name).bind(&digest).bind(given_back).bind(failed.code()).bind(MAX_REFUSED)
                            .execute(c).await.map(|done| done.rows_affected()))?;
                        if changed == 0 {
                            return Ok(Changed::nothing(()));
                        }
                        let facts = json!({ "stage": "verification", "code": failed.code() });
                        Ok(Changed::by((), event(&id, "connection_attempt_failed", actor, facts)))
                    })
                }),
            )
            .await
    }

    /// Tells that somebody opened a link that is for another person; of each such person once, however often they look.
    pub async fn opened_by_another(&self, org: &str, link: &str, found: &Link, who: Actor) -> Result<()> {
        if found.refused_to.as_deref() == Some(&who.id) {
            return Ok(());
        }
        let (org_name, digest, id) = (org.to_owned(), digest(link), found.connection.clone());
        self.ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let changed = on_connection!(connection, c => sqlx::query(REFUSED_TO)
                            .bind(&org_name).bind(&digest).bind(&who.id)
                            .execute(c).await.map(|done| done.rows_affected()))?;
                        if changed == 0 {
                            return Ok(Changed::nothing(()));
                        }
                        let facts = json!({ "opened_by": who.id });
                        Ok(Changed::by((), event(&id, "connection_link_refused", who, facts)))
                    })
                }),
            )
            .await
    }

    pub(super) async fn expire(&self, org: &str, digest: &str, id: &str) -> Result<()> {
        let (org_name, digest, id) = (org.to_owned(), digest.to_owned(), id.to_owned());
        self.ledger
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let changed = on_connection!(connection, c => sqlx::query(EXPIRE)
                            .bind(&org_name).bind(&digest).execute(c).await.map(|done| done.rows_affected()))?;
                        if changed == 0 {
                            return Ok(Changed::nothing(()));
                        }
                        Ok(Changed::by((), event(&id, "connection_link_expired", Actor::system(), json!({}))))
                    })
                }),
            )
            .await
    }

    /// Whether the operator still allows a pending connection, as it will be once it is approved.
    pub fn still_allowed(&self, record: &Record) -> Result<()> {
        if record.status == Status::Pending && self.rule(record).is_err() {
            let words = "Whoever runs the server no longer allows this connection.";
            return Err(Problem::new(crate::error::Reason::Unavailable, words)
                .kind("tool_not_offered")
                .because(Because::NotAllowed.word()));
        }
        Ok(())
    }

    /// Whether `value` is the one the connection holds already.
    pub async fn holds(&self, record: &Record, value: &str) -> Result<bool> {
        let fields = match self.secrets.get(&record.org, &record.id, record.credential_version).await {
            Ok(fields) => Some(fields),
            Err(Trouble::Unavailable) => return Err(Problem::unavailable("The credential cannot be read just now.")),
            Err(Trouble::Gone | Trouble::Unreadable) => None,
        };
        let held = fields.and_then(|mut fields| fields.remove(super::standing::VALUE));
        Ok(held.is_some_and(|held| {
            aws_lc_rs::constant_time::verify_slices_are_equal(held.as_bytes(), value.as_bytes()).is_ok()
        }))
    }
}
