//! Inviting somebody, and taking it back.

use serde_json::json;

use super::{Invitation, LIFE_MS, MOST_A_DAY, MOST_OPEN, Status};
use crate::clock;
use crate::config::Secret;
use crate::error::{Problem, Reason, Result};
use crate::identity::caller::PERSON;
use crate::identity::{Caller, Identity, Playbooks, Role, members, people};
use crate::ledger::{Actor, Changed, Event};
use crate::on_connection;
use crate::store::Connection;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

const INSERT: &str = "INSERT INTO invitations \
     (org, id, digest, email, role, playbooks, status, created_at, created_by, expires_at, mailed) \
     VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $8, $9, $10)";
const END: &str = "UPDATE invitations SET status = $3 WHERE org = $1 AND id = $2 AND status = 'open'";
const COUNTS: &str = "SELECT \
     COALESCE(SUM(CASE WHEN status = 'open' AND expires_at > $2 AND email <> $3 THEN 1 ELSE 0 END), 0), \
     COALESCE(SUM(CASE WHEN created_at > $4 THEN 1 ELSE 0 END), 0) FROM invitations WHERE org = $1";

/// Whom to invite, as what.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The address, as [`people::email`] gives it.
    pub email: String,
    /// The role.
    pub role: Role,
    /// Where it counts.
    pub playbooks: Playbooks,
}

/// An invitation just made, with its code: the only time it is told.
pub struct Sent {
    /// The invitation.
    pub invitation: Invitation,
    /// Its code.
    pub code: Secret,
}

impl Identity {
    /// Invites an address on behalf of who manages the org; an open invitation to the same address ends with it. With
    /// `mailed`, the code goes to the address by mail and to nobody else.
    ///
    /// # Errors
    /// 403 for a role the caller does not manage, 409 `taken` for a member, `invitations_full`, 429 over a hundred a day.
    pub async fn invite(&self, caller: &Caller, draft: Draft, mailed: bool) -> Result<Sent> {
        let person = caller.person().unwrap_or_default().to_owned();
        self.send(&caller.org, caller.actor(), Some(person), draft, mailed).await
    }

    /// The same by the operator's command, for any role.
    pub async fn invite_as_operator(&self, org: &str, draft: Draft) -> Result<Sent> {
        self.send(org, Actor::operator(), None, draft, false).await
    }

    async fn send(&self, org: &str, actor: Actor, by: Option<String>, draft: Draft, mailed: bool) -> Result<Sent> {
        let (id, code, now) = (self.ids.invitation(), self.ids.invitation_code(), self.now_ms());
        let digest = super::digest(&code);
        let invitation = Invitation {
            org: org.to_owned(),
            id,
            email: draft.email,
            role: draft.role,
            playbooks: if draft.role.is_narrowed() { draft.playbooks } else { Playbooks::All },
            status: Status::Open,
            created_at_ms: now,
            created_by: actor.id.clone(),
            expires_at_ms: now + LIFE_MS,
            mailed,
        };
        let made = self.ledger.commit(
            org,
            Box::new(move |connection| {
                Box::pin(async move {
                    if let Some(by) = by {
                        members::changes::manages(connection, &invitation.org, &by, invitation.role).await?;
                    }
                    let replaced = room(connection, &invitation, now).await?;
                    insert(connection, &invitation, &digest).await?;
                    let facts = json!({
                        "email": invitation.email,
                        "role": invitation.role,
                        "playbooks": members::playbooks_value(&invitation.playbooks),
                        "expires_at": clock::iso(invitation.expires_at_ms),
                        "replaces": replaced,
                    });
                    let event = event(&invitation, "member_invited", actor, facts);
                    Ok(Changed::by(invitation, event))
                })
            }),
        );
        Ok(Sent { invitation: made.await?, code: Secret::new(code.as_str()) })
    }

