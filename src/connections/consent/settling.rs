//! The end of a trip: its tokens stand, or it brought nothing and they are given back.

use serde_json::json;

use super::super::catalogue::RevokeEnds;
use super::super::changes::event;
use super::super::oauth::{self, Tokens};
use super::super::{Connections, Scopes, links};
use super::{Arrival, Attempt, Failed, attempts};
use crate::error::Result;
use crate::ledger::{Actor, Changed};

/// What a consent brought, to be kept.
pub struct Consented<'a> {
    /// The tokens.
    pub tokens: &'a Tokens,
    /// What they are good for.
    pub scopes: &'a Scopes,
    /// The account's keyed digest ([`Connections::account_digest`]), where its id is known.
    pub account_digest: Option<String>,
    /// The trip that brought them, which must still stand; none where nobody was away.
    pub attempt: Option<&'a Attempt>,
}

impl Connections {
    /// Ends a trip that brought nothing, with one row in the audit; a trip whose place another took tells nothing.
    pub async fn fail(&self, attempt: &Attempt, actor: Actor, failed: &Failed, now_ms: i64) -> Result<()> {
        let (attempt, missing) = (attempt.clone(), failed.missing());
        let (stage, code) = (failed.stage(), failed.code());
        let org = attempt.org.clone();
        self.ledger
            .commit(
                &org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        if !attempts::settle(connection, &attempt, now_ms, missing.as_deref()).await? {
                            return Ok(Changed::nothing(()));
                        }
                        links::tell(connection, &attempt.org, &attempt.link, code).await?;
                        let facts = json!({ "stage": stage, "code": code });
                        let kind = "connection_attempt_failed";
                        Ok(Changed::by((), event(&attempt.connection, kind, actor, facts)))
                    })
                }),
            )
            .await
    }

    /// Tells the provider that tokens which never stood are not wanted. Where one revoked token would end every grant of
    /// the person and client, nothing is told, since other connections may live by it.
    pub async fn give_back(&self, arrival: &Arrival, tokens: &Tokens) {
        let source = arrival.source();
        let Some(revocation) = source.revoked().filter(|at| at.rules.ends != RevokeEnds::Grant) else { return };
        if let Err(code) = oauth::revoke(&self.egress, &revocation, tokens, self.clock.now_ms()).await {
            tracing::warn!(code, "a provider could not be told that tokens are not wanted");
        }
    }

    /// What tells an account of a provider from others, and nothing else: a keyed digest of its stable id.
    ///
    /// # Errors
    /// None in practice; when the key cannot be derived.
    pub fn account_digest(&self, provider: &str, id: &str) -> Result<String> {
        self.keyed_digest("account", &format!("{provider}\n{id}"))
    }
}
