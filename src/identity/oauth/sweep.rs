//! What nobody's request does: the list of revocations and the signing keys are read, and what ended is forgotten.

use std::time::Duration;

use super::consent::REMEMBERED_MS;
use super::{AuthorizationServer, SERVER, clients, signing};
use crate::error::Result;
use crate::lifecycle::Lifecycle;
use crate::on_connection;

/// How often the list of revocations is read.
const REVOCATIONS: Duration = Duration::from_secs(2);
/// Readings of the list between two of the signing keys: a minute.
const KEYS_EVERY: u64 = 30;
/// Readings between two sweeps: ten minutes.
const SWEEP_EVERY: u64 = 300;
/// How long a code is remembered after its end, so that its second use is told from a made-up one.
const CODE_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long an ended grant is remembered.
const GRANT_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Each with the time before which its rows go.
const ENDED: [&str; 4] = [
    "DELETE FROM oauth_requests WHERE expires_at < $1",
    "DELETE FROM oauth_assertions WHERE expires_at < $1",
    "DELETE FROM oauth_revocations WHERE until < $1",
    "UPDATE oauth_refresh_tokens SET successor = NULL WHERE successor IS NOT NULL AND successor_until < $1",
];
const CODES: &str = "DELETE FROM oauth_codes WHERE expires_at < $1";
const CONSENTS: &str = "DELETE FROM oauth_consents WHERE given_at < $1";
const TOKENS: &str = "DELETE FROM oauth_refresh_tokens WHERE EXISTS (SELECT 1 FROM oauth_grants g \
     WHERE g.org = oauth_refresh_tokens.org AND g.id = oauth_refresh_tokens.grant_id AND g.expires_at < $1)";
const FAMILIES: &str = "DELETE FROM oauth_families WHERE EXISTS (SELECT 1 FROM oauth_grants g \
     WHERE g.org = oauth_families.org AND g.id = oauth_families.grant_id AND g.expires_at < $1)";
const GRANTS: &str = "DELETE FROM oauth_grants WHERE expires_at < $1";
const NEVER_USED: &str =
    "DELETE FROM oauth_clients WHERE origin = 'registered' AND last_used_at IS NULL AND created_at < $1";
const UNUSED: &str = "DELETE FROM oauth_clients WHERE origin = 'registered' AND last_used_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client = oauth_clients.id AND g.revoked_at IS NULL \
     AND g.expires_at > $2)";

impl AuthorizationServer {
    /// Reads and sweeps in the background until the stop.
    pub fn start_sweep(&self, lifecycle: &Lifecycle) {
        let (server, stop) = (self.clone(), lifecycle.token().clone());
        lifecycle.spawn(async move {
            for round in 1_u64.. {
                tokio::select! {
                    () = tokio::time::sleep(REVOCATIONS) => {}
                    () = stop.cancelled() => return,
                }
                server.tell(server.read_revocations().await, "the list of revocations could not be read");
                if round.is_multiple_of(KEYS_EVERY) {
                    server.tell(server.refresh_signing_keys().await, "the signing keys could not be read");
                }
                if round.is_multiple_of(SWEEP_EVERY) {
                    server.tell(server.sweep().await, "what ended could not be swept away");
                }
            }
        });
    }

    fn tell(&self, done: Result<()>, words: &'static str) {
        if let Err(problem) = done {
            tracing::warn!(%problem, "{words}");
        }
    }

    /// Forgets what ended.
    pub async fn sweep(&self) -> Result<()> {
        let now = self.now();
        let mut statements: Vec<(&'static str, i64)> = ENDED.iter().map(|statement| (*statement, now)).collect();
        statements.extend([
            (CODES, now - CODE_KEPT_MS),
            (CONSENTS, now - REMEMBERED_MS),
            (TOKENS, now),
            (FAMILIES, now),
            (GRANTS, now - GRANT_KEPT_MS),
            (NEVER_USED, now - clients::NEVER_USED_MS),
        ]);
        let why = "what has ended by time was told when it began; the audit keeps its own time";
        self.0
            .ledger
            .store()
            .housekeeping(
                SERVER,
                why,
                Box::new(move |connection| {
                    Box::pin(async move {
                        for (statement, before) in statements {
                            on_connection!(connection, c => sqlx::query(statement)
                                .bind(before).execute(c).await.map(|_| ()))?;
                        }
                        on_connection!(connection, c => sqlx::query(UNUSED)
                            .bind(now - clients::UNUSED_MS).bind(now).execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                }),
            )
            .await?;
        self.forget_signing_keys().await
    }
}

const _: () = assert!(signing::READ_MS == 60_000, "the keys are read once a minute");
