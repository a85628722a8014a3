//! From the text of an access token to its caller: the token's own checks, its audience, its person, its org
//! (`identity.md` 5).

use std::sync::Arc;

use super::oauth::Revocations;
use super::tokens::{Checker, Failure, RETRY_AFTER_S};
use super::{By, Caller, Identity, Person, Resource};
use crate::config;
use crate::error::{Problem, Result};
use crate::lifecycle::Lifecycle;

/// What is known of whoever issues the tokens taken here.
pub struct Issuing {
    /// Checks a token by itself.
    pub checker: Checker,
    /// The origin every resource begins with.
    pub public_url: String,
    /// The issuer outside, where it is not this server.
    pub external: Option<config::Issuer>,
    /// What was revoked before its end; empty where the issuer is not this server.
    pub revoked: Revocations,
}

impl Issuing {
    /// Audiences that are as good as the whole server.
    fn further_audiences(&self) -> &[String] {
        self.external.as_ref().map_or(&[], |external| external.audiences.as_slice())
    }
}

impl Identity {
    /// Fetches the keys of an issuer outside, so that the log tells at the start what is wrong with it.
    pub fn start_key_fetch(&self, lifecycle: &Lifecycle) {
        let published = self.issuing.as_ref().and_then(|issuing| issuing.checker.published());
        if let Some(published) = published {
            lifecycle.spawn(published.warm(lifecycle.token().clone().cancelled_owned()));
        }
    }

    /// The caller an access token proves at `resource`; `None`, whatever the cause, when it proves none.
    ///
    /// # Errors
    ///
    /// 503 while the issuer's keys cannot be had.
    pub async fn token_caller(&self, text: &str, resource: &Resource) -> Result<Option<Arc<Caller>>> {
        let Some(issuing) = &self.issuing else { return Ok(None) };
        let claims = match issuing.checker.check(text).await {
            Ok(claims) => claims,
            Err(Failure::Refused(_)) => return Ok(None),
            Err(Failure::Unavailable) => {
                let words = "The identity service cannot be reached to check the token.";
                return Err(Problem::unavailable(words).retry_after(RETRY_AFTER_S));
            }
        };
        if [&claims.grant, &claims.token].into_iter().flatten().any(|id| issuing.revoked.has(id)) {
            return Ok(refused("it was revoked, or the grant behind it"));
        }
        let org = match (&claims.org, &issuing.external) {
            (Some(org), _) => Some(org.clone()),
            (None, None) => None,
            (None, Some(_)) => self.only_org(&claims.issuer, &claims.subject).await?,
        };
        let Some(org) = org else { return Ok(refused("token names no org")) };
        if !resource.accepts(&claims.audiences, &issuing.public_url, issuing.further_audiences(), &org) {
            return Ok(refused("its audience does not reach this endpoint"));
        }
        let person = match &issuing.external {
            None => claims.subject.clone(),
            Some(external) => match self.seen(external, &claims).await?.filter(Person::is_active) {
                Some(person) => person.id,
                None => return Ok(refused("its person may not sign in here")),
            },
        };
        let granted = claims.scopes;
        let by = By::Token { client: claims.client_id.clone(), grant: claims.grant.clone() };
        let caller = self.acting(&person, &org, granted, claims.auth_time_ms, by).await?;
        Ok(caller.or_else(|| refused("its person is no member of its org")))
    }

    /// The org of a person who is known here and belongs to one alone.
    async fn only_org(&self, issuer: &str, subject: &str) -> Result<Option<String>> {
        let Some(person) = self.person_of_subject(issuer, subject).await? else { return Ok(None) };
        let mut orgs = self.memberships_of(&person.id).await?;
        Ok(if orgs.len() == 1 { orgs.pop().map(|membership| membership.org) } else { None })
    }
}

/// A token that is good by itself and proves no caller here; the log alone is told why.
fn refused(cause: &'static str) -> Option<Arc<Caller>> {
    tracing::info!(cause, "an access token is refused");
    None
}
