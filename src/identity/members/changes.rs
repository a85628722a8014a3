//! Changing and ending memberships: who may, and what follows (`identity.md` 1.4 and 2.2).

use serde_json::json;

use super::{Membership, one, playbooks_text, playbooks_value};
use crate::error::{Issue, Problem, Result};
use crate::identity::invitations::sending::revoke_beyond;
use crate::identity::sign_in::sessions;
use crate::identity::{Caller, Changed as Row, Identity, Playbooks, Role, people};
use crate::ledger::{Actor, Changed, Event};
use crate::on_connection;
use crate::store::Connection;

const UPDATE: &str = "UPDATE memberships SET role = $3, playbooks = $4 WHERE org = $1 AND person = $2";
const DELETE: &str = "DELETE FROM memberships WHERE org = $1 AND person = $2";
/// An owner whose account is stopped keeps no org going.
const OTHER_OWNERS: &str = "SELECT COUNT(*) FROM memberships m JOIN people p ON p.id = m.person \
     WHERE m.org = $1 AND m.role = 'owner' AND p.status = 'active' AND m.person <> $2";

/// What becomes of a membership; what is left out stays.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The new role.
    pub role: Option<Role>,
    /// Where it counts from now on.
    pub playbooks: Option<Playbooks>,
}

impl Identity {
    /// Changes what a member may do; the same again changes and tells nothing. Who becomes an admin or an owner signs in
    /// anew: what somebody may have learned of their sessions before is worth nothing then (`identity.md` 8.3).
    ///
    /// # Errors
    /// 404 for nobody of the org; 403 for an owner's matters by somebody who is none, and for one's own promotion; 409
    /// `last_owner`; 422 for playbooks of a role that has them all.
    pub async fn change_member(&self, caller: &Caller, person: &str, change: Change) -> Result<Membership> {
        let (org, person, actor) = (caller.org.clone(), person.to_owned(), caller.actor());
        let (by, now) = (caller.person().unwrap_or_default().to_owned(), self.now_ms());
        let work: crate::ledger::Work<Membership> = Box::new(move |connection| {
            Box::pin(async move {
                let before = one(connection, &org, &person).await?.ok_or_else(unknown)?;
                let after = changed(&before, &change)?;
                if after == before {
                    return Ok(Changed::nothing(before));
                }
                may_change(connection, &by, &before, &after).await?;
                if before.role == Role::Owner && after.role != Role::Owner {
                    keeps_an_owner(connection, &org, &person).await?;
                }
                on_connection!(connection, c => sqlx::query(UPDATE)
                    .bind(&org).bind(&person).bind(after.role.word()).bind(playbooks_text(&after.playbooks))
                    .execute(c).await.map(|_| ()))?;
                let mut facts = json!({
                    "role": { "before": before.role, "after": after.role },
                    "playbooks": {
                        "before": playbooks_value(&before.playbooks),
                        "after": playbooks_value(&after.playbooks),
                    },
                });
                if after.role >= Role::Admin && after.role > before.role {
                    facts["sessions_ended"] = sessions::end_all(connection, &person, None).await?.into();
                }
                let mut events = vec![event(connection, &person, "member_role_changed", actor.clone(), facts).await?];
                if after.role < before.role {
                    let left = Some(after.role);
                    events.extend(revoke_beyond(connection, &org, &person, left, (now, &actor)).await?);
                }
                Ok(Changed::of(after, events))
            })
        });
        let membership = self.ledger.commit(&caller.org, work).await?;
        self.forget(Row::Membership(&membership.org, &membership.person));
        Ok(membership)
    }

    /// Takes a person out of the org of the caller, who may be that person and leave. What they held there ends with it.
    ///
    /// # Errors
    /// 404 for nobody of the org; 403 for an owner by somebody who is none; 409 `last_owner`.
    pub async fn remove_member(&self, caller: &Caller, person: &str) -> Result<Membership> {
        let by = caller.person().unwrap_or_default();
        self.end_membership(&caller.org, person, caller.actor(), Some(by.to_owned())).await
    }

