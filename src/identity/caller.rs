//! The checked caller of a request and what it may do.

use serde::{Deserialize, Serialize};

use crate::ledger::Actor;

/// The org of local mode.
pub const LOCAL_ORG: &str = "local";

/// What a caller may be allowed (`identity.md` 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Permission {
    /// Read playbooks, models, connections, org-wide tool search.
    #[serde(rename = "org:read")]
    OrgRead,
    /// Create, change, retire playbooks; add and remove connections.
    #[serde(rename = "org:write")]
    OrgWrite,
    /// Read everything inside playbooks.
    #[serde(rename = "playbook:read")]
    PlaybookRead,
    /// Change and run things inside playbooks; call a tool.
    #[serde(rename = "playbook:write")]
    PlaybookWrite,
}

impl Permission {
    /// All four, in the order of the sheet.
    pub const ALL: [Self; 4] = [Self::OrgRead, Self::OrgWrite, Self::PlaybookRead, Self::PlaybookWrite];

    /// The scope's name, such as `org:read`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OrgRead => "org:read",
            Self::OrgWrite => "org:write",
            Self::PlaybookRead => "playbook:read",
            Self::PlaybookWrite => "playbook:write",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::OrgRead => 1,
            Self::OrgWrite => 2,
            Self::PlaybookRead => 4,
            Self::PlaybookWrite => 8,
        }
    }
}

/// A set of permissions; a write permission includes its read (decision D8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions(u8);

impl Permissions {
    /// The closure of `granted`.
    pub fn of(granted: &[Permission]) -> Self {
        let mut bits = granted.iter().fold(0, |bits, permission| bits | permission.bit());
        for (write, read) in
            [(Permission::OrgWrite, Permission::OrgRead), (Permission::PlaybookWrite, Permission::PlaybookRead)]
        {
            if bits & write.bit() != 0 {
                bits |= read.bit();
            }
        }
        Self(bits)
    }

    /// Whether `permission` is among them.
    pub const fn has(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }
}

/// The playbooks a caller is limited to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Playbooks {
    /// Every playbook of the org.
    All,
    /// These alone, by id.
    Only(Vec<String>),
}

impl Playbooks {
    /// Whether `playbook` is within reach.
    pub fn reach(&self, playbook: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.iter().any(|id| id == playbook),
        }
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

    /// The actor to record.
    pub fn actor(&self) -> Actor {
        let kind = match self.who {
            Who::Local { .. } => "local",
            Who::Key { .. } => "key",
        };
        Actor { kind: kind.into(), id: self.id().into(), name: self.name().into() }
    }
}
