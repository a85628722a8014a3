//! Passkeys of people: added, used to sign in, taken away (`identity.md` 8.2). What an authenticator says is checked by
//! [`super::webauthn`]; each challenge is kept here, for five minutes and one use.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::sessions::{self, Browser, Method, Opened, Session};
use super::webauthn::{self, Assertion, Fault, Key, NewKey, Party};
use super::{SERVER, actor};
use crate::digest::sha256_hex;
use crate::error::{Problem, Reason, Result};
use crate::identity::{Identity, Person};
use crate::ledger::{self, Event};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// The most passkeys of a person.
pub const MOST: usize = 10;
/// How long a challenge may be answered, in milliseconds.
pub const CHALLENGE_MS: i64 = 5 * 60 * 1_000;

const ADD: &str = "passkey_add";
const ENTER: &str = "passkey_sign_in";
const OF_PERSON: &str = "SELECT id, person, name, public_key, counter, created_at, last_used_at FROM passkeys \
     WHERE person = $1 ORDER BY created_at, id LIMIT 10";
const ONE: &str = "SELECT id, person, name, public_key, counter, created_at, last_used_at FROM passkeys WHERE id = $1";
pub(super) const INSERT: &str = "INSERT INTO passkeys (id, person, name, public_key, counter, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
const COUNT: &str = "SELECT COUNT(*) FROM passkeys WHERE person = $1";
const USED: &str = "UPDATE passkeys SET counter = $2, last_used_at = $3 WHERE id = $1 AND (counter < $2 OR $2 = 0)";
const REMOVE: &str = "DELETE FROM passkeys WHERE id = $1 AND person = $2";
const REMOVE_ALL: &str = "DELETE FROM passkeys WHERE person = $1";
const ASK: &str = "INSERT INTO sign_in_attempts (digest, kind, person, data, expires_at) VALUES ($1, $2, $3, '', $4)";
const ANSWER: &str = "DELETE FROM sign_in_attempts WHERE digest = $1 AND kind = $2 AND COALESCE(person, '') = $3 \
     AND expires_at > $4";
const SWEEP: &str = "DELETE FROM sign_in_attempts WHERE expires_at <= $1";

/// A passkey as it is kept.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Passkey {
    /// The id of the credential, in base64url.
    pub id: String,
    /// Whose it is.
    pub person: String,
    /// What they call it.
    pub name: String,
    public_key: String,
    counter: i64,
    /// When it was added, in milliseconds since the epoch.
    pub created_at: i64,
    /// When it last signed in.
    pub last_used_at: Option<i64>,
}

impl Passkey {
    fn key(&self) -> Key {
        let (algorithm, key) = self.public_key.split_once(':').unwrap_or_default();
        Key { algorithm: algorithm.parse().unwrap_or_default(), public_key: key.to_owned(), counter: self.counter }
    }
}

/// One answer for every passkey that is not taken.
fn not_taken() -> Problem {
    Problem::forbidden("This passkey is not taken here. Try another one, or sign in with your password.")
        .challenge(None)
}

impl Identity {
    /// A challenge for adding a passkey (to `person`) or for signing in, as it goes to the browser.
    pub async fn passkey_challenge(&self, person: Option<&str>) -> Result<String> {
        let challenge = URL_SAFE_NO_PAD.encode(self.ids.bytes::<32>());
        let (digest, ends) = (sha256_hex(&challenge), self.clock.now_ms() + CHALLENGE_MS);
        let (kind, person) = (if person.is_some() { ADD } else { ENTER }, person.map(str::to_owned));
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(ASK)
                    .bind(&digest).bind(kind).bind(&person).bind(ends).execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.ledger.store().housekeeping(SERVER, "a challenge is nothing to tell", work).await?;
        Ok(challenge)
    }