    /// Takes an invitation back; again is the same and tells nothing new.
    ///
    /// # Errors
    /// 404 for an unknown one, 403 for an owner's by somebody who is none, 409 for one that was accepted.
    pub async fn revoke_invitation(&self, caller: &Caller, id: &str) -> Result<Invitation> {
        let (org, id, actor, now) = (caller.org.clone(), id.to_owned(), caller.actor(), self.now_ms());
        let by = caller.person().unwrap_or_default().to_owned();
        let work: crate::ledger::Work<Invitation> = Box::new(move |connection| {
            Box::pin(async move {
                let mut invitation = super::one(connection, &org, &id, now).await?.ok_or_else(unknown)?;
                members::changes::manages(connection, &org, &by, invitation.role).await?;
                match invitation.status {
                    Status::Accepted => {
                        return Err(Problem::new(
                            Reason::Conflict,
                            "The invitation was accepted: its person is a member now. remove_member takes them out.",
                        ));
                    }
                    Status::Revoked => return Ok(Changed::nothing(invitation)),
                    Status::Open | Status::Expired => {}
                }
                if !end(connection, &org, &id, Status::Revoked).await? {
                    // It expired and was told so when another took its place.
                    return Ok(Changed::nothing(invitation));
                }
                invitation.status = Status::Revoked;
                let event = event(&invitation, "invitation_revoked", actor, json!({}));
                Ok(Changed::by(invitation, event))
            })
        });
        self.ledger.commit(&caller.org, work).await
    }
}

/// Takes back what `person` invited to the org and, with the role `left` to them, could invite to no more, inside the commit
/// that takes the right away: nobody grants more than they hold, and who was taken out leaves no door open for themselves.
pub(in crate::identity) async fn revoke_beyond(
    connection: &mut Connection,
    org: &str,
    person: &str,
    left: Option<Role>,
    (now_ms, actor): (i64, &Actor),
) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for mut invitation in super::open_of_inviter(connection, org, &format!("{PERSON}{person}"), now_ms).await? {
        if left.is_some_and(|left| left.manages(invitation.role)) {
            continue;
        }
        if end(connection, org, &invitation.id, Status::Revoked).await? {
            invitation.status = Status::Revoked;
            let facts = json!({ "cause": "inviter_may_no_more" });
            events.push(event(&invitation, "invitation_revoked", actor.clone(), facts));
        }
    }
    Ok(events)
}

/// The refusal for an invitation that is not the org's.
pub fn unknown() -> Problem {
    Problem::not_found("There is no such invitation. list_invitations shows those of the org.")
}

fn event(invitation: &Invitation, kind: &'static str, actor: Actor, facts: serde_json::Value) -> Event {
    Event::audit(format!("invitations/{}", invitation.id), kind, actor, facts).about(invitation.email.as_str())
}

/// Whether there is room for one more; ends the open one to the same address and gives its id.
async fn room(connection: &mut Connection, invitation: &Invitation, now_ms: i64) -> Result<Option<String>> {
    let org = &invitation.org;
    let there = match people::of_email(connection, &invitation.email).await? {
        Some(person) => members::one(connection, org, &person.id).await?.is_some(),
        None => false,
    };
    if there {
        return Err(Problem::conflict(
            "taken",
            "The person of this address is a member already. change_role changes what they may do.",
        ));
    }
    let (open, today): (i64, i64) = on_connection!(connection, c => sqlx::query_as(COUNTS)
        .bind(org).bind(now_ms).bind(&invitation.email).bind(now_ms - DAY_MS).fetch_one(c).await)?;
    if open >= MOST_OPEN {
        let words = "100 invitations of the org are open, the most there may be. Revoke some first.";
        return Err(Problem::conflict("invitations_full", words));
    }
    if today >= MOST_A_DAY {
        let words = "100 invitations were made today, the most there may be. Wait until tomorrow.";
        return Err(Problem::new(Reason::TooManyRequests, words).retry_after(60 * 60));
    }
    let Some(before) = super::open_to(connection, org, &invitation.email, now_ms).await? else { return Ok(None) };
    let status = if before.status == Status::Open { Status::Revoked } else { Status::Expired };
    end(connection, org, &before.id, status).await?;
    Ok((status == Status::Revoked).then_some(before.id))
}

async fn insert(connection: &mut Connection, invitation: &Invitation, digest: &str) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&invitation.org)
        .bind(&invitation.id)
        .bind(digest)
        .bind(&invitation.email)
        .bind(invitation.role.word())
        .bind(members::playbooks_text(&invitation.playbooks))
        .bind(invitation.created_at_ms)
        .bind(&invitation.created_by)
        .bind(invitation.expires_at_ms)
        .bind(invitation.mailed)
        .execute(c)
        .await
        .map(|_| ()))?;
    Ok(())
}

async fn end(connection: &mut Connection, org: &str, id: &str, status: Status) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(END)
        .bind(org).bind(id).bind(status.word()).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}
