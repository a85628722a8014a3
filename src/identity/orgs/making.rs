//! Making an org: by a person in Studio, where the operator lets them, or by the operator's command.

use serde_json::json;

use super::{Org, Status, insert, is_new_id};
use crate::config::OrgCreation;
use crate::error::{Problem, Reason, Result};
use crate::identity::members::{self, MOST_ORGS};
use crate::identity::{Caller, Changed as Row, Identity, Membership, Playbooks, Role, people};
use crate::ledger::{Actor, Changed, Event};
use crate::on_pool;
use crate::store::Connection;

const OF_PERSON: &str = "SELECT COUNT(*), COALESCE(SUM(CASE WHEN m.role = 'owner' AND o.status = 'active' THEN 1 ELSE 0 END), 0) \
     FROM memberships m JOIN orgs o ON o.id = m.org WHERE m.person = $1";
const ALL: &str =
    "SELECT id, name, status, created_at, created_by, deletes_at FROM orgs WHERE id > $1 ORDER BY id LIMIT $2";

impl Identity {
    /// Whether a person may make an org now.
    pub async fn may_make_org(&self, person: &str, rule: OrgCreation) -> Result<bool> {
        let (all, owned): (i64, i64) = on_pool!(self.ledger.store(), pool => sqlx::query_as(OF_PERSON)
            .bind(person).fetch_one(pool).await)?;
        let room = usize::try_from(all).unwrap_or(usize::MAX) < MOST_ORGS;
        Ok(room
            && match rule {
                OrgCreation::Anyone => true,
                OrgCreation::Owners => owned > 0,
                OrgCreation::Nobody => false,
            })
    }

    /// Makes an org that a person owns from then on.
    ///
    /// # Errors
    /// 403 where the operator's rule does not let them, 422 for an id that is none, 409 `taken`.
    pub async fn make_org(&self, caller: &Caller, id: &str, name: &str, rule: OrgCreation) -> Result<Org> {
        let Some(person) = caller.person() else {
            return Err(Problem::forbidden("Only a person who signed in makes an org.").challenge(None));
        };
        if !self.may_make_org(person, rule).await? {
            let words = "You may not make another org here. Whoever runs the server decides who may.";
            return Err(Problem::forbidden(words).challenge(None));
        }
        self.found_org(id, name, Some(person.to_owned()), caller.actor()).await
    }

    /// Makes an org by the operator's command, owned by a person who is there already, or by nobody yet.
    pub async fn make_org_as_operator(&self, id: &str, name: &str, owner: Option<String>) -> Result<Org> {
        self.found_org(id, name, owner, Actor::operator()).await
    }

    async fn found_org(&self, id: &str, name: &str, owner: Option<String>, actor: Actor) -> Result<Org> {
        if !is_new_id(id) {
            let words = "must be 3 to 48 lowercase letters, digits and hyphens, and none of the server's own paths";
            return Err(Problem::invalid("/id", words));
        }
        let Some(name) = people::name(name) else {
            return Err(Problem::invalid("/name", "must be 1 to 100 characters, not blank"));
        };
        let now = self.now_ms();
        let org = Org {
            id: id.to_owned(),
            name,
            status: Status::Active,
            created_at_ms: now,
            created_by: actor.id.clone(),
            deletes_at_ms: None,
        };
        let (made, owned_by) = (org.clone(), owner.clone());
        let work: crate::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move { Ok(Changed::by((), found(connection, &made, owned_by.as_deref(), actor).await?)) })
        });
        self.ledger.commit(id, work).await?;
        self.forget(Row::Org(id));
        if let Some(person) = &owner {
            self.forget(Row::Membership(id, person));
        }
        Ok(org)
    }

    /// At most `limit` orgs whose ids come after `last`.
    pub async fn orgs(&self, last: &str, limit: i64) -> Result<Vec<Org>> {
        let rows: Vec<super::Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ALL)
            .bind(last).bind(limit).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(Org::from).collect())
    }
}

/// Writes a new org and the membership of its owner, inside a commit of that org: also beside a person made in the same
/// commit. [`Identity::forget`] both after it.
///
/// # Errors
/// 409 `taken`.
pub async fn found(connection: &mut Connection, org: &Org, owner: Option<&str>, actor: Actor) -> Result<Event> {
    if !insert(connection, org).await? {
        let words = "An org of this id is or was there, and an id is never used twice. Choose another.";
        return Err(Problem::conflict("taken", words));
    }
    if let Some(person) = owner {
        let membership = Membership {
            org: org.id.clone(),
            person: person.to_owned(),
            role: Role::Owner,
            playbooks: Playbooks::All,
            created_at_ms: org.created_at_ms,
            created_by: actor.id.clone(),
            last_seen_at_ms: None,
        };
        if !members::insert(connection, &membership).await? {
            return Err(Problem::new(Reason::Conflict, "The person is a member already."));
        }
    }
    let owner = owner.map(|person| format!("{}{person}", crate::identity::caller::PERSON));
    let facts = json!({ "name": org.name, "owner": owner });
    Ok(Event::audit(format!("orgs/{}", org.id), "org_created", actor, facts).about(org.name.as_str()))
}
