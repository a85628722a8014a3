//! The page's side of a link: what it is about, the approval, the credential, the refusal (`connections.md` 9.3).
//!
//! Served over HTTP alone, to the session of the person the link was made for; never to a bearer credential.

pub mod approve;
pub mod cancel;
pub mod finish;
pub mod give_credential;
pub mod read_link;
mod scope_words;
pub mod start;

use super::Context;
use crate::connections::links::{Failed, Opened, gone};
use crate::connections::{Kept, Placed, Record, Status, View};
use crate::error::{Problem, Reason, Result};
use crate::identity::{Permission, Who};
use crate::tool_servers::probe::Probe;

/// The link, for a command of the person it was made for.
async fn opened(context: &Context, link: &str) -> Result<Opened> {
    let found = context.app.connections.open_link(context.org(), link, context.now_ms()).await?.ok_or_else(gone)?;
    if found.link.person != context.caller.id() {
        told(context, link, &found).await?;
        inside(context)?;
        let words = format!("This link is for {} to approve.", found.record.added_by.name);
        return Err(Problem::new(Reason::Forbidden, words).kind("not_yours"));
    }
    still_may(context)?;
    Ok(found)
}

/// The audit tells who opened a link that is not theirs.
async fn told(context: &Context, link: &str, found: &Opened) -> Result<()> {
    let who = context.caller.actor();
    context.app.connections.opened_by_another(context.org(), link, &found.link, who).await
}

/// To who does not belong to the org of a link, the link is an unknown one.
fn inside(context: &Context) -> Result<()> {
    let outside = matches!(&context.caller.who, Who::Person(person) if person.role.is_none());
    if outside { Err(gone()) } else { Ok(()) }
}

/// Who added a connection approves it only while they still may add one.
fn still_may(context: &Context) -> Result<()> {
    if context.caller.may(Permission::OrgWrite) {
        return Ok(());
    }
    let words = "You may no longer connect anything in this org. An admin can change your role.";
    Err(Problem::forbidden(words).challenge(None))
}

/// A link that can still do something: open, and its connection pending and allowed.
fn usable(context: &Context, opened: &Opened) -> Result<()> {
    if opened.link.state != "open" || opened.record.status != Status::Pending {
        return Err(gone());
    }
    context.app.connections.still_allowed(&opened.record)
}

/// Opens the server and lists its tools with the credential to be approved; a failure is recorded on the link.
///
/// Answers the label of the account, where the provider says how to ask for it.
async fn tried(context: &Context, link: &str, record: &Record, placed: Option<&Placed>) -> Result<Option<String>> {
    let tool_servers = &context.app.tool_servers;
    // Counted before it is tried, so that guesses sent at once do not pass the bound together.
    if !context.app.connections.reserve_attempt(context.org(), link).await? {
        return Err(gone());
    }
    let (failed, problem) = match tool_servers.probe(record, placed.cloned()).await {
        Ok(_) => {
            context.app.connections.give_attempt_back(context.org(), link).await?;
            return Ok(tool_servers.identity(record, placed).await.map(|account| account.label));
        }
        Err(Probe::Refused) => {
            let pointer = if placed.is_some() { "/value" } else { "" };
            (Failed::Refused, Problem::invalid(pointer, format!("{} does not take this credential", record.title)))
        }
        Err(Probe::Unreachable(words)) => (Failed::Unreachable, Problem::unavailable(words)),
        Err(Probe::NotAllowed) => {
            context.app.connections.give_attempt_back(context.org(), link).await?;
            return Err(Problem::new(Reason::Unavailable, "Whoever runs the server does not allow this address.")
                .kind("tool_not_offered")
                .because("connection_not_allowed"));
        }
    };
    let actor = context.caller.actor();
    context.app.connections.attempt_failed(context.org(), link, &record.id, actor, failed).await?;
    Err(problem)
}

/// Pending becomes connected; who comes second finds it so.
async fn connected(context: &Context, record: &Record, kept: Kept<'_>, account: Option<String>) -> Result<View> {
    let (actor, now) = (context.caller.actor(), context.now_ms());
    let (record, won) = context.app.connections.connect(context.org(), record, actor, now, kept, account).await?;
    if record.status == Status::Removed {
        return Err(gone());
    }
    if let (false, Kept::Value(value)) = (won, kept) {
        same_value(context, &record, value).await?;
    }
    Ok(super::connections::view(context, &record).await)
}

/// Who comes second with the same value finds the connection as it stands; another value is refused.
async fn same_value(context: &Context, record: &Record, value: &str) -> Result<()> {
    if context.app.connections.holds(record, value).await? {
        return Ok(());
    }
    let words = "The connection has its credential already. Remove it and add it again to give another.";
    Err(Problem::new(Reason::Conflict, words))
}

/// 409: the other button is the one for this kind.
fn wrong_way(words: &'static str) -> Problem {
    Problem::new(Reason::Conflict, words)
}
