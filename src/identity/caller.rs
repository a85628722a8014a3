//! The checked caller of a request and what it may do.

use std::sync::Arc;

use super::Role;
pub use crate::config::{Permission, Playbooks};
use crate::ledger::{Actor, Origin};

/// The org of local mode.
pub const LOCAL_ORG: &str = "local";
/// What stands before a person's id where it is a caller's.
pub const PERSON: &str = "person:";
/// What a person's caller id looks like.
pub const PERSON_PATTERN: &str = "^person:user_[0-9A-Za-z]{22}$";

const fn bit(permission: Permission) -> u8 {
    1 << permission as u8
}

/// A set of permissions; a write permission includes its read, administration the reading of the org (decision D8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions(u8);

impl Permissions {
    /// Every permission there is.
    pub const EVERY: Self = Self(0b1_1111);
    /// None.
    pub const NONE: Self = Self(0);

    /// The closure of `granted`.
    pub fn of(granted: &[Permission]) -> Self {
        let mut bits = granted.iter().fold(0, |bits, permission| bits | bit(*permission));
        for (wider, included) in [
            (Permission::OrgWrite, Permission::OrgRead),
            (Permission::PlaybookWrite, Permission::PlaybookRead),
            (Permission::OrgAdmin, Permission::OrgRead),
        ] {
            if bits & bit(wider) != 0 {
                bits |= bit(included);
            }
        }
        Self(bits)
    }

    /// The closure of the words of a `scope` (RFC 6749, section 3.3); words nobody knows are not looked at.
    pub fn of_scope(scope: &str) -> Self {
        Self::of(&scope.split(' ').filter_map(Permission::of).collect::<Vec<_>>())
    }

    /// Those of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `permission` is among them.
    pub const fn has(self, permission: Permission) -> bool {
        self.0 & bit(permission) != 0
    }

    /// Each of them, in the order they are told.
    pub fn each(self) -> impl Iterator<Item = Permission> {
        Permission::EVERY.into_iter().filter(move |permission| self.has(*permission))
    }
}

/// Whom a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The developer at the machine, in local mode; counts as a person (decision D10).
    Local {
        /// The name of the account the server runs as.
        name: String,
    },
    /// An API key.
    Key {
        /// The key's id.
        id: String,
        /// Its name; the id itself for a key of the configuration.
        name: String,
        /// The person whose own key it is.
        person: Option<String>,
    },
    /// A person who signed in.
    Person(SignedIn),
}

/// A person as a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// The caller id, `person:user_…`.
    pub id: String,
    /// Their name now.
    pub name: String,
    /// Their role in the org of the caller; none where they act outside any org.
    pub role: Option<Role>,
    /// What they let this request do: the closure of a token's scopes, or everything in a browser.
    pub granted: Permissions,
    /// When they last proved who they are, in milliseconds since the epoch.
    pub signed_in_at_ms: Option<i64>,
    /// How the request came.
    pub by: By,
}

/// What a person's request carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// An access token.
    Token {
        /// The client it was issued to, where the token says.
        client: Option<String>,
        /// The grant behind it, where we issued it.
        grant: Option<String>,
    },
    /// Studio's session cookie.
    Session,
}

/// A checked caller, in its one org.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The org it acts in.
    pub org: String,
    /// Whom it acts as.
    pub who: Who,
    /// What it may do.
    pub permissions: Permissions,
    /// Where it may do it.
    pub playbooks: Playbooks,
    /// The request it acts through, for the audit; none of its own for the checked caller that requests share.
    pub origin: Option<Arc<Origin>>,
}

impl Caller {
    /// The local developer, in the org `local`, with every permission but administration.
    pub fn local(name: impl Into<String>) -> Self {
        Self {
            org: LOCAL_ORG.into(),
            who: Who::Local { name: name.into() },
            permissions: Permissions::of(&Permission::ALL),
            playbooks: Playbooks::All,
            origin: None,
        }
    }

    /// The same caller, acting through a request of `origin`; the client its token was issued to is told with it.
    #[must_use]
    pub fn through(&self, origin: Origin) -> Self {
        let client_id = match &self.who {
            Who::Person(SignedIn { by: By::Token { client, .. }, .. }) => client.clone(),
            _ => None,
        };
        Self { origin: Some(Arc::new(Origin { client_id, ..origin })), ..self.clone() }
    }

    /// The caller id kept with what it does: `local`, `person:user_…`, or the key's id.
    pub fn id(&self) -> &str {
        match &self.who {
            Who::Local { .. } => "local",
            Who::Key { id, .. } => id,
            Who::Person(person) => &person.id,
        }
    }

    /// Its name for people to read.
    pub fn name(&self) -> &str {
        match &self.who {
            Who::Local { name } | Who::Key { name, .. } => name,
            Who::Person(person) => &person.name,
        }
    }

    /// The word of what it is: `local`, `key` or `person`.
    pub const fn kind(&self) -> &'static str {
        match self.who {
            Who::Local { .. } => "local",
            Who::Key { .. } => "key",
            Who::Person(_) => "person",
        }
    }

    /// The person's own id, `user_…`, where a person signed in.
    pub fn person(&self) -> Option<&str> {
        match &self.who {
            Who::Person(person) => person.id.strip_prefix(PERSON),
            Who::Local { .. } | Who::Key { .. } => None,
        }
    }

    /// The role of a person; the local developer and keys have none.
    pub const fn role(&self) -> Option<Role> {
        match &self.who {
            Who::Person(person) => person.role,
            Who::Local { .. } | Who::Key { .. } => None,
        }
    }

    /// When a person last proved who they are, in milliseconds since the epoch.
    pub const fn signed_in_at_ms(&self) -> Option<i64> {
        match &self.who {
            Who::Person(person) => person.signed_in_at_ms,
            Who::Local { .. } | Who::Key { .. } => None,
        }
    }

    /// Whether it counts as a person, who may add and approve connections.
    pub const fn is_person(&self) -> bool {
        !matches!(self.who, Who::Key { .. })
    }

    /// Whether a person's browser sends it, with their session.
    pub const fn is_in_browser(&self) -> bool {
        matches!(self.who, Who::Person(SignedIn { by: By::Session, .. }))
    }

    /// Whether it has `permission`.
    pub const fn may(&self, permission: Permission) -> bool {
        self.permissions.has(permission)
    }

    /// Whether a wider grant could give it one of `permissions`; else its role or its kind is in the way.
    pub fn could(&self, permissions: &[Permission]) -> bool {
        match &self.who {
            Who::Person(person) => {
                let rights = person.role.map_or(Permissions::NONE, Role::rights);
                permissions.iter().any(|permission| rights.has(*permission))
            }
            Who::Local { .. } | Who::Key { .. } => permissions.iter().any(|one| *one != Permission::OrgAdmin),
        }
    }

    /// Whether `playbook` is within its reach.
    pub fn reaches(&self, playbook: &str) -> bool {
        match &self.playbooks {
            Playbooks::All => true,
            Playbooks::Only(ids) => ids.iter().any(|id| id == playbook),
        }
    }

    /// The actor to record.
    pub fn actor(&self) -> Actor {
        let actor = Actor::new(self.kind(), self.id(), self.name());
        Actor { origin: self.origin.clone(), ..actor }
    }
}
