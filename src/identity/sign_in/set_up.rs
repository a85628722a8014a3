//! The first person: made with a code that the log shows, once, and by a command of the operator (`identity.md` 1.2).

use serde_json::json;

use super::codes::{self, Kind};
use super::first_proof::FirstProof;
use super::sessions;
use super::throttle::{SET_UP, Subject};
use super::{SERVER, actor};
use crate::error::{Problem, Result};
use crate::identity::{Changed, Identity, Membership, Org, Person, Playbooks, Role, members, orgs, people};
use crate::ledger::{self, Actor, Event};
use crate::store::Connection;

/// Wrong guesses that void a code.
const MOST_WRONG: i64 = 10;

/// What the first person gives: all of it checked.
pub struct FirstPerson {
    /// Their name.
    pub name: String,
    /// Their email, in lower case.
    pub email: String,
    /// The id of their org.
    pub org: String,
    /// Its name.
    pub org_name: String,
    /// What proves them, where they gave it.
    pub proof: Option<FirstProof>,
}

/// What became of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    Right,
    Wrong,
    Voided,
}

/// The words of the log.
fn told(address: &str, code: &str) -> String {
    format!("Playmaker has no person yet: open {address}/setup and enter the code {code}")
}

impl Identity {
    /// At the start: while there is nobody, says how the first person is made. A code that another server has shown
    /// stays as it is.
    pub async fn announce_set_up(&self, address: &str) -> Result<()> {
        if self.has_people().await? {
            return Ok(());
        }
        match self.set_up_code(false).await? {
            Some(code) => tracing::warn!("{}", told(address, &code)),
            None => tracing::warn!(
                "Playmaker has no person yet, and a code for {address}/setup was shown before; \
                 `playmaker setup code` makes a new one"
            ),
        }
        Ok(())
    }

    /// A new code for the set-up. Without `anew` none is made while another one counts.
    ///
    /// # Errors
    /// 409 once there is a person.
    pub async fn set_up_code(&self, anew: bool) -> Result<Option<String>> {
        let (code, now) = (codes::for_typing(&self.ids), self.clock.now_ms());
        let kept = code.clone();
        let work: crate::store::Work<bool> = Box::new(move |connection| {
            Box::pin(async move {
                if people::are_there_any(connection).await? {
                    return Err(Problem::conflict("taken", "This server has its first person already."));
                }
                if !anew && codes::is_any(connection, Kind::SetUp, now).await? {
                    return Ok(false);
                }
                codes::issue(connection, Kind::SetUp, &kept, None, None, now).await?;
                Ok(true)
            })
        });
        let made = self.ledger.store().housekeeping(SERVER, "a code is told once it was used", work).await?;
        Ok(made.then_some(code))
    }

    /// Tries a typed code from an address; ten wrong ones void it, and the log shows another.
    ///
    /// # Errors
    /// 422 at `/code` for a wrong one, 429 for too many.
    pub async fn try_set_up_code(&self, typed: &str, address: &str, own: &str) -> Result<()> {
        self.count_in(vec![(Subject::of("set-up", address), SET_UP)]).await?;
        let (code, next, now) = (codes::read_typed(typed), codes::for_typing(&self.ids), self.clock.now_ms());
        let shown = next.clone();
        let work: crate::store::Work<Tried> = Box::new(move |connection| {
            Box::pin(async move {
                if codes::find(connection, Kind::SetUp, &code, now).await?.is_some() {
                    return Ok(Tried::Right);
                }
                if codes::guessed_wrong(connection, Kind::SetUp, now).await? < MOST_WRONG {
                    return Ok(Tried::Wrong);
                }
                codes::issue(connection, Kind::SetUp, &next, None, None, now).await?;
                Ok(Tried::Voided)
            })
        });
        match self.ledger.store().housekeeping(SERVER, "a code is told once it was used", work).await? {
            Tried::Right => return Ok(()),
            Tried::Wrong => {}
            Tried::Voided => {
                tracing::warn!("too many wrong codes for the set-up: the last one no longer works");
                tracing::warn!("{}", told(own, &shown));
            }
        }
        Err(Problem::invalid("/code", "is not the code of the log, or no longer: take the newest one there"))
    }

