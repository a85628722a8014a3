//! Who manages keys, and how far.

use super::Key;
use crate::config::Playbooks;
use crate::identity::Permissions;
use crate::ledger::Actor;

/// Who manages keys: what they hold themselves, and whether only a person's own keys are theirs.
#[derive(Debug, Clone)]
pub struct Manager {
    /// Who, for the audit and as the maker.
    pub actor: Actor,
    /// What they may do; a key holds no more.
    pub permissions: Permissions,
    /// Where.
    pub playbooks: Playbooks,
    /// The person, `user_…`, whom they are.
    pub person: Option<String>,
    /// Whether they manage every key of the org, and not only their own.
    pub every: bool,
}

impl Manager {
    /// The operator, by a command.
    pub fn operator() -> Self {
        Self {
            actor: Actor::operator(),
            permissions: Permissions::EVERY,
            playbooks: Playbooks::All,
            person: None,
            every: true,
        }
    }

    /// Whether a key is theirs to see and to end.
    pub fn sees(&self, key: &Key) -> bool {
        self.every || self.owns(key)
    }

    /// Whether a key is their own.
    pub(super) fn owns(&self, key: &Key) -> bool {
        key.person.is_some() && key.person == self.person
    }
}
