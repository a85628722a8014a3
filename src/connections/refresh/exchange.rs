//! The winner's way: the claim, one request, what came or did not (`connections.md` 10.2, steps 3 and 5).

use serde_json::json;

use super::classify::{Verdict, code, is_unclear, verdict};
use super::keep::Kept;
use super::renewal::{Claim, Failed};
use super::{kind_of, row, timing};
use crate::clock;
use crate::connections::changes::{event, one};
use crate::connections::oauth::{self, Grant, Refusal, Tokens};
use crate::connections::record::{Record, Status};
use crate::connections::source::Source;
use crate::connections::standing::Fault;
use crate::connections::{Because, Connections, Kind, notice};
use crate::error::Result;
use crate::ledger::{Actor, Changed, Event};

/// All that a renewal needs, read before the claim.
pub(super) struct Prepared {
    pub(super) tokens: Tokens,
    pub(super) source: Source,
}

impl Prepared {
    /// The host of the issuer.
    pub(super) fn host(&self) -> &str {
        self.source.endpoint.url.host_str().unwrap_or_default()
    }
}

/// Why an attempt brought nothing.
pub(super) struct Fruitless {
    verdict: Verdict,
    code: String,
    unclear: bool,
    retry_after_s: Option<u64>,
}

impl Fruitless {
    /// The store does not take the tokens that came.
    pub(super) fn store() -> Self {
        Self { verdict: Verdict::Passing, code: "store".into(), unclear: true, retry_after_s: None }
    }

    fn of(refusal: &Refusal, source: &Source) -> Self {
        Self {
            verdict: verdict(refusal, &source.refresh),
            code: code(refusal),
            unclear: is_unclear(refusal),
            retry_after_s: refusal.retry_after_s,
        }
    }
}