    /// Ends a membership; `by` is whose right it needs, nobody's where the server does it for a person who ends the account.
    pub(in crate::identity) async fn end_membership(
        &self,
        org: &str,
        person: &str,
        actor: Actor,
        by: Option<String>,
    ) -> Result<Membership> {
        let (org_name, person_id, now) = (org.to_owned(), person.to_owned(), self.now_ms());
        let work: crate::ledger::Work<Membership> = Box::new(move |connection| {
            Box::pin(async move {
                let membership = one(connection, &org_name, &person_id).await?.ok_or_else(unknown)?;
                let leaves = by.as_deref().is_none_or(|by| by == person_id);
                if let Some(by) = by.filter(|_| !leaves) {
                    manages(connection, &org_name, &by, membership.role).await?;
                }
                if membership.role == Role::Owner {
                    keeps_an_owner(connection, &org_name, &person_id).await?;
                }
                on_connection!(connection, c => sqlx::query(DELETE)
                    .bind(&org_name).bind(&person_id).execute(c).await.map(|_| ()))?;
                let kind = if leaves { "member_left" } else { "member_removed" };
                let facts = json!({ "role": membership.role });
                let mut events = vec![event(connection, &person_id, kind, actor.clone(), facts).await?];
                let ended = super::ended::on_membership_ended(connection, &org_name, &person_id, now, &actor);
                events.extend(ended.await?);
                Ok(Changed::of(membership, events))
            })
        });
        let membership = self.ledger.commit(org, work).await?;
        self.forget(Row::Membership(org, person));
        Ok(membership)
    }
}

/// The refusal for somebody who is no member.
pub fn unknown() -> Problem {
    Problem::not_found("There is no such member. list_members shows those of the org.")
}

fn not_yours_to_manage() -> Problem {
    Problem::forbidden("Your role in this org does not allow this: only an owner decides about owners.").challenge(None)
}

/// Refuses a person who may not decide about somebody of `role`, as the commit sees them.
///
/// # Errors
/// 403.
pub(in crate::identity) async fn manages(connection: &mut Connection, org: &str, by: &str, role: Role) -> Result<()> {
    let own = one(connection, org, by).await?;
    if own.is_some_and(|own| own.role.manages(role)) { Ok(()) } else { Err(not_yours_to_manage()) }
}

/// Refuses a person who does not own the org, as the commit sees them.
///
/// # Errors
/// 403.
pub(in crate::identity) async fn owns(connection: &mut Connection, org: &str, by: &str) -> Result<()> {
    manages(connection, org, by, Role::Owner).await
}

async fn may_change(connection: &mut Connection, by: &str, before: &Membership, after: &Membership) -> Result<()> {
    if by == before.person && after.role > before.role {
        return Err(Problem::forbidden("Nobody raises their own role. Ask another owner.").challenge(None));
    }
    manages(connection, &before.org, by, before.role).await?;
    manages(connection, &before.org, by, after.role).await
}

fn changed(before: &Membership, change: &Change) -> Result<Membership> {
    let role = change.role.unwrap_or(before.role);
    let playbooks = match &change.playbooks {
        Some(Playbooks::Only(_)) if !role.is_narrowed() => {
            let words = format!("must be \"*\": the role {} reaches every playbook", role.word());
            return Err(Problem::invalid_all(vec![Issue::new("/playbooks", words)]));
        }
        Some(playbooks) => playbooks.clone(),
        None if role.is_narrowed() => before.playbooks.clone(),
        None => Playbooks::All,
    };
    Ok(Membership { role, playbooks, ..before.clone() })
}

/// Refuses to take an owner away where no other one is left.
async fn keeps_an_owner(connection: &mut Connection, org: &str, person: &str) -> Result<()> {
    let (others,): (i64,) =
        on_connection!(connection, c => sqlx::query_as(OTHER_OWNERS).bind(org).bind(person).fetch_one(c).await)?;
    if others > 0 {
        return Ok(());
    }
    Err(Problem::conflict("last_owner", "This is the only owner of the org. Make somebody else an owner first."))
}

/// An event about a member, by the name they have now.
async fn event(
    connection: &mut Connection,
    person: &str,
    kind: &'static str,
    actor: Actor,
    facts: serde_json::Value,
) -> Result<Event> {
    let name = people::one(connection, person).await?.map(|person| person.name).unwrap_or_default();
    Ok(Event::audit(format!("members/{person}"), kind, actor, facts).about(name))
}
