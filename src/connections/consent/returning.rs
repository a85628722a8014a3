//! A person comes back from a provider (RFC 6749, section 4.1.2): whether it is the one who left, in the browser they left
//! in, with an answer of the provider they left for; then the one exchange of the code.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use zeroize::Zeroizing;

use super::super::catalogue::Kind;
use super::super::oauth::{self, Grant, Tokens};
use super::super::{Connections, Record, Scopes, Source};
use super::{Attempt, Failed};
use crate::digest::sha256_hex;
use crate::error::Result;

/// Where somebody who comes back belongs.
pub struct Way {
    /// The org of the connection.
    pub org: String,
    /// The link they left from.
    pub link: Option<Zeroizing<String>>,
}

/// Who left on a trip, whatever became of it since.
pub struct Left {
    /// The caller id of the person.
    pub person: String,
    /// The link they left from, while it is remembered.
    pub link: Option<Zeroizing<String>>,
    /// The connection it is for.
    pub record: Record,
}

/// What a browser brings back. Never printed.
#[derive(Default)]
pub struct Brought {
    /// The caller id of whose browser it is.
    pub person: String,
    /// What its cookie holds.
    pub browser: Option<Zeroizing<String>>,
    /// The code.
    pub code: Option<Zeroizing<String>>,
    /// Who answers (RFC 9207).
    pub issuer: Option<String>,
    /// The error code in place of a code.
    pub error: Option<String>,
}

/// Somebody back from a trip that nobody else took up.
pub struct Arrival {
    /// The trip.
    pub attempt: Attempt,
    /// The link they left from.
    pub link: Zeroizing<String>,
    /// The connection it is for.
    pub record: Record,
    source: Source,
}

impl Arrival {
    /// What was asked for and what these tokens are good for.
    pub fn scopes(&self, tokens: &Tokens) -> Scopes {
        Scopes::of(&self.attempt.requested(), tokens.grant.scopes.as_deref(), &self.source.required)
    }

    pub(super) const fn source(&self) -> &Source {
        &self.source
    }
}

impl Connections {
    /// Where the trip of a state began, whatever became of it since.
    pub async fn way_back(&self, state: &str) -> Result<Option<Way>> {
        let Some(org) = self.org_of_state(state).await? else { return Ok(None) };
        let Some(attempt) = self.attempt(&org, state).await? else { return Ok(None) };
        let link = self.link_of(&attempt).await;
        Ok(Some(Way { org, link }))
    }

    /// Who left on the trip of a state, without taking it up.
    pub async fn left(&self, org: &str, state: &str) -> Result<Option<Left>> {
        let Some(attempt) = self.attempt(org, state).await? else { return Ok(None) };
        let link = self.link_of(&attempt).await;
        let record = self.find(org, &attempt.connection).await?;
        Ok(record.map(|record| Left { person: attempt.person, link, record }))
    }

    /// Takes up the trip of a state, once; `None` where none is under way. One whose time is over is ended and told.
    pub async fn arrive(
        &self,
        org: &str,
        state: &str,
        actor: &crate::ledger::Actor,
        now_ms: i64,
    ) -> Result<Option<Arrival>> {
        let Some(attempt) = self.attempt(org, state).await? else { return Ok(None) };
        if !self.take(&attempt, now_ms).await? {
            return Ok(None);
        }
        if now_ms >= attempt.expires_at {
            self.fail(&attempt, actor.clone(), &Failed::StateUnknown, now_ms).await?;
            return Ok(None);
        }
        let link = self.link_of(&attempt).await;
        let record = self.find(org, &attempt.connection).await?;
        let (Some(link), Some(record)) = (link, record) else { return Ok(None) };
        let source = match self.source_of(&record, &attempt).await {
            Ok(source) => source,
            Err(problem) => {
                self.fail(&attempt, actor.clone(), &Failed::IssuerMismatch, now_ms).await?;
                return Err(problem);
            }
        };
        Ok(Some(Arrival { attempt, link, record, source }))
    }

    /// What was asked of the provider when the trip began.
    async fn source_of(&self, record: &Record, attempt: &Attempt) -> Result<Source> {
        self.source(record, Kind::Authorization, attempt.found()?.as_ref()).await
    }

    /// The code somebody brought, if they are who left and it comes from where they went (`connections.md` 9.3, 2 to 4).
    ///
    /// # Errors
    /// What does not fit; then nothing may be sent anywhere.
    pub fn check<'a>(&self, arrival: &Arrival, brought: &'a Brought) -> Result<&'a str, Failed> {
        let (attempt, source) = (&arrival.attempt, &arrival.source);
        let held = brought.browser.as_ref().map(|held| sha256_hex(held.as_bytes())).unwrap_or_default();
        if verify_slices_are_equal(held.as_bytes(), attempt.browser.as_bytes()).is_err() {
            return Err(Failed::OtherBrowser);
        }
        if brought.person != attempt.person {
            return Err(Failed::OtherPerson);
        }
        // The operator may have changed the provider meanwhile: a code is for nobody but who was asked.
        let same = source.endpoint.client.id == attempt.client && source.endpoint.url.as_str() == attempt.token_url;
        let issuer = match (&attempt.issuer, &brought.issuer) {
            (Some(expected), Some(given)) => expected == given,
            (_, None) => !source.says_issuer,
            (None, Some(_)) => true,
        };
        if !same || !issuer {
            return Err(Failed::IssuerMismatch);
        }
        match (brought.error.as_deref(), &brought.code) {
            (Some("access_denied"), _) => Err(Failed::Declined),
            (Some(_), _) | (None, None) => Err(Failed::ProviderError),
            (None, Some(code)) => Ok(code),
        }
    }

    /// The one exchange of a code; it is never repeated, since a code is good for one alone.
    ///
    /// # Errors
    /// [`Failed::ExchangeFailed`] where the provider said no, [`Failed::ProviderUnreachable`] where nobody knows.
    pub async fn exchange(&self, arrival: &Arrival, code: &str) -> Result<Tokens, Failed> {
        let attempt = &arrival.attempt;
        let verifier = self.verifier_of(attempt).await.map_err(|_| Failed::StoreUnavailable)?;
        let verifier = verifier.as_ref().map(|verifier| verifier.as_str());
        let grant = Grant::Code { code, verifier, redirect: &attempt.redirect };
        self.log_secrets.register(code);
        let asked = oauth::ask(&self.egress, &arrival.source.endpoint, grant, self.clock.now_ms()).await;
        let found = attempt.found().map_err(|_| Failed::IssuerMismatch)?;
        let mut tokens = match asked {
            Ok(tokens) => tokens,
            Err(refusal) => {
                tracing::warn!(?refusal, connection.id = attempt.connection, "a code became no tokens");
                self.heed(&attempt.org, found.as_ref(), &refusal).await;
                return Err(if refusal.is_answer { Failed::ExchangeFailed } else { Failed::ProviderUnreachable });
            }
        };
        for token in std::iter::once(&tokens.access_token).chain(&tokens.refresh_token) {
            self.log_secrets.register(token);
        }
        tokens.grant.found = found;
        if let Err(problem) = self.hold(attempt, &tokens.fields()).await {
            tracing::error!(%problem, connection.id = attempt.connection, "tokens could not be kept");
            self.give_back(arrival, &tokens).await;
            return Err(Failed::StoreUnavailable);
        }
        Ok(tokens)
    }
}
