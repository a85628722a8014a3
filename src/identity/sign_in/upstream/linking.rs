//! A provider brings somebody whose verified email has an account here: once they have signed in to that account by its own
//! means, the provider signs them in too.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::attempts::{Kind, SECRET_LENGTH, is_secret, take};
use super::{Trouble, Upstream};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::identity::sign_in::sessions::Session;
use crate::identity::sign_in::{SERVER, actor};
use crate::identity::tokens::Claims;
use crate::identity::{Changed as Row, Identity, Person, people};
use crate::ledger::{self, Changed, Event};

/// How long an account waits for its person, in milliseconds.
pub const WAITS_MS: i64 = 15 * 60 * 1_000;

/// What is kept meanwhile.
#[derive(Debug, Serialize, Deserialize)]
struct Link {
    provider: String,
    issuer: String,
    subject: String,
    since_ms: i64,
    back: Option<String>,
}

/// An account that waits for its person.
#[derive(Debug)]
pub struct Pending {
    /// Whose it is.
    pub person: Person,
    /// Where they wanted to go.
    pub back: Option<String>,
    issuer: String,
    subject: String,
    since_ms: i64,
}

impl Pending {
    /// Whether `session` is one its person began since.
    pub fn is_shown_by(&self, session: &Session) -> bool {
        session.person == self.person.id && session.created_at_ms >= self.since_ms
    }
}

impl Identity {
    /// Keeps what `claims` prove until `person` has signed in to their account; the secret of the browser's cookie.
    pub(super) async fn keep_link(
        &self,
        upstream: &Upstream,
        claims: &Claims,
        person: &Person,
        back: Option<String>,
    ) -> Result<String> {
        let (secret, now) = (self.ids().base62("", SECRET_LENGTH), self.now_ms());
        let link = Link {
            provider: upstream.name.clone(),
            issuer: claims.issuer.clone(),
            subject: claims.subject.clone(),
            since_ms: now,
            back,
        };
        self.keep_attempt(Kind::Linking, &secret, Some(person.id.clone()), &link, now + WAITS_MS).await?;
        Ok(secret)
    }

    /// The account that waits for whoever holds `secret`.
    ///
    /// # Errors
    /// [`Trouble::Attempt`] when none does any longer.
    pub async fn pending_link(&self, upstream: &Upstream, secret: Option<&str>) -> Result<Pending, Trouble> {
        let secret = secret.filter(|secret| is_secret(secret)).ok_or(Trouble::Attempt)?;
        let kept = self.look_at_attempt::<Link>(Kind::Linking, secret).await?.ok_or(Trouble::Attempt)?;
        if !kept.lives(self.now_ms()) || kept.data.provider != upstream.name {
            return Err(Trouble::Attempt);
        }
        let person = self.person(kept.person.as_deref().unwrap_or_default()).await?.ok_or(Trouble::Attempt)?;
        let Link { issuer, subject, since_ms, back, .. } = kept.data;
        if person.is_active() { Ok(Pending { person, back, issuer, subject, since_ms }) } else { Err(Trouble::Stopped) }
    }

    /// Lets the provider sign the person in from now on; `secret` is spent.
    ///
    /// # Errors
    /// [`Trouble::Attempt`] when it was spent meanwhile, [`Trouble::OtherPerson`] when `session` is not a new one of the
    /// account's person.
    pub async fn link_account(&self, pending: &Pending, secret: &str, session: &Session) -> Result<(), Trouble> {
        if !pending.is_shown_by(session) {
            return Err(Trouble::OtherPerson);
        }
        let (digest, now) = (sha256_hex(secret), self.now_ms());
        let (issuer, subject, person) = (pending.issuer.clone(), pending.subject.clone(), pending.person.clone());
        let who = session.browser().acting(actor(&person));
        let work: ledger::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                let spent = take(connection, Kind::Linking, &digest).await?.is_some();
                if !spent || people::of_subject(connection, &issuer, &subject).await?.is_some() {
                    return Ok(Changed::nothing(false));
                }
                people::link(connection, &issuer, &subject, &person.id, now).await?;
                let facts = json!({ "person": person.id, "issuer": issuer });
                let stream = format!("people/{}", person.id);
                Ok(Changed::by(true, Event::audit(stream, "identity_linked", who, facts)))
            })
        });
        let linked = self.ledger().commit(SERVER, work).await?;
        self.forget(Row::Subject(&pending.issuer, &pending.subject));
        if linked { Ok(()) } else { Err(Trouble::Attempt) }
    }
}
