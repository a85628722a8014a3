//! The end of an account: by the operator for a while, by its person for good (`identity.md` 1.4).

use serde_json::json;

use super::people::{self, Status};
use super::sign_in::{SERVER, codes};
use super::{Caller, Changed as Row, Identity, Person};
use crate::error::{Problem, Result};
use crate::ledger::{Actor, Changed, Event};
use crate::store::Connection;
use crate::{on_connection, on_pool};

const SET_STATUS: &str = "UPDATE people SET status = $2 WHERE id = $1 AND status = $3";
const ERASE: &str = "UPDATE people SET status = 'deleted', name = '', email = NULL, email_verified_at = NULL \
     WHERE id = $1 AND status <> 'deleted'";
/// What proves a person, and where they are signed in.
const PROOFS: [&str; 5] = [
    "DELETE FROM identities WHERE person = $1",
    "DELETE FROM passwords WHERE person = $1",
    "DELETE FROM passkeys WHERE person = $1",
    "DELETE FROM one_time_codes WHERE person = $1",
    "DELETE FROM sessions WHERE person = $1",
];
/// Orgs a person alone owns.
const ALONE: &str = "SELECT m.org FROM memberships m WHERE m.person = $1 AND m.role = 'owner' AND NOT EXISTS \
     (SELECT 1 FROM memberships o JOIN people p ON p.id = o.person WHERE o.org = m.org AND o.role = 'owner' \
     AND o.person <> $1 AND p.status = 'active') ORDER BY m.org LIMIT 1";

impl Identity {
    /// Stops an account, by the operator: nothing of it works until it is allowed again. `false` when it was not active.
    pub async fn disable_person(&self, person: &str) -> Result<bool> {
        self.set_status(person, Status::Active, Status::Disabled, "person_disabled").await
    }

    /// Allows a stopped account again. `false` when it was not stopped.
    pub async fn enable_person(&self, person: &str) -> Result<bool> {
        self.set_status(person, Status::Disabled, Status::Active, "person_enabled").await
    }

    async fn set_status(&self, person: &str, from: Status, to: Status, kind: &'static str) -> Result<bool> {
        let id = person.to_owned();
        let work: crate::ledger::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                let Some(person) = people::one(connection, &id).await? else { return Ok(Changed::nothing(false)) };
                let rows = on_connection!(connection, c => sqlx::query(SET_STATUS)
                    .bind(&id).bind(to.word()).bind(from.word()).execute(c).await.map(|done| done.rows_affected()))?;
                if rows == 0 {
                    return Ok(Changed::nothing(false));
                }
                if to == Status::Disabled {
                    codes::void_all(connection, &id).await?;
                }
                Ok(Changed::by(true, event(&person, kind, Actor::operator())))
            })
        });
        let changed = self.ledger.commit(SERVER, work).await?;
        self.forget(Row::Person(person));
        Ok(changed)
    }

    /// Ends an account for good, by its person: memberships end, name and email are forgotten, the id stays.
    ///
    /// # Errors
    /// 409 `last_owner` while the person alone owns an org.
    pub async fn delete_account(&self, caller: &Caller) -> Result<()> {
        let Some(person) = caller.person() else {
            return Err(Problem::forbidden("Only a person has an account to delete.").challenge(None));
        };
        let alone: Option<(String,)> =
            on_pool!(self.ledger.store(), pool => sqlx::query_as(ALONE).bind(person).fetch_optional(pool).await)?;
        if let Some((org,)) = alone {
            let words =
                format!("You are the only owner of the org {org}. Make somebody else its owner, or delete it, first.");
            return Err(Problem::new(crate::error::Reason::Conflict, words).kind("last_owner"));
        }
        // Each org's own commit looks at its owners again.
        for membership in self.memberships_of(person).await? {
            self.end_membership(&membership.org, person, caller.actor(), None).await?;
        }
        let (id, actor) = (person.to_owned(), caller.actor());
        let work: crate::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                let Some(person) = people::one(connection, &id).await? else { return Ok(Changed::nothing(())) };
                if !erase(connection, &id).await? {
                    return Ok(Changed::nothing(()));
                }
                // The name is what the person wants forgotten.
                let actor = Actor { name: people::DELETED.into(), ..actor };
                let person = Person { name: people::DELETED.into(), ..person };
                Ok(Changed::by((), event(&person, "person_deleted", actor)))
            })
        });
        self.ledger.commit(SERVER, work).await?;
        self.forget(Row::Person(person));
        Ok(())
    }
}

/// Forgets who a person was and what proves them; their sessions end.
async fn erase(connection: &mut Connection, person: &str) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(ERASE)
        .bind(person).execute(c).await.map(|done| done.rows_affected()))?;
    for sql in PROOFS {
        on_connection!(connection, c => sqlx::query(sql).bind(person).execute(c).await.map(|_| ()))?;
    }
    Ok(rows == 1)
}

fn event(person: &Person, kind: &'static str, actor: Actor) -> Event {
    Event::audit(format!("people/{}", person.id), kind, actor, json!({})).about(person.name.as_str())
}
