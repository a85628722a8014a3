//! The checked caller of a request and what it may do.

pub use crate::config::{Permission, Playbooks};
use crate::ledger::Actor;

/// The org of local mode.
pub const LOCAL_ORG: &str = "local";

const fn bit(permission: Permission) -> u8 {
    match permission {
        Permission::OrgRead => 1,
        Permission::OrgWrite => 2,
        Permission::PlaybookRead => 4,
        Permission::PlaybookWrite => 8,
    }
}

/// A set of permissions; a write permission includes its read (decision D8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions(u8);

impl Permissions {
    /// The closure of `granted`.
    pub fn of(granted: &[Permission]) -> Self {
        let mut bits = granted.iter().fold(0, |bits, permission| bits | bit(*permission));
        for (write, read) in
            [(Permission::OrgWrite, Permission::OrgRead), (Permission::PlaybookWrite, Permission::PlaybookRead)]
        {
            if bits & bit(write) != 0 {
                bits |= bit(read);
            }
        }
        Self(bits)
    }

    /// Whether `permission` is among them.
    pub const fn has(self, permission: Permission) -> bool {
        self.0 & bit(permission) != 0
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
    },
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
}

impl Caller {
    /// The local developer, in the org `local`, with every permission but administration.
    pub fn local(name: impl Into<String>) -> Self {
        Self {
            org: LOCAL_ORG.into(),
            who: Who::Local { name: name.into() },
            permissions: Permissions::of(&Permission::ALL),
            playbooks: Playbooks::All,
        }
    }

    /// The caller id kept with what it does: `local`, or the key's id.
    pub fn id(&self) -> &str {
        match &self.who {
            Who::Local { .. } => "local",
            Who::Key { id } => id,
        }
    }

    /// Its name for people to read.
    pub fn name(&self) -> &str {
        match &self.who {
            Who::Local { name } => name,
            Who::Key { id } => id,
        }
    }

    /// Whether it counts as a person, who may add and approve connections.
    pub const fn is_person(&self) -> bool {
        matches!(self.who, Who::Local { .. })
    }

    /// Whether it has `permission`.
    pub const fn may(&self, permission: Permission) -> bool {
        self.permissions.has(permission)
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
        let kind = match self.who {
            Who::Local { .. } => "local",
            Who::Key { .. } => "key",
        };
        Actor { kind: kind.into(), id: self.id().into(), name: self.name().into() }
    }
}