impl Connections {
    /// Reads what a renewal needs; the words say what is not there.
    pub(super) async fn prepare(&self, record: &Record) -> Result<Prepared, &'static str> {
        let tokens = self.tokens_at(record).await.ok_or("the tokens in use cannot be read")?;
        let source = self.source(record, kind_of(record), tokens.grant.found.as_ref()).await;
        let source = source.map_err(|_| "the provider is no longer set up")?;
        Ok(Prepared { tokens, source })
    }

    /// The tokens of the version in use, whatever the state of their renewal.
    async fn tokens_at(&self, record: &Record) -> Option<Tokens> {
        let fields = self.secrets.get(&record.org, &record.id, record.credential_version).await.ok()?;
        Tokens::of(fields)
    }

    /// Takes the claim, committed before anything is sent; `None` where the connection moved on. A claim that a dead server
    /// left is told once.
    pub(super) async fn claim(&self, record: &Record, prepared: &Prepared, forced: bool) -> Result<Option<Claim>> {
        let wanted = self.wanted(record, prepared, forced)?;
        let now = self.database_clock.now_ms().await?;
        let (org, id) = (record.org.clone(), record.id.clone());
        self.ledger
            .commit(
                &record.org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let Some(found) = one(connection, &org, &id).await? else { return Ok(Changed::nothing(None)) };
                        if found.status != Status::Connected || found.credential_version != wanted.version {
                            return Ok(Changed::nothing(None));
                        }
                        let Some(mut renewal) = row::read(connection, &org, &id).await? else {
                            return Ok(Changed::nothing(None));
                        };
                        let claim = renewal.claim(&wanted, now);
                        let Claim::Won { lost, .. } = claim else { return Ok(Changed::nothing(Some(claim))) };
                        row::write(connection, &org, &id, &renewal).await?;
                        if !lost {
                            return Ok(Changed::nothing(Some(claim)));
                        }
                        let facts = json!({ "code": "lease_lapsed", "next_attempt_at": null });
                        Ok(Changed::by(Some(claim), told(&found, "connection_refresh_lost", facts)))
                    })
                }),
            )
            .await
    }

    /// Asks, keeps and publishes, with the claim in hand.
    pub(super) async fn renew_with(&self, record: &Record, prepared: Prepared, epoch: i64, was_unclear: bool) {
        let next = record.credential_version + 1;
        let tokens = match self.left_behind(record, next).await {
            Some(tokens) => Ok(tokens),
            None => self.exchanged(record, &prepared, next).await,
        };
        let done = match tokens {
            Ok(tokens) => self.publish(record, next, &tokens, &prepared.source).await,
            Err(fruitless) => self.fruitless(record, epoch, was_unclear, fruitless).await,
        };
        if let Err(problem) = done {
            // The claim lapses, and whoever takes it next finds what was kept.
            tracing::warn!(%problem, connection.id = %record.id, "how a renewal ended could not be recorded");
        }
    }

    /// One request; what it brought is kept before anybody uses it.
    async fn exchanged(&self, record: &Record, prepared: &Prepared, next: i64) -> Result<Tokens, Fruitless> {
        let Prepared { tokens: before, source } = prepared;
        let now = self.database_clock.now_ms().await.map_err(|_| Fruitless::store())?;
        let grant = match (kind_of(record), &before.refresh_token) {
            (Kind::Authorization, Some(refresh_token)) => Grant::Refresh { refresh_token },
            (Kind::Authorization, None) => {
                let code = "invalid_grant".into();
                let verdict = Verdict::Over("ended");
                return Err(Fruitless { verdict, code, unclear: false, retry_after_s: None });
            }
            _ => Grant::ClientCredentials { scopes: &source.scopes },
        };
        let answer = oauth::ask(&self.egress, &source.endpoint, grant, now).await;
        let tokens = answer.map_err(|refusal| Fruitless::of(&refusal, source))?.after(before);
        self.log_secrets.register(&tokens.access_token);
        tokens.refresh_token.iter().for_each(|token| self.log_secrets.register(token));
        match self.keep(record, next, &tokens, source).await {
            Kept::Stored => Ok(tokens),
            Kept::Elsewhere => Err(Fruitless::store()),
        }
    }

    /// Tells how an attempt failed, and ends the claim, where it is still this server's.
    async fn fruitless(&self, record: &Record, epoch: i64, was_unclear: bool, fruitless: Fruitless) -> Result<()> {
        let now = self.database_clock.now_ms().await?;
        let (org, id, ids) = (record.org.clone(), record.id.clone(), self.ids.clone());
        self.ledger
            .commit(
                &record.org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let (Some(found), Some(mut renewal)) =
                            (one(connection, &org, &id).await?, row::read(connection, &org, &id).await?)
                        else {
                            return Ok(Changed::nothing(()));
                        };
                        if renewal.epoch != epoch || renewal.owner.is_none() {
                            return Ok(Changed::nothing(()));
                        }
                        let Fruitless { verdict, code, unclear, retry_after_s } = fruitless;
                        let wait = |failures| timing::wait_ms(failures, retry_after_s, &ids);
                        let failed = renewal.failed(verdict, &code, (was_unclear, unclear), now, wait);
                        row::write(connection, &org, &id, &renewal).await?;
                        match failed {
                            Failed::Over(cause, true) => {
                                if cause == "client" {
                                    tracing::error!(
                                        connection.id = %id,
                                        "a provider does not take this server's client any more; set its values anew"
                                    );
                                }
                                let fault = Fault::new(Because::Broken, cause);
                                Ok(Changed::of((), notice::noted(connection, &found, Some(fault)).await?))
                            }
                            Failed::Failing(true) => {
                                let next = renewal.next_attempt_at.map(clock::iso);
                                let facts = json!({ "code": code, "next_attempt_at": next });
                                Ok(Changed::by((), told(&found, "connection_refresh_failing", facts)))
                            }
                            Failed::Over(_, false) | Failed::Failing(false) => Ok(Changed::nothing(())),
                        }
                    })
                }),
            )
            .await
    }
}

/// An event of the server itself about a connection.
pub(super) fn told(record: &Record, kind: &'static str, facts: serde_json::Value) -> Event {
    event(&record.id, kind, Actor::system(), facts).about(record.name.as_str())
}
