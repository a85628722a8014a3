//! A browser is back from a provider: whether it is the one that left, who it brings, and their session.

use serde_json::json;

use super::attempts::{Away, Kept, Kind, Trip, is_secret};
use super::people::Found;
use super::{Trouble, Upstream};
use crate::digest::sha256_hex;
use crate::identity::sign_in::SERVER;
use crate::identity::sign_in::sessions::{self, Browser, Method, Opened, Session};
use crate::identity::tokens::Claims;
use crate::identity::{Identity, Person};
use crate::ledger::{self, Actor, Event};

/// What a browser brought back, as it was sent.
#[derive(Debug, Default)]
pub struct Returned {
    /// Which attempt it answers.
    pub state: Option<String>,
    /// What becomes a token.
    pub code: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
    /// Who answers (RFC 9207).
    pub issuer: Option<String>,
}

/// Where a browser goes that came back well.
pub enum Arrival {
    /// To where it wanted: somebody is signed in.
    SignedIn(Box<(Person, Opened)>),
    /// To the page that asks for the account's own sign-in; the secret its cookie holds until then.
    Link(String),
}

impl Identity {
    /// Signs in whoever `returned` proves. `held` is the secret of the browser's cookie, `before` the session it has,
    /// `back` the path its person wanted.
    ///
    /// # Errors
    /// Every [`Trouble`]; the attempt is spent with each.
    pub async fn arrive(
        &self,
        upstream: &Upstream,
        (redirect, back): (&str, Option<String>),
        returned: &Returned,
        held: Option<&str>,
        (browser, before): (&Browser, Option<&Session>),
    ) -> Result<Arrival, Trouble> {
        let (Some(state), Some(held)) = (returned.state.as_deref(), held) else {
            self.spend(returned.state.as_deref()).await?;
            return Err(Trouble::Attempt);
        };
        let away = self.spend(Some(state)).await?.ok_or(Trouble::Attempt)?;
        let at_home = away.lives(self.now_ms())
            && away.data.provider == upstream.name
            && is_secret(held)
            && away.data.browser == sha256_hex(held)
            && (away.person.is_none() || before.is_none_or(|before| away.person.as_ref() == Some(&before.person)));
        if !at_home {
            return Err(Trouble::Attempt);
        }
        let trip = Trip { browser: held, state };
        let arrived = self.identified(upstream, redirect, returned, &trip, &away, browser).await;
        let arrived = match arrived {
            Ok((claims, Found::Here(person, org))) => {
                let opened = self.entered(upstream, &claims, &person, org, browser, before).await?;
                Ok(Arrival::SignedIn(Box::new((person, opened))))
            }
            Ok((claims, Found::Elsewhere(person))) => {
                Ok(Arrival::Link(self.keep_link(upstream, &claims, &person, back).await?))
            }
            Err(trouble) => Err(trouble),
        };
        if let Err(trouble) = &arrived {
            self.not_let_in(upstream, trouble, browser).await?;
        }
        arrived
    }

    async fn spend(&self, state: Option<&str>) -> Result<Option<Kept<Away>>, Trouble> {
        match state.filter(|state| is_secret(state)) {
            Some(state) => Ok(self.take_attempt(Kind::Away, state).await?),
            None => Ok(None),
        }
    }

    async fn identified(
        &self,
        upstream: &Upstream,
        redirect: &str,
        returned: &Returned,
        trip: &Trip<'_>,
        away: &Kept<Away>,
        browser: &Browser,
    ) -> Result<(std::sync::Arc<Claims>, Found), Trouble> {
        let code = upstream.code(returned).await?;
        let anew = away.person.as_ref().map(|_| away.data.since_ms);
        let claims = upstream.told(code, redirect, trip, anew).await?;
        let found = self.found_at(upstream, &claims, away.person.as_deref(), browser).await?;
        let (Found::Here(person, _) | Found::Elsewhere(person)) = &found;
        if away.person.as_ref().is_some_and(|wanted| *wanted != person.id) {
            return Err(Trouble::OtherPerson);
        }
        Ok((claims, found))
    }

    /// Opens the session of somebody who signed in at `upstream`; for one org alone where the issuer's word makes them its
    /// member.
    async fn entered(
        &self,
        upstream: &Upstream,
        claims: &Claims,
        person: &Person,
        org: Option<String>,
        browser: &Browser,
        before: Option<&Session>,
    ) -> Result<Opened, Trouble> {
        let remembered = before.is_some_and(|before| before.remembered);
        let mut opened = self.new_session(&person.id, Method::Upstream, remembered, browser);
        // Who was signed in there for long has not just shown who they are.
        let proved_at = claims.auth_time_ms.unwrap_or(opened.session.auth_time_ms);
        opened.session.auth_time_ms = proved_at.min(opened.session.auth_time_ms);
        opened.session.upstream = Some(upstream.name.clone());
        opened.session.org = org;
        let (id, session) = (opened.id.clone(), opened.session.clone());
        let before = before.cloned();
        let event = sessions::signed_in(person, Method::Upstream, &session);
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                sessions::open(connection, &id, &session, before.as_ref()).await?;
                Ok(ledger::Changed::by((), event))
            })
        });
        self.ledger().commit(SERVER, work).await?;
        Ok(opened)
    }

    async fn not_let_in(&self, upstream: &Upstream, trouble: &Trouble, browser: &Browser) -> Result<(), Trouble> {
        let nobody = browser.acting(Actor::new("system", "system", "Somebody unknown"));
        let data = json!({
            "method": Method::Upstream.word(),
            "provider": upstream.name,
            "result": "refused",
            "reason": trouble.word(),
        });
        let event = Event::audit("sign-in", "sign_in_failed", nobody, data);
        let work: ledger::Work<()> = Box::new(move |_| Box::pin(async move { Ok(ledger::Changed::by((), event)) }));
        Ok(self.ledger().commit(SERVER, work).await?)
    }
}

impl Upstream {
    /// The code of an answer, which must be of the very issuer that was asked (RFC 9207, section 2.4).
    async fn code<'r>(&self, returned: &'r Returned) -> Result<&'r str, Trouble> {
        let metadata = self.tokens.published().discovery().metadata().await.ok_or(Trouble::Unanswered)?;
        let named = match &returned.issuer {
            Some(issuer) => *issuer == self.issuer,
            None => !metadata.authorization_response_iss_parameter_supported,
        };
        if !named {
            tracing::warn!(provider = self.name, "an answer is not of the issuer that was asked");
            return Err(Trouble::Untrusted);
        }
        match (&returned.error, &returned.code) {
            (Some(error), _) if error == "access_denied" => Err(Trouble::Denied),
            (Some(_), _) | (None, None) => {
                tracing::warn!(provider = self.name, "the provider signed nobody in");
                Err(Trouble::Unanswered)
            }
            (None, Some(code)) => Ok(code),
        }
    }
}
