//! Renaming, deleting and restoring an org: matters of its owners.

use serde_json::json;

use super::{Org, Status, one};
use crate::clock;
use crate::error::{Problem, Reason, Result};
use crate::identity::{Caller, Changed as Row, Identity, members, people};
use crate::ledger::{Actor, Changed, Event};
use crate::on_connection;
use crate::store::Connection;

/// How long an org that is being deleted can be restored, in milliseconds.
pub const DELETION_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

const RENAME: &str = "UPDATE orgs SET name = $2 WHERE id = $1";
const SET_STATUS: &str = "UPDATE orgs SET status = $2, deletes_at = $3 WHERE id = $1 AND status = $4";

/// The refusal of a command in an org that is being deleted.
pub fn deleting() -> Problem {
    Problem::conflict(
        "deleting",
        "The org is being deleted: it can be read and restored by an owner, and nothing in it changes.",
    )
}

/// What an owner does with an org.
#[derive(Debug, Clone)]
enum Act {
    Rename(String),
    Delete,
    Restore,
}

impl Identity {
    /// Gives an org another name; the same again changes and tells nothing.
    ///
    /// # Errors
    /// 403 for who does not own it, 422 at `/name`.
    pub async fn rename_org(&self, caller: &Caller, name: &str) -> Result<Org> {
        let Some(name) = people::name(name) else {
            return Err(Problem::invalid("/name", "must be 1 to 100 characters, not blank"));
        };
        self.act(&caller.org, by(caller), caller.actor(), Act::Rename(name)).await
    }

    /// Begins to delete an org: for [`DELETION_MS`] it can be restored, then it goes.
    ///
    /// # Errors
    /// 403 for who does not own it, 409 `deleting` when that has begun.
    pub async fn delete_org(&self, caller: &Caller) -> Result<Org> {
        self.act(&caller.org, by(caller), caller.actor(), Act::Delete).await
    }

    /// The same by the operator's command.
    pub async fn delete_org_as_operator(&self, org: &str) -> Result<Org> {
        self.act(org, None, Actor::operator(), Act::Delete).await
    }

    /// Keeps an org after all.
    ///
    /// # Errors
    /// 403 for who does not own it, 409 when it is not being deleted, or its time is over.
    pub async fn restore_org(&self, caller: &Caller) -> Result<Org> {
        self.act(&caller.org, by(caller), caller.actor(), Act::Restore).await
    }

    async fn act(&self, org: &str, by: Option<String>, actor: Actor, act: Act) -> Result<Org> {
        let (id, now) = (org.to_owned(), self.now_ms());
        let work: crate::ledger::Work<Org> = Box::new(move |connection| {
            Box::pin(async move {
                let before = one(connection, &id).await?.filter(|org| org.status != Status::Deleted);
                let before = before.ok_or_else(unknown)?;
                if let Some(by) = by {
                    members::changes::owns(connection, &id, &by).await?;
                }
                match act {
                    Act::Rename(name) => rename(connection, before, name, actor).await,
                    Act::Delete => delete(connection, before, actor, now).await,
                    Act::Restore => restore(connection, before, actor, now).await,
                }
            })
        });
        let after = self.ledger.commit(org, work).await?;
        self.forget(Row::Org(org));
        Ok(after)
    }
}

fn by(caller: &Caller) -> Option<String> {
    Some(caller.person().unwrap_or_default().to_owned())
}

/// The refusal for an org that is not there.
pub fn unknown() -> Problem {
    Problem::not_found("There is no such org.")
}

async fn rename(connection: &mut Connection, mut org: Org, name: String, actor: Actor) -> Result<Changed<Org>> {
    if org.name == name {
        return Ok(Changed::nothing(org));
    }
    on_connection!(connection, c => sqlx::query(RENAME).bind(&org.id).bind(&name).execute(c).await.map(|_| ()))?;
    let facts = json!({ "name": { "before": org.name, "after": name } });
    org.name = name;
    let event = event(&org, "org_renamed", actor, facts);
    Ok(Changed::by(org, event))
}

async fn delete(connection: &mut Connection, mut org: Org, actor: Actor, now_ms: i64) -> Result<Changed<Org>> {
    org.deletes_at_ms = Some(now_ms + DELETION_MS);
    if !set(connection, &org, Status::Active, Status::Deleting).await? {
        return Err(deleting());
    }
    org.status = Status::Deleting;
    let facts = json!({ "deletes_at": org.deletes_at_ms.map(clock::iso) });
    let event = event(&org, "org_deleted", actor, facts);
    Ok(Changed::by(org, event))
}

async fn restore(connection: &mut Connection, mut org: Org, actor: Actor, now_ms: i64) -> Result<Changed<Org>> {
    if org.deletes_at_ms.is_some_and(|end| end <= now_ms) {
        return Err(Problem::new(Reason::Conflict, "The seven days are over: the org is gone."));
    }
    org.deletes_at_ms = None;
    if !set(connection, &org, Status::Deleting, Status::Active).await? {
        return Err(Problem::new(Reason::Conflict, "The org is not being deleted."));
    }
    org.status = Status::Active;
    let event = event(&org, "org_restored", actor, json!({}));
    Ok(Changed::by(org, event))
}

async fn set(connection: &mut Connection, org: &Org, from: Status, to: Status) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(SET_STATUS)
        .bind(&org.id).bind(to.word()).bind(org.deletes_at_ms).bind(from.word())
        .execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}

/// An event of the audit about an org.
pub(super) fn event(org: &Org, kind: &'static str, actor: Actor, facts: serde_json::Value) -> Event {
    Event::audit(format!("orgs/{}", org.id), kind, actor, facts).about(org.name.as_str())
}
