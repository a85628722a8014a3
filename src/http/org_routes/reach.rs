//! Roles and playbooks in a form: how they are offered, read and told.

use serde_json::{Value, json};

use crate::error::{Problem, Result};
use crate::http::sign_in_routes::Fields;
use crate::identity::{Playbooks, Role};
use crate::playbooks;
use crate::studio::Input;

/// The field of the playbooks.
pub(super) const PLAYBOOKS: &str = "playbooks";

/// What a role lets a person do, in a few words.
const fn meaning(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Viewer: reads",
        Role::Member => "Member: works",
        Role::Admin => "Admin: manages people and keys too",
        Role::Owner => "Owner: everything, the org itself too",
    }
}

/// The choice of a role, among those that somebody of the role `by` gives.
pub(super) fn role_input(by: Role, chosen: Role) -> Input {
    let given = Role::ALL.into_iter().filter(|role| by.manages(*role));
    Input::choice("role", "Role", "select", given.map(|role| (role.word(), meaning(role), role == chosen)))
}

/// The choice of a role to look for.
pub(super) fn any_role_input(chosen: &str) -> Input {
    let any = [("", "Every role", chosen.is_empty())].into_iter();
    let each = Role::ALL.into_iter().map(|role| (role.word(), role.word(), role.word() == chosen));
    Input::choice("role", "Role", "select", any.chain(each))
}

/// The field of the playbooks where a role counts.
pub(super) fn playbooks_input(given: &str) -> Input {
    Input::new(PLAYBOOKS, "Playbooks", "text", "off")
        .hint("Ids of the playbooks, with spaces between them; empty for every playbook. Admins and owners reach them all.")
        .given(given)
        .optional()
}

/// The playbooks of a form as operations take them.
///
/// # Errors
/// 422 at `/playbooks`.
pub(super) fn read(fields: &Fields) -> Result<Value> {
    let ids: Vec<&str> = fields.get(PLAYBOOKS).split([' ', ',', '\t']).filter(|id| !id.is_empty()).collect();
    if ids.is_empty() {
        return Ok(json!("*"));
    }
    if Role::of(fields.get("role")).is_some_and(|role| !role.is_narrowed()) {
        return Err(Problem::invalid("/playbooks", "must be empty for an admin or an owner, who reach every playbook"));
    }
    if let Some(bad) = ids.iter().find(|id| !playbooks::is_id(id)) {
        return Err(Problem::invalid("/playbooks", format!("has {bad}, which is no id of a playbook")));
    }
    Ok(json!(ids))
}

/// The playbooks where a role counts, in words.
pub(super) fn words(playbooks: &Playbooks) -> String {
    match playbooks {
        Playbooks::All => "all".to_owned(),
        Playbooks::Only(ids) => ids.join(", "),
    }
}
