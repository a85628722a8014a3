//! The checks between a caller and an operation, the same over HTTP and MCP (`http-api.md` 1.7, steps 5 to 9).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Context, Entry, Needs, Scope};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::identity::orgs::{self, Status as Standing};
use crate::identity::resource::words;
use crate::identity::{Caller, Permission, Resource, Who};
use crate::playbooks::{self, Status};

/// How long a sign-in counts as recent, in milliseconds.
pub const RECENT_MS: i64 = 10 * 60 * 1_000;

/// A context before its playbook is known.
pub fn context(app: Arc<App>, caller: Arc<Caller>, over_mcp: bool) -> Context {
    Context { app, caller, playbook: String::new(), over_mcp, csrf: None, held: None }
}

/// The caller's org must be the route's; whether the other exists is not told.
pub fn org(caller: &Caller, org: &str) -> Result<()> {
    if caller.org == org {
        return Ok(());
    }
    Err(Problem::forbidden("This credential does not act in that org."))
}

/// The scopes that would let a caller use an operation. Where one of several is enough, it is the first: declarations
/// name the narrowest first.
pub fn scopes(entry: &Entry) -> Vec<&'static str> {
    match entry.declaration.needs {
        Needs::Any(permissions) => words(&permissions[..1]),
        Needs::Caller | Needs::Person | Needs::Session => Vec::new(),
    }
}

/// A refused credential is asked for the whole set of the endpoint; where people and keys are managed, for that alone
/// (`identity.md` 4.2).
pub fn asking(entry: &Entry, problem: Problem) -> Problem {
    match entry.declaration.needs {
        Needs::Any([Permission::OrgAdmin]) => problem.scopes(&[Permission::OrgAdmin.word()]),
        _ => problem.scopes(&words(&Permission::ALL)),
    }
}

/// The caller must hold a permission the operation needs. A role that would never allow it gets no challenge, since
/// signing in again for more would not help (`identity.md` 4.4).
pub fn permission(entry: &Entry, caller: &Caller) -> Result<()> {
    if entry.permitted(caller) {
        return Ok(());
    }
    let needed = match entry.declaration.needs {
        Needs::Any(permissions) => {
            if let Some(words) = in_the_way(caller, permissions) {
                return Err(Problem::forbidden(words).challenge(None));
            }
            words(permissions).join(" or ")
        }
        Needs::Person => {
            return Err(Problem::forbidden("Only a person who signed in may do this; no key can.").challenge(None));
        }
        Needs::Caller | Needs::Session => "a person at Studio's page".to_owned(),
    };
    Err(Problem::forbidden(format!("This needs {needed}, which this credential does not have.")))
}

/// Operations that call a tool live, which callers do at a pace of its own (`identity.md` 12).
const PACED: [&str; 2] = ["execute", "execute_tool"];

/// A live call must keep to its pace.
pub fn pace(app: &App, entry: &Entry, caller: &Caller) -> Result<()> {
    if PACED.contains(&entry.declaration.name) { app.limits.execute(caller) } else { Ok(()) }
}

/// Why no wider grant would help this caller, in words; nothing where one would.
fn in_the_way(caller: &Caller, permissions: &[Permission]) -> Option<String> {
    if caller.could(permissions) {
        return None;
    }
    Some(match caller.role() {
        Some(role) => format!("Your role in this org, {}, does not allow this. An admin can change it.", role.word()),
        None => "Only a person who manages the org may do this; no key and no local developer can.".into(),
    })
}

/// What may not be done by whoever finds an open browser: the person must have proved who they are within
/// [`RECENT_MS`] (`identity.md` 8.2).
pub fn recent_sign_in(context: &Context) -> Result<()> {
    recent(context.caller.signed_in_at_ms(), context.now_ms())
}

/// The same for who proved it at `at_ms`, or never.
pub fn recent(at_ms: Option<i64>, now_ms: i64) -> Result<()> {
    if at_ms.is_some_and(|at| now_ms - at <= RECENT_MS) {
        return Ok(());
    }
    Err(Problem::forbidden("This needs a fresh sign-in: sign in again and repeat it.")
        .kind("sign_in_again")
        .challenge(None))
}

/// A token must hold a scope of the endpoint at all.
pub fn endpoint(caller: &Caller, resource: &Resource) -> Result<()> {
    let scopes = resource.scopes();
    if scopes.iter().any(|permission| caller.may(*permission)) || !matches!(caller.who, Who::Person(_)) {
        return Ok(());
    }
    let needed = words(resource.asked()).join(" or ");
    Err(Problem::forbidden(format!("This endpoint needs {needed}, which this credential does not have.")))
}

/// The one command of an org that is being deleted.
const RESTORES: &str = "restore_org";

/// An org that is being deleted is read and restored, and nothing else; keys get no further (`identity.md` 1.4).
pub async fn living(entry: &Entry, context: &Context) -> Result<()> {
    let status = status(&context.app, context.org()).await?;
    let is_command = entry.declaration.is_command() && entry.declaration.scope != Scope::Server;
    match (status, &context.caller.who) {
        (Standing::Active, _) => Ok(()),
        (_, Who::Key { .. }) => Err(ending()),
        (Standing::Deleting, _) if !is_command || entry.declaration.id == RESTORES => Ok(()),
        (Standing::Deleting, _) => Err(orgs::deleting()),
        (Standing::Deleted, _) => Err(ending()),
    }
}

/// No agent reaches an org that is being deleted.
pub async fn living_endpoint(app: &App, caller: &Caller) -> Result<()> {
    match status(app, &caller.org).await? {
        Standing::Active => Ok(()),
        Standing::Deleting | Standing::Deleted => Err(ending()),
    }
}

/// Orgs of keys alone have no row, and are never deleted.
async fn status(app: &App, org: &str) -> Result<Standing> {
    if org.is_empty() || app.access.is_local() {
        return Ok(Standing::Active);
    }
    Ok(app.identity.org(org).await?.map_or(Standing::Active, |org| org.status))
}

fn ending() -> Problem {
    Problem::forbidden("The org is being deleted: keys and agents no longer reach it.").challenge(None)
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