    /// Spends a challenge; whether it still counted.
    async fn spend_challenge(&self, challenge: &str, kind: &'static str, person: &str) -> Result<bool> {
        let (digest, now, person) = (sha256_hex(challenge), self.clock.now_ms(), person.to_owned());
        let work: crate::store::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(ANSWER)
                    .bind(&digest).bind(kind).bind(&person).bind(now)
                    .execute(c).await.map(|done| done.rows_affected()))?;
                Ok(rows == 1)
            })
        });
        self.ledger.store().housekeeping(SERVER, "a challenge is nothing to tell", work).await
    }

    /// The passkeys of a person, the oldest first.
    pub async fn passkeys_of(&self, person: &str) -> Result<Vec<Passkey>> {
        Ok(on_pool!(self.ledger.store(), pool => sqlx::query_as(OF_PERSON).bind(person).fetch_all(pool).await)?)
    }

    /// Adds a passkey to a person.
    ///
    /// # Errors
    /// 422 when it is not taken or has no name, 409 kind `passkeys_full`.
    pub async fn add_passkey(&self, party: &Party, person: &Person, new: &NewKey) -> Result<()> {
        let refused = |_: Fault| Problem::invalid("/id", "was not made for this page just now: try again");
        let name = crate::identity::people::name(&new.name)
            .ok_or_else(|| Problem::invalid("/name", "must be 1 to 100 characters"))?;
        let challenge = webauthn::challenge(party, &new.client_data, "webauthn.create").map_err(refused)?;
        if !self.spend_challenge(&challenge, ADD, &person.id).await? {
            return Err(refused(Fault::Elsewhere));
        }
        let key = webauthn::new_key(party, new).map_err(refused)?;
        let kept = format!("{}:{}", key.algorithm, key.public_key);
        let (id, who, now) = (new.id.clone(), person.clone(), self.clock.now_ms());
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                let (count,): (i64,) = on_connection!(connection, c => sqlx::query_as(COUNT)
                    .bind(&who.id).fetch_one(c).await)?;
                if usize::try_from(count).unwrap_or(MOST) >= MOST {
                    let words = "You have ten passkeys, the most there may be. Take one away first.";
                    return Err(Problem::conflict("passkeys_full", words));
                }
                let rows = on_connection!(connection, c => sqlx::query(INSERT)
                    .bind(&id).bind(&who.id).bind(&name).bind(&kept).bind(key.counter).bind(now)
                    .execute(c).await.map(|done| done.rows_affected()))?;
                if rows == 0 {
                    return Err(Problem::new(Reason::Conflict, "This passkey has been added already."));
                }
                let stream = format!("people/{}", who.id);
                let data = json!({ "name": name });
                Ok(ledger::Changed::by((), Event::audit(stream, "passkey_added", actor(&who), data)))
            })
        });
        self.ledger.commit(SERVER, work).await
    }

    /// Takes a passkey of a person away; whether there was one.
    pub async fn remove_passkey(&self, person: &Person, id: &str) -> Result<bool> {
        let (id, who) = (id.to_owned(), person.clone());
        let work: ledger::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(REMOVE)
                    .bind(&id).bind(&who.id).execute(c).await.map(|done| done.rows_affected()))?;
                if rows == 0 {
                    return Ok(ledger::Changed::nothing(false));
                }
                let stream = format!("people/{}", who.id);
                Ok(ledger::Changed::by(true, Event::audit(stream, "passkey_removed", actor(&who), json!({}))))
            })
        });
        self.ledger.commit(SERVER, work).await
    }

    /// Signs in whoever's passkey answered a challenge; `before` is the session the new one replaces.
    ///
    /// # Errors
    /// 403, one answer for whatever is wrong with it.
    pub async fn sign_in_with_passkey(
        &self,
        party: &Party,
        assertion: &Assertion,
        browser: &Browser,
        before: Option<&Session>,
    ) -> Result<(Person, Opened)> {
        let challenge = webauthn::challenge(party, &assertion.client_data, "webauthn.get").map_err(|_| not_taken())?;
        if !self.spend_challenge(&challenge, ENTER, "").await? {
            return Err(not_taken());
        }
        let found: Option<Passkey> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ONE)
            .bind(&assertion.id).fetch_optional(pool).await)?;
        let Some(passkey) = found else { return Err(not_taken()) };
        let handle = assertion.user_handle.as_ref().filter(|handle| !handle.is_empty());
        let theirs = handle.is_none_or(|handle| *handle == URL_SAFE_NO_PAD.encode(&passkey.person));
        let person = self.person(&passkey.person).await?.filter(|person| theirs && person.is_active());
        let Some(person) = person else { return Err(not_taken()) };
        let email = person.email.clone().unwrap_or_default();
        match webauthn::check(party, &passkey.key(), assertion) {
            Ok(counter) => {
                let opened = self.opened_with(&person, &passkey, counter, assertion.remember, browser, before).await?;
                opened.map(|opened| (person, opened)).ok_or_else(not_taken)
            }
            Err(fault) => {
                tracing::warn!(?fault, person.id = person.id, "a passkey was refused");
                self.sign_in_failed(&email, Method::Passkey, browser).await?;
                Err(not_taken())
            }
        }
    }

    async fn opened_with(
        &self,
        person: &Person,
        passkey: &Passkey,
        counter: i64,
        remembered: bool,
        browser: &Browser,
        before: Option<&Session>,
    ) -> Result<Option<Opened>> {
        let opened = self.new_session(&person.id, Method::Passkey, remembered, browser);
        let (id, session, key) = (opened.id.clone(), opened.session.clone(), passkey.id.clone());
        let before = before.cloned();
        let event = sessions::signed_in(person, Method::Passkey, &session);
        let work: ledger::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                // The same count twice is a copy that was quicker.
                if !used(connection, &key, counter, session.created_at_ms).await? {
                    return Ok(ledger::Changed::nothing(false));
                }
                sessions::open(connection, &id, &session, before.as_ref()).await?;
                Ok(ledger::Changed::by(true, event))
            })
        });
        Ok(self.ledger.commit(SERVER, work).await?.then_some(opened))
    }

    /// Forgets challenges nobody answered.
    pub async fn sweep_attempts(&self) -> Result<u64> {
        let now = self.clock.now_ms();
        let work: crate::store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(SWEEP)
                    .bind(now).execute(c).await.map(|done| done.rows_affected()))?;
                Ok(rows)
            })
        });
        self.ledger.store().housekeeping(SERVER, "challenges that ended", work).await
    }
}

/// Takes every passkey of a person away, inside a commit; how many there were.
pub(super) async fn remove_all(connection: &mut Connection, person: &str) -> Result<u64> {
    Ok(on_connection!(connection, c => sqlx::query(REMOVE_ALL)
        .bind(person).execute(c).await.map(|done| done.rows_affected()))?)
}

async fn used(connection: &mut Connection, id: &str, counter: i64, now: i64) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(USED)
        .bind(id).bind(counter).bind(now).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}
