//! People of an issuer outside: rows made at first sight and kept in step with what its tokens say (`identity.md` 6.2).

use super::people::{self, Status};
use super::tokens::Claims;
use super::{Changed, Identity, Membership, Org, Person, Playbooks, Role, members, orgs};
use crate::config::{self, Members};
use crate::error::Result;
use crate::ledger::{Actor, Changed as Committed, Event};
use crate::on_connection;
use crate::store::Connection;

/// How often name and email are taken from a token at most, in milliseconds.
const REFRESH_MS: i64 = 60 * 60 * 1_000;

const REFRESH: &str = "UPDATE people SET name = $2, email = COALESCE($3, email), \
     email_verified_at = CASE WHEN $4 THEN COALESCE(email_verified_at, $5) ELSE email_verified_at END, refreshed_at = $5 \
     WHERE id = $1 AND status <> 'deleted'";
const SET_ROLE: &str = "UPDATE memberships SET role = $3 WHERE org = $1 AND person = $2";

impl Identity {
    /// The person a good token of `external` is of, made or refreshed where it is time; their membership too, where the
    /// claims make it.
    pub(super) async fn seen(&self, external: &config::Issuer, claims: &Claims) -> Result<Option<Person>> {
        let now_ms = self.now_ms();
        let known = self.person_of_subject(&claims.issuer, &claims.subject).await?;
        let person = match known {
            Some(person) if now_ms - person.refreshed_at_ms < REFRESH_MS => person,
            known => self.meet(claims, known, now_ms).await?,
        };
        if let (Members::Claims, Some(org), Some(role)) = (external.members, &claims.org, claims.role) {
            let member = self.membership(org, &person.id).await?;
            if member.as_ref().is_none_or(|member| member.role != role && !is_first_owner(external, claims, member)) {
                self.belong(external, claims, &person, org, role).await?;
            }
        }
        Ok(Some(person))
    }

    /// Writes a person down, or what their issuer calls them now.
    async fn meet(&self, claims: &Claims, known: Option<Person>, now_ms: i64) -> Result<Person> {
        let fallback = format!("person {}", &claims.subject.chars().take(40).collect::<String>());
        let name = claims.name.as_deref().and_then(people::name).unwrap_or(fallback);
        let person = Person {
            id: known.as_ref().map_or_else(|| self.ids().person(), |person| person.id.clone()),
            name,
            email: claims.email.as_deref().and_then(people::email),
            email_verified_at_ms: claims.email_verified.then_some(now_ms),
            status: known.as_ref().map_or(Status::Active, |person| person.status),
            created_at_ms: known.as_ref().map_or(now_ms, |person| person.created_at_ms),
            refreshed_at_ms: now_ms,
        };
        let (issuer, subject) = (claims.issuer.clone(), claims.subject.clone());
        let (kept, known) = (person.clone(), known.is_some());
        let met = self
            .ledger()
            .commit(
                "",
                Box::new(move |connection| {
                    Box::pin(async move { write(connection, kept, known, &issuer, &subject, now_ms).await })
                }),
            )
            .await?;
        self.forget(Changed::Person(&met.id));
        self.forget(Changed::Subject(&claims.issuer, &claims.subject));
        Ok(met)
    }

    /// Makes the membership that claims say, and the org where it is new.
    async fn belong(
        &self,
        external: &config::Issuer,
        claims: &Claims,
        person: &Person,
        org: &str,
        role: Role,
    ) -> Result<()> {
        let now_ms = self.now_ms();
        let first = names_first_owner(external, claims);
        let (org_id, person_id, by) = (org.to_owned(), person.id.clone(), person.caller_id());
        let name = person.name.clone();
        self.ledger()
            .commit(
                org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let actor = Actor::new("person", by.clone(), name);
                        join(connection, &org_id, &person_id, actor, role, first, now_ms).await
                    })
                }),
            )
            .await?;
        self.forget(Changed::Org(org));
        self.forget(Changed::Membership(org, &person.id));
        Ok(())
    }
}

/// Whether the operator named this person the owner of the first org.
fn names_first_owner(external: &config::Issuer, claims: &Claims) -> bool {
    external.first_owner.as_deref().is_some_and(|named| {
        named == claims.subject
            || (claims.email_verified && people::email(named) == claims.email.as_deref().and_then(people::email))
    })
}

/// The owner whom the operator named stays one, whatever role the claims give.
fn is_first_owner(external: &config::Issuer, claims: &Claims, member: &Membership) -> bool {
    member.role == Role::Owner && names_first_owner(external, claims)
}

async fn write(
    connection: &mut Connection,
    mut person: Person,
    known: bool,
    issuer: &str,
    subject: &str,
    now_ms: i64,
) -> Result<Committed<Person>> {
    // An email that is somebody else's proves nothing: this person goes without.
    if let Some(email) = &person.email
        && people::of_email(connection, email).await?.is_some_and(|other| other.id != person.id)
    {
        (person.email, person.email_verified_at_ms) = (None, None);
    }
    if known {
        let verified = person.email_verified_at_ms.is_some();
        on_connection!(connection, c => sqlx::query(REFRESH)
            .bind(&person.id).bind(&person.name).bind(&person.email).bind(verified).bind(now_ms)
            .execute(c).await.map(|_| ()))?;
        return Ok(Committed::nothing(person));
    }
    // Two requests may see a person first: the commits of the server's own book come one after the other.
    if let Some(met) = people::of_subject(connection, issuer, subject).await? {
        return Ok(Committed::nothing(met));
    }
    people::insert(connection, &person).await?;
    people::link(connection, issuer, subject, &person.id, now_ms).await?;
    let actor = Actor::new("person", person.caller_id(), person.name.as_str());
    let event = Event::audit(
        format!("people/{}", person.id),
        "identity_linked",
        actor,
        serde_json::json!({ "person": person.id, "issuer": issuer }),
    );
    Ok(Committed::by(person, event))
}

async fn join(
    connection: &mut Connection,
    org: &str,
    person: &str,
    actor: Actor,
    role: Role,
    first: bool,
    now_ms: i64,
) -> Result<Committed<()>> {
    let made = orgs::insert(
        connection,
        &Org {
            id: org.to_owned(),
            name: org.to_owned(),
            status: orgs::Status::Active,
            created_at_ms: now_ms,
            created_by: actor.id.clone(),
            deletes_at_ms: None,
        },
    )
    .await?;
    let role = if first { Role::Owner } else { role };
    let member = members::one(connection, org, person).await?;
    let mut events = Vec::new();
    if made {
        events.push(Event::audit(
            format!("orgs/{org}"),
            "org_created",
            actor.clone(),
            serde_json::json!({ "name": org }),
        ));
    }
    let stream = format!("members/{person}");
    match member {
        None => {
            let membership = Membership {
                org: org.to_owned(),
                person: person.to_owned(),
                role,
                playbooks: Playbooks::All,
                created_at_ms: now_ms,
                created_by: actor.id.clone(),
                last_seen_at_ms: None,
            };
            members::insert(connection, &membership).await?;
            events.push(Event::audit(stream, "member_joined", actor, serde_json::json!({ "role": role.word() })));
        }
        Some(member) if member.role != role => {
            on_connection!(connection, c => sqlx::query(SET_ROLE)
                .bind(org).bind(person).bind(role.word()).execute(c).await.map(|_| ()))?;
            let facts = serde_json::json!({ "before": member.role.word(), "after": role.word() });
            events.push(Event::audit(stream, "member_role_changed", actor, facts));
        }
        Some(_) => {}
    }
    Ok(Committed::of((), events))
}
