//! Signing in with a password, making an account, and setting another password (`identity.md` 8.2 and 8.4).

use std::sync::Arc;

use serde_json::json;

use super::codes;
use super::first_proof::FirstProof;
use super::passwords::{self, Password};
use super::sessions::{self, Browser, Method, Opened, Session};
use super::throttle::{self, Subject};
use super::{SERVER, actor};
use crate::digest::sha256_hex;
use crate::error::{Problem, Reason, Result};
use crate::identity::invitations::Invitation;
use crate::identity::invitations::accepting::{Proof, accept};
use crate::identity::{Changed, Identity, Person, people};
use crate::ledger::{self, Actor, Event, Origin};
use crate::store::Connection;

/// Somebody at the page of sign-in.
pub struct Attempt<'a> {
    /// The email they gave, as it is kept.
    pub email: &'a str,
    /// What they typed.
    pub password: Password,
    /// Their browser.
    pub browser: &'a Browser,
    /// The name of the browser's device cookie, where somebody signed in to this account with it before.
    pub device: Option<&'a str>,
    /// Whether the browser keeps the session after it was closed.
    pub remembered: bool,
}

/// An account about to be made.
pub struct Account {
    /// The name.
    pub name: String,
    /// The email, as [`people::email`] gives it.
    pub email: String,
    /// What proves the person.
    pub proof: FirstProof,
}

/// 422: one answer for an unknown email and a wrong password.
pub fn wrong() -> Problem {
    Problem::new(Reason::Forbidden, "The email or the password is not right.")
}

impl Identity {
    /// Signs somebody in with email and password; `before` is the session the new one replaces.
    ///
    /// # Errors
    /// [`wrong`], 429 after too many failures, 503 when too many sign in at once.
    pub async fn sign_in_with_password(
        &self,
        attempt: Attempt<'_>,
        before: Option<&Session>,
    ) -> Result<(Person, Opened)> {
        let account = match attempt.device {
            Some(device) => Subject::of("device", &format!("{device}\n{}", attempt.email)),
            None => Subject::of("account", attempt.email),
        };
        let address = attempt.device.is_none().then(|| Subject::of("address", &attempt.browser.address));
        self.count_try(account.clone(), address).await?;
        let person = self.person_of_email(attempt.email).await?;
        let phc = match &person {
            Some(person) => self.password_of(&person.id).await?,
            None => None,
        };
        let outdated = phc.as_deref().is_some_and(passwords::is_outdated);
        let typed = if outdated { Some(attempt.password.again()) } else { None };
        let right = self.hasher.verify(attempt.password, phc).await?;
        let Some(person) = person.filter(|person| right && person.is_active()) else {
            self.sign_in_failed(attempt.email, Method::Password, attempt.browser).await?;
            return Err(wrong());
        };
        let hash = match typed {
            Some(password) => Some(self.hashed(password).await?),
            None => None,
        };
        let opened = self.opened(&person, account, hash, &attempt.browser.clone(), attempt.remembered, before).await?;
        Ok((person, opened))
    }

