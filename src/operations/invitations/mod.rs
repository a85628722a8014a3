//! The operations on invitations to an org (`identity.md` 1.3 and 9): HTTP alone, for people.

pub mod accept_invitation;
pub mod invite_member;
pub mod list_invitations;
pub mod revoke_invitation;

use schemars::JsonSchema;
use serde::Serialize;

use super::members::Reach;
use crate::app::App;
use crate::clock::iso;
use crate::identity::Role;
use crate::identity::invitations::accepting::Proof;
use crate::identity::invitations::{Invitation, Status};

/// What an invitation's id looks like.
pub const ID_PATTERN: &str = "^inv_[0-9A-Za-z]{22}$";

/// An invitation, as those who manage the org see it: never its code.
#[derive(Debug, Serialize, JsonSchema)]
pub struct View {
    /// Its id.
    pub id: String,
    /// Whom it is for.
    pub email: String,
    /// The role it gives.
    pub role: Role,
    /// "*", or the ids of the playbooks where the role counts.
    pub playbooks: Reach,
    /// What became of it.
    pub status: Status,
    /// When it was made.
    pub created_at: String,
    /// Who invites.
    pub created_by: String,
    /// When it ends.
    pub expires_at: String,
}

impl From<&Invitation> for View {
    fn from(invitation: &Invitation) -> Self {
        Self {
            id: invitation.id.clone(),
            email: invitation.email.clone(),
            role: invitation.role,
            playbooks: Reach(invitation.playbooks.clone()),
            status: invitation.status,
            created_at: iso(invitation.created_at_ms),
            created_by: invitation.created_by.clone(),
            expires_at: iso(invitation.expires_at_ms),
        }
    }
}

/// How an address is proved here.
pub fn proof(app: &App) -> Proof {
    if app.mail.is_on() { Proof::Verified } else { Proof::Code }
}

/// The address of the page that takes a code: it stands behind the `#`, which no browser sends, so it reaches no log.
pub fn link(app: &App, code: &str) -> String {
    format!("{}/invitations#{code}", app.public_address())
}
