//! Whose account a sign-in at a provider is: by issuer and subject alone, never by an email.

use super::{Trouble, Upstream, Whose};
use crate::config::{self, Members};
use crate::identity::sign_in::actor;
use crate::identity::sign_in::sessions::Browser;
use crate::identity::tokens::Claims;
use crate::identity::{Identity, Person, people};

/// Whose account it is.
pub(super) enum Found {
    /// Theirs; and the one org the session is for, where there is one alone.
    Here(Person, Option<String>),
    /// Somebody's with this verified email, who has to show that it is theirs.
    Elsewhere(Person),
}

impl Identity {
    /// The account of whoever `claims` are of; `wanted` is the person whose sign-in is repeated.
    pub(super) async fn found_at(
        &self,
        upstream: &Upstream,
        claims: &Claims,
        wanted: Option<&str>,
        browser: &Browser,
    ) -> Result<Found, Trouble> {
        match &upstream.whose {
            Whose::Issuer(external) => self.found_by_issuer(external, claims, browser).await,
            Whose::Provider(door) => {
                if let Some(person) = self.person_of_subject(&claims.issuer, &claims.subject).await? {
                    return active(person).map(|person| Found::Here(person, None));
                }
                let email = verified(claims).ok_or(Trouble::Unverified)?;
                match self.person_of_email(&email).await? {
                    Some(person) => active(person).map(Found::Elsewhere),
                    // Who is to show that it is still them does not become somebody new.
                    None if wanted.is_some() => Err(Trouble::OtherPerson),
                    None => {
                        let person = self.make_newcomer(door, claims, email, browser).await?;
                        Ok(Found::Here(person, None))
                    }
                }
            }
        }
    }

    /// By the rules of the issuer outside (`identity.md` 6.2): its people are written down at first sight.
    async fn found_by_issuer(
        &self,
        external: &config::Issuer,
        claims: &Claims,
        browser: &Browser,
    ) -> Result<Found, Trouble> {
        let person = self.seen(external, claims).await?.ok_or(Trouble::NotInvited)?;
        let person = active(person)?;
        match external.members {
            Members::Claims => match &claims.org {
                Some(org) => Ok(Found::Here(person, Some(org.clone()))),
                None if self.memberships_of(&person.id).await?.is_empty() => Err(Trouble::NotInvited),
                None => Ok(Found::Here(person, None)),
            },
            Members::Invited => {
                // Whom nobody invited yet is let in all the same: they may have been given the code of an invitation.
                if let Some(email) = verified(claims).filter(|email| person.email.as_ref() == Some(email)) {
                    self.accept_open_invitations(&person, &email, browser.acting(actor(&person))).await?;
                }
                Ok(Found::Here(person, None))
            }
        }
    }
}

fn active(person: Person) -> Result<Person, Trouble> {
    if person.is_active() { Ok(person) } else { Err(Trouble::Stopped) }
}

/// The email the issuer says is the person's own, as it is kept.
fn verified(claims: &Claims) -> Option<String> {
    claims.email.as_deref().filter(|_| claims.email_verified).and_then(people::email)
}