    async fn opened(
        &self,
        person: &Person,
        account: Subject,
        hash: Option<String>,
        browser: &Browser,
        remembered: bool,
        before: Option<&Session>,
    ) -> Result<Opened> {
        let opened = self.new_session(&person.id, Method::Password, remembered, browser);
        let (id, session) = (opened.id.clone(), opened.session.clone());
        let before = before.cloned();
        let event = sessions::signed_in(person, Method::Password, &session);
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                throttle::clear(connection, &account).await?;
                if let Some(hash) = hash {
                    passwords::put(connection, &session.person, &hash, session.created_at_ms).await?;
                }
                sessions::open(connection, &id, &session, before.as_ref()).await?;
                Ok(ledger::Changed::by((), event))
            })
        });
        self.ledger.commit(SERVER, work).await?;
        Ok(opened)
    }

    /// Records that somebody was not let in; the email is told as its digest, since it may be anybody's.
    pub async fn sign_in_failed(&self, email: &str, method: Method, browser: &Browser) -> Result<()> {
        let nobody = browser.acting(Actor::new("system", "system", "Somebody unknown"));
        let data = json!({
            "email_sha256": sha256_hex(email),
            "method": method.word(),
            "result": "refused",
        });
        let event = Event::audit("sign-in", "sign_in_failed", nobody, data);
        let work: ledger::Work<()> = Box::new(move |_| Box::pin(async move { Ok(ledger::Changed::by((), event)) }));
        self.ledger.commit(SERVER, work).await
    }

    /// Makes an account for somebody who came by themselves; their email is not verified yet.
    ///
    /// # Errors
    /// 409 kind `taken` when the email has an account.
    pub async fn sign_up(&self, account: Account) -> Result<Person> {
        let person = self.new_person(&account, None);
        let made = person.clone();
        let work: crate::store::Work<()> =
            Box::new(move |connection| Box::pin(async move { make(connection, &made, &account.proof).await }));
        self.ledger.store().housekeeping(SERVER, "an account is told by its first sign-in", work).await?;
        self.forget(Changed::Person(&person.id));
        Ok(person)
    }

    /// Makes an account for somebody who was invited, and lets them into the org, both or neither; the code of the
    /// invitation proves their email where it can. They act through a request of `origin`.
    ///
    /// # Errors
    /// 409 kind `taken` when the email has an account, and as [`Identity::accept_invitation`].
    pub async fn sign_up_invited(
        &self,
        account: Account,
        invitation: Invitation,
        proof: Proof,
        origin: Arc<Origin>,
    ) -> Result<Person> {
        let now = self.clock.now_ms();
        let person = self.new_person(&account, invitation.proves_address(proof).then_some(now));
        let (made, org) = (person.clone(), invitation.org.clone());
        let who = actor(&person).from(origin);
        // In the org's own commit, which the server's book has no event in.
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                make(connection, &made, &account.proof).await?;
                let (_, joined) = accept(connection, &invitation, &made, who, proof, now).await?;
                Ok(ledger::Changed::by((), joined))
            })
        });
        self.ledger.commit(&org, work).await?;
        self.forget(Changed::Person(&person.id));
        self.forget(Changed::Membership(&org, &person.id));
        Ok(person)
    }

    fn new_person(&self, account: &Account, verified_at_ms: Option<i64>) -> Person {
        let now = self.clock.now_ms();
        Person {
            id: account.proof.person().map_or_else(|| self.ids.person(), str::to_owned),
            name: account.name.clone(),
            email: Some(account.email.clone()),
            email_verified_at_ms: verified_at_ms,
            status: people::Status::Active,
            created_at_ms: now,
            refreshed_at_ms: now,
        }
    }

    /// Sets another password for a person in `session`, which gets a new id; their other sessions end, and so do links that
    /// were sent for the account.
    pub async fn change_password(&self, person: &Person, phc: String, session: &Session) -> Result<Opened> {
        let mut opened = self.new_session(&person.id, Method::Password, session.remembered, &session.browser());
        opened.session.expires_at_ms = session.expires_at_ms;
        let (id, next, who) = (opened.id.clone(), opened.session.clone(), person.clone());
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                passwords::put(connection, &who.id, &phc, next.created_at_ms).await?;
                codes::void_all(connection, &who.id).await?;
                let ended = sessions::end_all(connection, &who.id, None).await?;
                sessions::open(connection, &id, &next, None).await?;
                let stream = format!("people/{}", who.id);
                let data = json!({ "sessions": ended.saturating_sub(1) });
                Ok(ledger::Changed::by((), Event::audit(stream, "password_changed", actor(&who), data)))
            })
        });
        self.ledger.commit(SERVER, work).await?;
        Ok(opened)
    }
}

async fn make(connection: &mut Connection, person: &Person, proof: &FirstProof) -> Result<()> {
    people::insert(connection, person).await?;
    proof.keep(connection, &person.id, person.created_at_ms).await
}
