//! The operations on an org itself (`identity.md` 1.4 and 9): HTTP alone, for its owners.

pub mod delete_org;
pub mod restore_org;
pub mod update_org;

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::iso;
use crate::error::{Problem, Result};
use crate::identity::orgs::Status;
use crate::identity::{Caller, Org, Role};

/// An org, as its people see it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct View {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether it takes commands.
    pub status: Status,
    /// When it was made.
    pub created_at: String,
    /// Who made it.
    pub created_by: String,
    /// When it goes, while it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletes_at: Option<String>,
}

impl From<Org> for View {
    fn from(org: Org) -> Self {
        Self {
            id: org.id,
            name: org.name,
            status: org.status,
            created_at: iso(org.created_at_ms),
            created_by: org.created_by,
            deletes_at: org.deletes_at_ms.map(iso),
        }
    }
}

/// Refuses who does not own the org before anything else is looked at; the commit looks again.
fn check_owner(caller: &Caller) -> Result<()> {
    if caller.role() == Some(Role::Owner) {
        return Ok(());
    }
    Err(Problem::forbidden("Your role in this org does not allow this: only an owner may.").challenge(None))
}
