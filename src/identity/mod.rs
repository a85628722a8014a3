//! Who calls: orgs, the people who belong to them, keys, and what proves a caller.
//!
//! A [`Caller`] is made once a request, by [`crate::http`], and everything after trusts it. Start with [`caller`]; then
//! [`Identity`], which reads the rows a check needs; [`resource`], what the server calls its endpoints; [`role`], what a
//! person may do. Changes are small functions that run inside a commit ([`people::insert`], [`members::insert`]), so that
//! what belongs together is written together; whoever commits one tells [`Identity::forget`].

pub mod access;
pub mod accounts;
pub mod audit;
pub mod caller;
mod first_sight;
pub mod invitations;
pub mod keys;
pub mod members;
pub mod oauth;
pub mod orgs;
pub mod people;
mod recent;
pub mod resource;
pub mod role;
pub mod sign_in;
mod token_caller;
pub mod tokens;

use std::sync::Arc;

pub use access::Access;
pub use caller::{By, Caller, Permission, Permissions, Playbooks, SignedIn, Who};
pub use keys::Key;
pub use members::Membership;
pub use orgs::Org;
pub use people::Person;
pub use resource::Resource;
pub use role::Role;
pub use token_caller::Issuing;

use crate::clock::SharedClock;
use crate::config::ApiKey;
use crate::error::Result;
use crate::ids::Ids;
use crate::ledger::Ledger;
use recent::Recent;

/// Everything about callers that lives as long as the server.
pub struct Identity {
    ledger: Ledger,
    clock: SharedClock,
    ids: Ids,
    issuing: Option<Issuing>,
    hasher: sign_in::passwords::Hasher,
    recent_people: Recent<String, Person>,
    recent_subjects: Recent<(String, String), Person>,
    recent_orgs: Recent<String, Org>,
    recent_members: Recent<(String, String), Membership>,
    recent_keys: Recent<[u8; 32], Arc<keys::Found>>,
    configured_keys: keys::Configured,
    used_keys: keys::Used,
}

/// A row that changed here and counts at once.
#[derive(Debug, Clone, Copy)]
pub enum Changed<'a> {
    /// A person.
    Person(&'a str),
    /// The person whom an issuer's subject proves.
    Subject(&'a str, &'a str),
    /// An org.
    Org(&'a str),
    /// A person's membership of an org.
    Membership(&'a str, &'a str),
    /// A key, by the digest of a text that opens it or did.
    Key(&'a [u8; 32]),
}

impl Identity {
    /// Over the ledger, with the keys of the configuration; `issuing` is there where people sign in.
    pub fn new(
        ledger: Ledger,
        clock: SharedClock,
        ids: Ids,
        issuing: Option<Issuing>,
        configured_keys: &[ApiKey],
    ) -> Self {
        Self {
            ledger,
            clock,
            ids,
            issuing,
            hasher: sign_in::passwords::Hasher::default(),
            recent_people: Recent::new(),
            recent_subjects: Recent::new(),
            recent_orgs: Recent::new(),
            recent_members: Recent::new(),
            recent_keys: Recent::new(),
            configured_keys: keys::Configured::of(configured_keys),
            used_keys: keys::Used::default(),
        }
    }

    /// The ledger its changes are committed to.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The present, in milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// New ids.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Told after each commit that changed a row which decides requests; other servers see it within
    /// [`recent::AGE_MS`].
    pub fn forget(&self, changed: Changed<'_>) {
        match changed {
            Changed::Person(id) => self.recent_people.forget(&id.to_owned()),
            Changed::Subject(issuer, subject) => self.recent_subjects.forget(&(issuer.to_owned(), subject.to_owned())),
            Changed::Org(id) => self.recent_orgs.forget(&id.to_owned()),
            Changed::Membership(org, person) => self.recent_members.forget(&(org.to_owned(), person.to_owned())),
            Changed::Key(digest) => self.recent_keys.forget(digest),
        }
    }

    /// A person in a browser outside any org, as who takes an invitation: it may do nothing that needs a permission.
    pub async fn acting_nowhere(&self, person: &str, signed_in_at_ms: Option<i64>) -> Result<Option<Arc<Caller>>> {
        let person = self.person(person).await?.filter(Person::is_active);
        Ok(person.map(|person| {
            Arc::new(Caller {
                org: String::new(),
                permissions: Permissions::NONE,
                playbooks: Playbooks::All,
                origin: None,
                who: Who::Person(SignedIn {
                    id: person.caller_id(),
                    name: person.name,
                    role: None,
                    granted: Permissions::EVERY,
                    signed_in_at_ms,
                    by: By::Session,
                }),
            })
        }))
    }

    /// A person as a caller in an org they belong to, with the rights their role has now and no more than `granted`.
    /// `None` when the account cannot be used, or the org or the membership is gone.
    pub async fn acting(
        &self,
        person: &str,
        org: &str,
        granted: Permissions,
        signed_in_at_ms: Option<i64>,
        by: By,
    ) -> Result<Option<Arc<Caller>>> {
        let Some(person) = self.person(person).await?.filter(Person::is_active) else { return Ok(None) };
        let Some(membership) = self.membership(org, &person.id).await? else { return Ok(None) };
        let living = self.org(org).await?.is_some_and(|org| org.status != orgs::Status::Deleted);
        if living {
            self.seen_today(&membership).await;
        }
        Ok(living.then(|| {
            Arc::new(Caller {
                org: org.to_owned(),
                permissions: granted.and(membership.role.rights()),
                playbooks: membership.reach(),
                origin: None,
                who: Who::Person(SignedIn {
                    id: person.caller_id(),
                    name: person.name,
                    role: Some(membership.role),
                    granted,
                    signed_in_at_ms,
                    by,
                }),
            })
        }))
    }
}