    /// Makes the first person, their org and their ownership of it, and spends the code; one of several that try wins.
    ///
    /// # Errors
    /// 404 once there is a person, 422 at `/code` when it no longer counts.
    pub async fn set_up(&self, typed: &str, first: FirstPerson) -> Result<Person> {
        let (code, now) = (codes::read_typed(typed), self.clock.now_ms());
        let person = self.first_person(&first);
        let (made, ids) = (person.clone(), self.ids.clone());
        let work: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                if people::are_there_any(connection).await? {
                    return Err(over());
                }
                if !codes::spend(connection, Kind::SetUp, &code, now).await? {
                    return Err(Problem::invalid("/code", "no longer counts: take the newest one of the log"));
                }
                let who = actor(&made);
                write(connection, &made, &first, now).await?;
                let at = (now, &ids);
                ledger::also(connection, &first.org, at, of_the_org(&made, &first, &who)).await?;
                Ok(ledger::Changed::by((), set_up_event(&made, &first.org, who)))
            })
        });
        self.ledger.commit(SERVER, work).await?;
        self.forget(Changed::Person(&person.id));
        Ok(person)
    }

    /// The same by a command of the operator: the code of a one-time link that sets the password. `recover` works although
    /// there are people: the person of the email becomes an owner of the org, and each is made where it is not there.
    ///
    /// # Errors
    /// 409 when there are people and it is no recovery.
    pub async fn set_up_by_operator(&self, first: FirstPerson, recover: bool) -> Result<String> {
        let (code, now) = (codes::for_link(&self.ids), self.clock.now_ms());
        let (new, given) = (self.first_person(&first), code.clone());
        let ids = self.ids.clone();
        let work: ledger::Work<String> = Box::new(move |connection| {
            Box::pin(async move {
                if !recover && people::are_there_any(connection).await? {
                    let words = "this server has people already; --recover makes one an owner all the same";
                    return Err(Problem::conflict("taken", words));
                }
                let who = Actor::operator();
                let found = people::of_email(connection, &first.email).await?;
                let person = match found {
                    Some(person) => {
                        own(connection, &person, &first, now).await?;
                        person
                    }
                    None => {
                        write(connection, &new, &first, now).await?;
                        new
                    }
                };
                codes::issue(connection, Kind::Reset, &given, Some(&person.id), None, now).await?;
                ledger::also(connection, &first.org, (now, &ids), of_the_org(&person, &first, &who)).await?;
                Ok(ledger::Changed::by(person.id.clone(), set_up_event(&person, &first.org, who)))
            })
        });
        self.ledger.commit(SERVER, work).await?;
        Ok(code)
    }

    fn first_person(&self, first: &FirstPerson) -> Person {
        let now = self.clock.now_ms();
        let given = first.proof.as_ref().and_then(FirstProof::person);
        Person {
            id: given.map_or_else(|| self.ids.person(), str::to_owned),
            name: first.name.clone(),
            email: Some(first.email.clone()),
            email_verified_at_ms: Some(now),
            status: people::Status::Active,
            created_at_ms: now,
            refreshed_at_ms: now,
        }
    }
}

/// What the page of the set-up is once it is over: nothing.
pub fn over() -> Problem {
    Problem::not_found("There is nothing at this path.")
}

async fn write(connection: &mut Connection, person: &Person, first: &FirstPerson, now: i64) -> Result<()> {
    people::insert(connection, person).await?;
    if let Some(proof) = &first.proof {
        proof.keep(connection, &person.id, now).await?;
    }
    own(connection, person, first, now).await
}

/// Makes a person an owner of the org.
async fn own(connection: &mut Connection, person: &Person, first: &FirstPerson, now: i64) -> Result<()> {
    let org = Org {
        id: first.org.clone(),
        name: first.org_name.clone(),
        status: orgs::Status::Active,
        created_at_ms: now,
        created_by: person.caller_id(),
        deletes_at_ms: None,
    };
    orgs::insert(connection, &org).await?;
    let membership = Membership {
        org: first.org.clone(),
        person: person.id.clone(),
        role: Role::Owner,
        playbooks: Playbooks::All,
        created_at_ms: now,
        created_by: person.caller_id(),
        last_seen_at_ms: None,
    };
    if !members::insert(connection, &membership).await? {
        members::promote(connection, &first.org, &person.id, Role::Owner).await?;
        sessions::end_all(connection, &person.id, None).await?;
    }
    Ok(())
}

fn set_up_event(person: &Person, org: &str, who: Actor) -> Event {
    let data = json!({ "person": person.caller_id(), "org": org });
    Event::audit(format!("people/{}", person.id), "setup", who, data)
}

fn of_the_org(person: &Person, first: &FirstPerson, who: &Actor) -> Vec<Event> {
    let org = json!({ "org": first.org, "name": first.org_name });
    let member = json!({ "person": person.caller_id(), "role": Role::Owner.word(), "by": "setup" });
    vec![
        Event::audit(format!("orgs/{}", first.org), "org_created", who.clone(), org),
        Event::audit(format!("members/{}", person.id), "member_joined", who.clone(), member),
    ]
}
