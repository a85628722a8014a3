//! Setting a password with a link: whoever forgot theirs, or fears that somebody else knows it (`identity.md` 8.4).

use serde_json::json;

use super::codes::{self, Kind};
use super::throttle::{self, MAIL_ACCOUNT, MAIL_ADDRESS, Subject};
use super::{SERVER, actor, passkeys, passwords, sessions};
use crate::error::{Problem, Result};
use crate::identity::keys::{self, Key};
use crate::identity::members::ended::TOKENS_END_MS;
use crate::identity::oauth::grants::{Because, revoke_grants_in};
use crate::identity::{Identity, Person};
use crate::ids::Ids;
use crate::ledger::{self, Event};
use crate::on_connection;
use crate::store::{self, Connection};

const ORGS_OF: &str = "SELECT org FROM memberships WHERE person = $1 ORDER BY org";

impl Identity {
    /// A code that lets the person of `email` set a password, asked for from `address`; none where nobody has that email,
    /// which the page does not tell.
    pub async fn ask_for_reset(&self, email: &str, address: &str) -> Result<Option<(Person, String)>> {
        self.count_in(vec![
            (Subject::of("mail-address", address), MAIL_ADDRESS),
            (Subject::of("mail", email), MAIL_ACCOUNT),
        ])
        .await?;
        let Some(person) = self.person_of_email(email).await?.filter(Person::is_active) else { return Ok(None) };
        let code = self.reset_code(&person).await?;
        Ok(Some((person, code)))
    }

    /// A code that lets a person set a password; the last one counts.
    pub async fn reset_code(&self, person: &Person) -> Result<String> {
        let (code, now) = (codes::for_link(&self.ids), self.clock.now_ms());
        let (kept, id) = (code.clone(), person.id.clone());
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move { codes::issue(connection, Kind::Reset, &kept, Some(&id), None, now).await })
        });
        self.ledger.store().housekeeping(SERVER, "a code is told once it was used", work).await?;
        Ok(code)
    }

    /// Whose password a code of a reset sets; none for one that no longer counts.
    pub async fn person_of_reset(&self, code: &str) -> Result<Option<Person>> {
        let (code, now) = (code.to_owned(), self.clock.now_ms());
        let work: crate::store::Work<Option<String>> = Box::new(move |connection| {
            Box::pin(
                async move { Ok(codes::find(connection, Kind::Reset, &code, now).await?.and_then(|code| code.person)) },
            )
        });
        let person = self.ledger.store().housekeeping(SERVER, "a code is looked at", work).await?;
        match person {
            Some(person) => Ok(self.person(&person).await?.filter(Person::is_active)),
            None => Ok(None),
        }
    }

    /// Sets a password with the code of a reset, which is spent; ends every session of the person and every other link that
    /// was sent for the account. With `withdraw`, what they allowed applications, their own keys and their passkeys end in
    /// the same commit, in every org. Passkeys also end where nobody has proved the email yet: whoever made the account may
    /// have been somebody else. How many passkeys did is told beside the person.
    ///
    /// # Errors
    /// 404 when the code no longer counts.
    pub async fn reset_password(&self, code: &str, phc: String, withdraw: bool) -> Result<(Person, u64)> {
        let gone = || Problem::not_found("This link no longer works. Ask for a new one.");
        let person = self.person_of_reset(code).await?.ok_or_else(gone)?;
        let (code, now, who) = (code.to_owned(), self.clock.now_ms(), person.clone());
        let email = person.email.clone().unwrap_or_default();
        let ids = self.ids.clone();
        let work: ledger::Work<(Vec<Key>, u64)> = Box::new(move |connection| {
            Box::pin(async move {
                if !codes::spend(connection, Kind::Reset, &code, now).await? {
                    return Err(gone());
                }
                passwords::put(connection, &who.id, &phc, now).await?;
                codes::void_all(connection, &who.id).await?;
                throttle::clear(connection, &Subject::of("account", &email)).await?;
                let ended = sessions::end_all(connection, &who.id, None).await?;
                let mut data = json!({ "sessions": ended });
                let (mut keys, mut passkeys) = (Vec::new(), 0);
                if withdraw || who.email_verified_at_ms.is_none() {
                    passkeys = passkeys::remove_all(connection, &who.id).await?;
                    data["passkeys"] = passkeys.into();
                }
                if withdraw {
                    let count;
                    (keys, count) = withdrawn(connection, &who, now, &ids).await?;
                    data["keys"] = keys.len().into();
                    data["grants"] = count.into();
                }
                let event = Event::audit(format!("people/{}", who.id), "password_reset", actor(&who), data);
                Ok(ledger::Changed::by((keys, passkeys), event))
            })
        });
        let (keys, passkeys) = self.ledger.commit(SERVER, work).await?;
        keys.iter().for_each(|key| self.forget_key(key));
        Ok((person, passkeys))
    }
}

/// Ends the keys and grants of a person in every org, each told in the org's own audit; the keys, and how many grants.
async fn withdrawn(connection: &mut Connection, who: &Person, now: i64, ids: &Ids) -> Result<(Vec<Key>, usize)> {
    let orgs: Vec<(String,)> =
        on_connection!(connection, c => sqlx::query_as(ORGS_OF).bind(&who.id).fetch_all(c).await)?;
    let (mut keys, mut grants) = (Vec::new(), 0);
    for (org,) in orgs {
        // Before any row of the org: a commit of the org itself takes them in this order too.
        store::lock(connection, &org).await?;
        keys.extend(keys::of_person(connection, &org, &who.id).await?);
        let actor = actor(who);
        let mut events = keys::revoke_of_person(connection, &org, &who.id, now, &actor, "password_reset").await?;
        let until = now + TOKENS_END_MS;
        let because = Because::PasswordReset;
        let revoked = revoke_grants_in(connection, &org, &who.id, &actor, because, (now, until)).await?;
        grants += revoked.len();
        events.extend(revoked);
        ledger::also(connection, &org, (now, ids), events).await?;
    }
    Ok((keys, grants))
}
