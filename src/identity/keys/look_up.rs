//! From the text of a key to its caller.
//!
//! An unknown, a misspelt, a revoked and an ended key, and one whose person cannot use it, are told alike: there is none.

use std::sync::Arc;

use super::{common, form};
use crate::digest::sha256;
use crate::error::{Problem, Result};
use crate::identity::{Caller, Identity, Key, Permissions, Person, Who, orgs};

/// A key of the database as a request finds it, with its caller before its person narrows it.
pub struct Found {
    key: Key,
    caller: Arc<Caller>,
}

impl Found {
    fn of(key: Key) -> Self {
        let caller = Arc::new(Caller {
            org: key.org.clone(),
            who: Who::Key { id: key.id.clone(), name: key.name.clone(), person: key.person.clone() },
            permissions: Permissions::of(&key.permissions),
            playbooks: key.playbooks.clone(),
            origin: None,
        });
        Self { key, caller }
    }
}

impl Identity {
    /// The caller of a text that is a key of the configuration.
    ///
    /// # Errors
    /// 403 for a good key of an org that is being deleted; 503 when the database does not answer.
    pub async fn configured_key_caller(&self, text: &str) -> Result<Option<Arc<Caller>>> {
        if !form::is_possible(text) {
            return Ok(None);
        }
        match self.configured_keys.look_up(&sha256(text), self.now_ms()) {
            Some(caller) => self.org_of_keys(caller).await,
            None => Ok(None),
        }
    }

    /// The caller of a text that is a key of the database, from rows at most five seconds old. What has not the form of a
    /// made key, or a wrong checksum, is told without asking the database.
    ///
    /// # Errors
    /// As of [`Self::configured_key_caller`].
    pub async fn stored_key_caller(&self, text: &str) -> Result<Option<Arc<Caller>>> {
        if !form::checksum_ok(text) {
            return Ok(None);
        }
        let (digest, now) = (sha256(text), self.now_ms());
        let Some(found) = self.found(digest).await?.filter(|found| found.key.opens(&digest, now)) else {
            return Ok(None);
        };
        let Some(caller) = self.narrowed(&found).await? else { return Ok(None) };
        self.used_keys.note(&found.key, now);
        self.org_of_keys(caller).await
    }

    /// Whether a caller whose request is still in hand may go on: what it called with was not taken away meanwhile.
    pub async fn still_good(&self, caller: &Caller) -> Result<bool> {
        let now = self.now_ms();
        match &caller.who {
            Who::Local { .. } => Ok(true),
            Who::Key { id, .. } => {
                if let Some(key) = self.configured_keys.one(&caller.org, id) {
                    return Ok(key.expires_at_ms.is_none_or(|end| now < end));
                }
                let Some(key) = self.key(&caller.org, id).await?.filter(|key| key.is_live(now)) else {
                    return Ok(false);
                };
                Ok(self.narrowed(&Found::of(key)).await?.is_some())
            }
            Who::Person(person) => {
                let id = person.id.strip_prefix(crate::identity::caller::PERSON).unwrap_or_default();
                let active = self.person(id).await?.is_some_and(|person| person.is_active());
                let belongs = caller.org.is_empty() || self.membership(&caller.org, id).await?.is_some();
                Ok(active && belongs)
            }
        }
    }

    async fn found(&self, digest: [u8; 32]) -> Result<Option<Arc<Found>>> {
        let read = async { Ok(self.key_of_digest(&digest).await?.map(|key| Arc::new(Found::of(key)))) };
        self.recent_keys.get(digest, self.now_ms(), read).await
    }

    /// The caller of a key: a person's own never exceeds what the person may do now, and is none without them.
    async fn narrowed(&self, found: &Found) -> Result<Option<Arc<Caller>>> {
        let Some(id) = &found.key.person else { return Ok(Some(found.caller.clone())) };
        if self.person(id).await?.filter(Person::is_active).is_none() {
            return Ok(None);
        }
        let Some(membership) = self.membership(&found.key.org, id).await? else { return Ok(None) };
        Ok(Some(Arc::new(Caller {
            permissions: found.caller.permissions.and(membership.role.rights()),
            playbooks: common(&found.caller.playbooks, &membership.reach()),
            ..Caller::clone(&found.caller)
        })))
    }

    /// An org that is being deleted takes no keys, one that is gone has none.
    async fn org_of_keys(&self, caller: Arc<Caller>) -> Result<Option<Arc<Caller>>> {
        match self.org(&caller.org).await?.map(|org| org.status) {
            None | Some(orgs::Status::Active) => Ok(Some(caller)),
            Some(orgs::Status::Deleting) => Err(Problem::forbidden(
                "This org is about to be deleted, and keys do not work in it. Its owner can undo that.",
            )
            .challenge(None)),
            Some(orgs::Status::Deleted) => Ok(None),
        }
    }
}
