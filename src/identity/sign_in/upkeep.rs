//! What a person or the operator changes about an account: its name, whether it can be used; and the proof of a password
//! that opens no session.

use serde_json::json;

use super::SERVER;
use super::passwords::Password;
use super::throttle::{self, Subject};
use crate::error::{Problem, Result};
use crate::identity::people::Status;
use crate::identity::{Changed, Identity, Person};
use crate::ledger::{self, Actor, Event};
use crate::{on_connection, on_pool};

const RENAME: &str = "UPDATE people SET name = $2 WHERE id = $1";
const SET_STATUS: &str = "UPDATE people SET status = $2 WHERE id = $1 AND status <> 'deleted'";
const EVERY: &str = "SELECT id FROM people ORDER BY created_at, id LIMIT 10000";

impl Identity {
    /// Gives a person another name.
    pub async fn rename_person(&self, person: &Person, name: &str) -> Result<()> {
        let (id, name) = (person.id.clone(), name.to_owned());
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(RENAME)
                    .bind(&id).bind(&name).execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.ledger.store().housekeeping(SERVER, "a person's own name is no event", work).await?;
        self.forget(Changed::Person(&person.id));
        Ok(())
    }

    /// Whether the password of a person is this one; guesses are counted as at the sign-in.
    ///
    /// # Errors
    /// 422 at `/current` when it is not, 429 after too many guesses.
    pub async fn check_password(&self, person: &Person, email: &str, password: Password, address: &str) -> Result<()> {
        let account = Subject::of("account", email);
        self.count_try(account.clone(), Some(Subject::of("address", address))).await?;
        let phc = self.password_of(&person.id).await?;
        if !self.hasher.verify(password, phc).await? {
            return Err(Problem::invalid("/current", "is not right"));
        }
        let work: crate::store::Work<()> =
            Box::new(move |connection| Box::pin(async move { throttle::clear(connection, &account).await }));
        self.ledger.store().housekeeping(SERVER, "counts that ended", work).await
    }

    /// Every person, the oldest account first.
    pub async fn every_person(&self) -> Result<Vec<Person>> {
        let rows: Vec<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(EVERY).fetch_all(pool).await)?;
        let mut every = Vec::with_capacity(rows.len());
        for (id,) in rows {
            every.extend(self.person(&id).await?);
        }
        Ok(every)
    }

    /// The operator stops an account, which ends its sessions, or lets it be used again.
    pub async fn set_person_status(&self, person: &Person, status: Status) -> Result<()> {
        let id = person.id.clone();
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(SET_STATUS)
                    .bind(&id).bind(status.word()).execute(c).await.map(|_| ()))?;
                if status == Status::Active {
                    return Ok(ledger::Changed::nothing(()));
                }
                super::codes::void_all(connection, &id).await?;
                let ended = super::sessions::end_all(connection, &id, None).await?;
                let data = json!({ "because": status.word(), "sessions": ended });
                let event = Event::audit(format!("people/{id}"), "session_revoked", Actor::operator(), data);
                Ok(ledger::Changed::by((), event))
            })
        });
        self.ledger.commit(SERVER, work).await?;
        self.forget(Changed::Person(&person.id));
        Ok(())
    }
}
