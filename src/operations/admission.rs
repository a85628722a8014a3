//! The checks between a caller and an operation, the same over HTTP and MCP (`http-api.md` 1.7, steps 5 to 9).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Context, Entry, Needs, Scope};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::identity::Caller;
use crate::playbooks::{self, Status};

/// A context before its playbook is known.
pub fn context(app: Arc<App>, caller: Arc<Caller>, over_mcp: bool) -> Context {
    Context { app, caller, playbook: String::new(), over_mcp }
}

/// The caller's org must be the route's; whether the other exists is not told.
pub fn org(caller: &Caller, org: &str) -> Result<()> {
    if caller.org == org {
        return Ok(());
    }
    Err(Problem::forbidden("This credential does not act in that org."))
}

/// The caller must hold a permission the operation needs.
pub fn permission(entry: &Entry, caller: &Caller) -> Result<()> {
    if entry.permitted(caller) {
        return Ok(());
    }
    let needed = match entry.declaration.needs {
        Needs::Any(permissions) => {
            permissions.iter().map(|permission| permission.word()).collect::<Vec<_>>().join(" or ")
        }
        Needs::Caller | Needs::Session => "a person at Studio's page".to_owned(),
    };
    Err(Problem::forbidden(format!("This needs {needed}, which this credential does not have.")))
}

/// The playbook of a playbook's operation: within reach, there, and active when something is to change.
pub async fn playbook(entry: &Entry, context: &mut Context, playbook: &str) -> Result<()> {
    reach(&context.caller, playbook)?;
    if !playbooks::is_id(playbook) {
        return Err(playbooks::unknown());
    }
    let found = playbooks::find(&context.app.ledger, context.org(), playbook).await?.ok_or_else(playbooks::unknown)?;
    if found.status == Status::Retired && entry.declaration.is_command() {
        return Err(playbooks::retired());
    }
    playbook.clone_into(&mut context.playbook);
    Ok(())
}

/// The playbook in the path of an org's operation: within reach, and such as there can be. It is never echoed.
pub fn path_playbook(context: &Context, path: &Map<String, Value>) -> Result<()> {
    let Some(playbook) = path.get("playbook").and_then(Value::as_str) else { return Ok(()) };
    reach(&context.caller, playbook)?;
    if playbooks::is_id(playbook) { Ok(()) } else { Err(playbooks::unknown()) }
}

/// The playbook an org's operation names in its input must be within reach, before anything tells whether it exists.
pub fn org_playbook(entry: &Entry, context: &Context, input: &Map<String, Value>) -> Result<()> {
    match input.get("playbook").and_then(Value::as_str) {
        Some(playbook) if entry.declaration.scope == Scope::Org => reach(&context.caller, playbook),
        _ => Ok(()),
    }
}

/// The caller must reach the playbook; whether it exists is not told.
pub fn reach(caller: &Caller, playbook: &str) -> Result<()> {
    if caller.reaches(playbook) {
        return Ok(());
    }
    Err(Problem::forbidden("This credential does not reach that playbook. list_playbooks shows those it does."))
}
