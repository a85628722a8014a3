//! The list of everything a caller can do. From it come the HTTP routes, the tools and the OpenAPI document.
//!
//! One operation is one file in the folder of its subject. To add one, write the file and add its line to [`Operations::all`].

pub mod admission;
mod incident;
pub mod openapi;
mod operation;
mod performing;
pub mod schema;
pub mod words;

pub mod audit;
mod connections;
pub mod grants;
mod guides;
mod history;
pub mod invitations;
pub mod keys;
pub mod links;
mod me;
pub mod members;
pub mod orgs;
mod playbooks;
mod tool_servers;

use std::collections::HashSet;

pub use incident::noted;
pub use operation::{
    Answer, BrowserSecret, Context, Declaration, Destructive, Effect, Endpoint, Entry, Lines, Method, Needs, Offer,
    Operation, Scope, Tool,
};
pub use performing::perform;

/// Every operation, in the order in which tools are listed.
pub struct Operations {
    entries: Vec<Entry>,
}

impl Operations {
    /// The list. Two operations of one id, one route or one tool name at an endpoint stop the start.
    pub fn all() -> Self {
        // As tools are listed (`mcp.md` 6), then what only HTTP serves.
        let entries = vec![
            Entry::of::<playbooks::create_playbook::CreatePlaybook>(),
            Entry::of::<playbooks::list_playbooks::ListPlaybooks>(),
            Entry::of::<playbooks::update_playbook::UpdatePlaybook>(),
            Entry::of::<playbooks::retire_playbook::RetirePlaybook>(),
            Entry::of::<history::list_playbook_events::ListPlaybookEvents>(),
            Entry::of::<history::get_event::GetEvent>(),
            Entry::of::<tool_servers::search::Search>(),
            Entry::of::<tool_servers::search_in_playbook::SearchInPlaybook>(),
            Entry::of::<tool_servers::introspect::Introspect>(),
            Entry::of::<tool_servers::dry_run::DryRun>(),
            Entry::of::<tool_servers::execute::Execute>(),
            Entry::of::<connections::add_connection::AddConnection>(),
            Entry::of::<connections::list_connections::ListConnections>(),
            Entry::of::<connections::remove_connection::RemoveConnection>(),
            Entry::of::<guides::get_guide::GetGuide>(),
            Entry::of::<playbooks::get_playbook::GetPlaybook>(),
            Entry::of::<connections::get_connection::GetConnection>(),
            Entry::of::<connections::list_providers::ListProviders>(),
            Entry::of::<tool_servers::validate::Validate>(),
            Entry::of::<me::get_me::GetMe>(),
            Entry::of::<keys::list_keys::ListKeys>(),
            Entry::of::<keys::create_key::CreateKey>(),
            Entry::of::<keys::update_key::UpdateKey>(),
            Entry::of::<keys::rotate_key::RotateKey>(),
            Entry::of::<keys::revoke_key::RevokeKey>(),
            Entry::of::<links::read_link::ReadLink>(),
            Entry::of::<links::approve::Approve>(),
            Entry::of::<links::give_credential::GiveCredential>(),
            Entry::of::<links::start::Start>(),
            Entry::of::<links::finish::Finish>(),
            Entry::of::<links::cancel::Cancel>(),
            Entry::of::<members::list_members::ListMembers>(),
            Entry::of::<members::change_role::ChangeRole>(),
            Entry::of::<members::remove_member::RemoveMember>(),
            Entry::of::<invitations::invite_member::InviteMember>(),
            Entry::of::<invitations::list_invitations::ListInvitations>(),
            Entry::of::<invitations::revoke_invitation::RevokeInvitation>(),
            Entry::of::<invitations::accept_invitation::AcceptInvitation>(),
            Entry::of::<orgs::update_org::UpdateOrg>(),
            Entry::of::<orgs::delete_org::DeleteOrg>(),
            Entry::of::<orgs::restore_org::RestoreOrg>(),
            Entry::of::<grants::list_grants::ListGrants>(),
            Entry::of::<grants::revoke_grant::RevokeGrant>(),
            Entry::of::<audit::list_audit::ListAudit>(),
            Entry::of::<audit::export_audit::ExportAudit>(),
        ];
        let mut seen = HashSet::new();
        for entry in &entries {
            let declaration = entry.declaration;
            let route = format!("{} {}", declaration.method.word(), declaration.route());
            assert!(seen.insert(declaration.id.to_owned()) && seen.insert(route), "{} clashes", declaration.id);
            for endpoint in [Endpoint::Own, Endpoint::Org, Endpoint::Playbook] {
                let tool = format!("{endpoint:?} {}", declaration.name);
                assert!(!declaration.tool.at(endpoint) || seen.insert(tool), "{} clashes", declaration.name);
            }
        }
        Self { entries }
    }

    /// Every operation, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The tool of a name at an endpoint.
    pub fn tool(&self, endpoint: Endpoint, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.declaration.name == name && entry.declaration.tool.at(endpoint))
    }
}
