//! The rows of sign-ins under way: each is found by the digest of what its browser brings back, and used once.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::{sha256, sha256_hex};
use crate::error::{Problem, Result};
use crate::identity::Identity;
use crate::identity::sign_in::SERVER;
use crate::store::Connection;
use crate::{on_connection, on_pool};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The characters of a state and of the secret in the browser's cookie: 43 of base62 are 256 bits.
pub(super) const SECRET_LENGTH: usize = 43;

const PUT: &str = "INSERT INTO sign_in_attempts (digest, kind, person, data, expires_at) VALUES ($1, $2, $3, $4, $5)";
const TAKE: &str = "DELETE FROM sign_in_attempts WHERE digest = $1 AND kind = $2 RETURNING person, data, expires_at";
const LOOK: &str = "SELECT person, data, expires_at FROM sign_in_attempts WHERE digest = $1 AND kind = $2";

/// What a row is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A browser is away at a provider.
    Away,
    /// An account waits for its person to show that it is theirs.
    Linking,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Away => "upstream",
            Self::Linking => "upstream_link",
        }
    }
}

/// A row.
pub(super) struct Kept<T> {
    /// Whom it is for, `user_…`.
    pub(super) person: Option<String>,
    /// What is kept.
    pub(super) data: T,
    expires_at_ms: i64,
}

impl<T> Kept<T> {
    /// Whether it still counts.
    pub(super) const fn lives(&self, now_ms: i64) -> bool {
        now_ms < self.expires_at_ms
    }
}

/// What is kept of a browser that is away.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Away {
    /// Where it went.
    pub(super) provider: String,
    /// The digest of the secret in its cookie.
    pub(super) browser: String,
    /// When it went, in milliseconds since the epoch.
    pub(super) since_ms: i64,
}

/// What a browser holds of its own trip. Verifier and nonce are made of it and of the state, so that no row and no log of
/// the provider's holds them before they are needed.
pub(super) struct Trip<'a> {
    pub(super) browser: &'a str,
    pub(super) state: &'a str,
}

impl Trip<'_> {
    fn derived(&self, what: &str) -> String {
        URL_SAFE_NO_PAD.encode(sha256(format!("{what}\n{}\n{}", self.browser, self.state)))
    }

    /// The verifier of PKCE (RFC 7636, section 4.1): 43 characters.
    pub(super) fn verifier(&self) -> String {
        self.derived("verifier")
    }

    /// What comes back in the ID token.
    pub(super) fn nonce(&self) -> String {
        self.derived("nonce")
    }
}

/// Whether `text` can be a state or the secret of a browser.
pub(super) fn is_secret(text: &str) -> bool {
    text.len() == SECRET_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

type Row = (Option<String>, String, i64);

fn read<T: DeserializeOwned>((person, data, expires_at_ms): Row) -> Result<Kept<T>> {
    let data = serde_json::from_str(&data).map_err(Problem::internal)?;
    Ok(Kept { person, data, expires_at_ms })
}

impl Identity {
    /// Keeps what is found again by `secret`, until `expires_at_ms`.
    pub(super) async fn keep_attempt<T: Serialize>(
        &self,
        kind: Kind,
        secret: &str,
        person: Option<String>,
        data: &T,
        expires_at_ms: i64,
    ) -> Result<()> {
        let (digest, data) = (sha256_hex(secret), serde_json::to_string(data).map_err(Problem::internal)?);
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(PUT)
                    .bind(&digest).bind(kind.word()).bind(&person).bind(&data).bind(expires_at_ms)
                    .execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.ledger().store().housekeeping(SERVER, "a sign-in is told once its end is known", work).await
    }

    /// Takes what was kept: whoever comes second finds nothing, also where the first was refused.
    pub(super) async fn take_attempt<T: DeserializeOwned>(&self, kind: Kind, secret: &str) -> Result<Option<Kept<T>>> {
        let digest = sha256_hex(secret);
        let work: crate::store::Work<Option<Row>> =
            Box::new(move |connection| Box::pin(async move { take(connection, kind, &digest).await }));
        let row = self.ledger().store().housekeeping(SERVER, "a sign-in is told once its end is known", work).await?;
        row.map(read).transpose()
    }

    /// What is kept, without taking it.
    pub(super) async fn look_at_attempt<T: DeserializeOwned>(
        &self,
        kind: Kind,
        secret: &str,
    ) -> Result<Option<Kept<T>>> {
        let row: Option<Row> = on_pool!(self.ledger().store(), pool => sqlx::query_as(LOOK)
            .bind(sha256_hex(secret)).bind(kind.word()).fetch_optional(pool).await)?;
        row.map(read).transpose()
    }
}

/// The same inside a commit.
pub(super) async fn take(connection: &mut Connection, kind: Kind, digest: &str) -> Result<Option<Row>> {
    Ok(on_connection!(connection, c => sqlx::query_as(TAKE)
        .bind(digest).bind(kind.word()).fetch_optional(c).await)?)
}
