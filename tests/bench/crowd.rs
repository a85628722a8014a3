//! Orgs with many keys and people, for the checks of a caller.

use std::io::{Error, Result};

use futures_util::future::try_join_all;
use playmaker::app::App;
use playmaker::config::{Permission, Playbooks, Secret};
use playmaker::error::Problem;
use playmaker::identity::keys::{Draft, Manager};
use playmaker::identity::{Identity, Membership, Org, Person, Role, members, orgs, people};
use playmaker::ledger;

/// Keys made at once; an org has no more than 200 that work.
const AT_ONCE: usize = 100;
/// Keys of an org that work.
const WORKING: usize = 10;

/// An org and those whose checks are measured.
pub struct Crowd {
    /// The org.
    pub org: &'static str,
    /// How many keys it has.
    pub keys: usize,
    /// How many people.
    pub people: usize,
    /// The texts of keys that work.
    pub texts: Vec<Secret>,
    /// The ids of its people.
    pub members: Vec<String>,
}

impl Crowd {
    /// Makes the org with its keys, of which the last ten work, and its people.
    pub async fn gather(app: &App, org: &'static str, keys: usize, people: usize) -> Result<Self> {
        let members = joined(&app.identity, org, people).await.map_err(Error::other)?;
        let texts = keyed(&app.identity, org, keys).await.map_err(Error::other)?;
        Ok(Self { org, keys, people, texts, members })
    }
}

async fn keyed(identity: &Identity, org: &str, keys: usize) -> std::result::Result<Vec<Secret>, Problem> {
    let ended: Vec<usize> = (0..keys - WORKING).collect();
    for group in ended.chunks(AT_ONCE) {
        try_join_all(group.iter().map(|number| async move {
            let made = identity.create_key(org, draft(*number), Manager::operator()).await?;
            identity.revoke_key(org, &made.key.id, Manager::operator()).await
        }))
        .await?;
    }
    let working = (keys - WORKING..keys).map(|number| identity.create_key(org, draft(number), Manager::operator()));
    Ok(try_join_all(working).await?.into_iter().map(|made| made.text).collect())
}

fn draft(number: usize) -> Draft {
    Draft {
        name: format!("key-{number}"),
        permissions: vec![Permission::OrgRead],
        playbooks: Playbooks::All,
        person: None,
        expires_at_ms: None,
        usage_limit: None,
    }
}

async fn joined(identity: &Identity, org: &'static str, people: usize) -> std::result::Result<Vec<String>, Problem> {
    let now = identity.now_ms();
    let persons: Vec<Person> = (0..people).map(|number| person(identity, org, number)).collect();
    let ids = persons.iter().map(|person| person.id.clone()).collect();
    let make: ledger::Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            let new = Org {
                id: org.to_owned(),
                name: org.to_owned(),
                status: orgs::Status::Active,
                created_at_ms: now,
                created_by: "operator".to_owned(),
                deletes_at_ms: None,
            };
            orgs::insert(connection, &new).await?;
            for person in persons {
                people::insert(connection, &person).await?;
                members::insert(connection, &membership(org, person)).await?;
            }
            Ok(ledger::Changed::nothing(()))
        })
    });
    identity.ledger().commit(org, make).await?;
    Ok(ids)
}

fn person(identity: &Identity, org: &str, number: usize) -> Person {
    let now = identity.now_ms();
    Person {
        id: identity.ids().person(),
        name: format!("Person {number}"),
        email: Some(format!("person-{number}@{org}.example")),
        email_verified_at_ms: Some(now),
        status: people::Status::Active,
        created_at_ms: now,
        refreshed_at_ms: now,
    }
}

fn membership(org: &str, person: Person) -> Membership {
    Membership {
        org: org.to_owned(),
        role: Role::Member,
        playbooks: Playbooks::All,
        created_at_ms: person.created_at_ms,
        created_by: "operator".to_owned(),
        last_seen_at_ms: None,
        person: person.id,
    }
}
