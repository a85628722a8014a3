//! Accepting an invitation: whoever has its code and is the person of its address joins, once.

use serde_json::json;

use super::{Invitation, Status, masked, one};
use crate::error::{Problem, Reason, Result};
use crate::identity::members::{self, MOST_MEMBERS, MOST_ORGS, Membership};
use crate::identity::{Changed as Row, Identity, Person, orgs, people};
use crate::ledger::{Actor, Changed, Event};
use crate::on_connection;
use crate::store::Connection;

const ACCEPT: &str = "UPDATE invitations SET status = 'accepted', accepted_by = $3 \
     WHERE org = $1 AND id = $2 AND status = 'open' AND expires_at > $4";
const ORGS_OF: &str = "SELECT COUNT(*) FROM memberships WHERE person = $1";
const MEMBERS_OF: &str = "SELECT COUNT(*) FROM memberships WHERE org = $1";

/// How it is known that the address is the person's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Mail is sent: the account's email must have been proved by one, be it the one that carried the code.
    Verified,
    /// No mail is sent: whoever was given the code is the person of the address.
    Code,
}

impl Identity {
    /// Lets a person in by the code of an invitation.
    ///
    /// # Errors
    /// 404 alike for a code that is unknown, spent or too old; 403 for the address of somebody else, named in part; 409 for
    /// a member, a full org or a person of too many orgs.
    pub async fn accept_invitation(&self, code: &str, person: &str, actor: Actor, proof: Proof) -> Result<Membership> {
        let invitation = self.invitation_of_code(code).await?.ok_or_else(no_good)?;
        let (org, person, now) = (invitation.org.clone(), person.to_owned(), self.now_ms());
        let work: crate::ledger::Work<Membership> = Box::new(move |connection| {
            Box::pin(async move {
                let person = people::one(connection, &person).await?.filter(Person::is_active).ok_or_else(no_good)?;
                let (membership, event) = accept(connection, &invitation, &person, actor, proof, now).await?;
                Ok(Changed::by(membership, event))
            })
        });
        let membership = self.ledger.commit(&org, work).await?;
        self.forget(Row::Membership(&membership.org, &membership.person));
        self.forget(Row::Person(&membership.person));
        Ok(membership)
    }
}

/// Lets `person` in, inside a commit of the invitation's org: also for an account made in the same commit.
/// [`Identity::forget`] the membership and the person after it.
///
/// # Errors
/// As [`Identity::accept_invitation`].
pub async fn accept(
    connection: &mut Connection,
    invitation: &Invitation,
    person: &Person,
    actor: Actor,
    proof: Proof,
    now_ms: i64,
) -> Result<(Membership, Event)> {
    // As the commit sees it: it may have been accepted or taken back since it was looked up.
    let invitation = one(connection, &invitation.org, &invitation.id, now_ms).await?.ok_or_else(no_good)?;
    if invitation.status != Status::Open {
        return Err(no_good());
    }
    if person.email.as_deref() != Some(&invitation.email) {
        return Err(other_address(&invitation.email));
    }
    if person.email_verified_at_ms.is_none() {
        if !invitation.proves_address(proof) {
            let words =
                "The email of this account is not confirmed yet. Settings, Profile sends a link that confirms it.";
            return Err(Problem::forbidden(words).challenge(None));
        }
        people::verify_email(connection, &person.id, now_ms).await?;
    }
    room(connection, &invitation.org, &person.id).await?;
    let membership = Membership {
        org: invitation.org.clone(),
        person: person.id.clone(),
        role: invitation.role,
        playbooks: invitation.playbooks.clone(),
        created_at_ms: now_ms,
        created_by: invitation.created_by.clone(),
        last_seen_at_ms: None,
    };
    let spent = on_connection!(connection, c => sqlx::query(ACCEPT)
        .bind(&invitation.org).bind(&invitation.id).bind(&person.id).bind(now_ms)
        .execute(c).await.map(|done| done.rows_affected()))?;
    if spent == 0 {
        return Err(no_good());
    }
    if !members::insert(connection, &membership).await? {
        return Err(Problem::conflict("taken", "You are a member of this org already."));
    }
    let facts = json!({
        "role": membership.role,
        "playbooks": members::playbooks_value(&membership.playbooks),
        "invitation": invitation.id,
    });
    let event = Event::audit(format!("members/{}", person.id), "member_joined", actor, facts);
    Ok((membership, event.about(person.name.as_str())))
}

/// The refusal of a code, whatever is wrong with it.
pub fn no_good() -> Problem {
    Problem::not_found("This invitation is not good: it was used, taken back or is too old. Ask for a new one.")
}

fn other_address(email: &str) -> Problem {
    let words =
        format!("This invitation is for {}. Sign in as the person of that address to accept it.", masked(email));
    Problem::forbidden(words).kind("not_yours").challenge(None)
}

/// The org takes people, and neither it nor the person is full.
pub async fn room(connection: &mut Connection, org: &str, person: &str) -> Result<()> {
    match orgs::one(connection, org).await? {
        Some(org) if org.status == orgs::Status::Active => {}
        Some(org) if org.status == orgs::Status::Deleting => return Err(orgs::deleting()),
        _ => return Err(no_good()),
    }
    let (of_person,): (i64,) =
        on_connection!(connection, c => sqlx::query_as(ORGS_OF).bind(person).fetch_one(c).await)?;
    let (of_org,): (i64,) = on_connection!(connection, c => sqlx::query_as(MEMBERS_OF).bind(org).fetch_one(c).await)?;
    if usize::try_from(of_person).unwrap_or(usize::MAX) >= MOST_ORGS {
        return Err(Problem::new(Reason::Conflict, "You belong to 100 orgs, the most there may be. Leave one first."));
    }
    if of_org >= MOST_MEMBERS {
        return Err(Problem::new(Reason::Conflict, "The org has 10,000 members, the most there may be."));
    }
    Ok(())
}
