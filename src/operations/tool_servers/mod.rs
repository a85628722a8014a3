//! The operations on tool servers (`http-api.md` 13): search, introspect, dry_run, validate, execute.

mod arguments;
pub mod dry_run;
pub mod execute;
pub mod introspect;
pub mod search;
pub mod search_in_playbook;
mod shown;
pub mod validate;
mod words;

use super::Context;
use crate::connections::input::{NAME_PATTERN as SERVER_PATTERN, TOOL_PATTERN};
use crate::error::{Problem, Result};
use crate::tool_servers::check::{Checks, Found};

/// The tool, where the playbook may call it now; else the refusal.
async fn found(context: &Context, server: &str, tool: &str) -> Result<Found> {
    checked(context, server, tool).await?.1
}

/// The same with how each check ended.
async fn checked(context: &Context, server: &str, tool: &str) -> Result<(Checks, Result<Found, Problem>)> {
    let tool_servers = &context.app.tool_servers;
    let (checks, found) = tool_servers.check(context.org(), &context.playbook, server, tool).await?;
    Ok((checks, found.map_err(|refusal| refusal.problem(server, tool))))
}
