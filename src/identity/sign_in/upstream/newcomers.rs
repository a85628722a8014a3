//! Somebody a provider brings for the first time: invited to their verified email, or of a domain the operator lets in.

use serde_json::json;

use super::Trouble;
use crate::config::Newcomers;
use crate::error::{Problem, Reason, Result};
use crate::identity::invitations::accepting::{Proof, accept, room};
use crate::identity::invitations::{Invitation, open_to_address};
use crate::identity::people::{self, Status};
use crate::identity::sign_in::sessions::Browser;
use crate::identity::sign_in::{SERVER, actor};
use crate::identity::tokens::Claims;
use crate::identity::{Changed as Row, Identity, Membership, Person, Playbooks, Role, members};
use crate::ids::Ids;
use crate::ledger::{self, Actor, Changed, Event};
use crate::store::Connection;

/// Who a provider may bring that has no account yet.
pub(super) struct Door {
    /// Those of some domains, and where they belong.
    pub(super) newcomers: Option<Newcomers>,
    /// Anybody, as at the page that makes an account.
    pub(super) open: bool,
}

/// Somebody new.
struct Newcomer {
    person: Person,
    email: String,
    issuer: String,
    subject: String,
    who: Actor,
    /// The org of their domain, and the role there.
    of_domain: Option<(String, Role)>,
    open: bool,
}

impl Identity {
    /// Makes the account of somebody with a verified email that nobody has here yet, and lets them into the orgs that
    /// invited them, or else into that of their domain.
    ///
    /// # Errors
    /// [`Trouble::NotInvited`]; the refusal of the last invitation where none could be accepted.
    pub(super) async fn make_newcomer(
        &self,
        door: &Door,
        claims: &Claims,
        email: String,
        browser: &Browser,
    ) -> Result<Person, Trouble> {
        let now = self.now_ms();
        let person = Person {
            id: self.ids().person(),
            name: claims.name.as_deref().and_then(people::name).unwrap_or_else(|| email.chars().take(100).collect()),
            email: Some(email.clone()),
            email_verified_at_ms: Some(now),
            status: Status::Active,
            created_at_ms: now,
            refreshed_at_ms: now,
        };
        let newcomer = Newcomer {
            of_domain: door.newcomers.as_ref().and_then(|newcomers| of_domain(newcomers, &email)),
            open: door.open,
            email,
            issuer: claims.issuer.clone(),
            subject: claims.subject.clone(),
            who: browser.acting(actor(&person)),
            person,
        };
        let ids = self.ids().clone();
        let work: ledger::Work<Option<(Person, Vec<String>)>> =
            Box::new(move |connection| Box::pin(async move { make(connection, newcomer, now, &ids).await }));
        let (person, orgs) = self.ledger().commit(SERVER, work).await?.ok_or(Trouble::NotInvited)?;
        self.forget(Row::Person(&person.id));
        self.forget(Row::Subject(&claims.issuer, &claims.subject));
        orgs.iter().for_each(|org| self.forget(Row::Membership(org, &person.id)));
        Ok(person)
    }

    /// Lets somebody into every org that invited their verified email.
    pub(super) async fn accept_open_invitations(&self, person: &Person, email: &str, who: Actor) -> Result<()> {
        let (person, email, now, ids) = (person.clone(), email.to_owned(), self.now_ms(), self.ids().clone());
        let id = person.id.clone();
        let work: ledger::Work<Vec<String>> = Box::new(move |connection| {
            Box::pin(async move {
                let invited = open_to_address(connection, &email, now).await?;
                // A full org is no reason to stay outside: it is told where the invitation itself is opened.
                let joined = join(connection, &invited, &person, &who, now, &ids).await?;
                Ok(Changed::nothing(joined.unwrap_or_default()))
            })
        });
        for org in self.ledger().commit(SERVER, work).await? {
            self.forget(Row::Membership(&org, &id));
        }
        Ok(())
    }
}

/// The place of an email's domain.
fn of_domain(newcomers: &Newcomers, email: &str) -> Option<(String, Role)> {
    let (_, domain) = email.rsplit_once('@')?;
    let allowed = newcomers.domains.iter().any(|allowed| allowed == domain);
    Role::of(newcomers.role).filter(|_| allowed).map(|role| (newcomers.org.clone(), role))
}

async fn make(
    connection: &mut Connection,
    newcomer: Newcomer,
    now: i64,
    ids: &Ids,
) -> Result<Changed<Option<(Person, Vec<String>)>>> {
    let Newcomer { person, email, issuer, subject, who, of_domain, open } = newcomer;
    // Two browsers may bring them at once: commits of the server's own book come one after the other.
    if let Some(met) = people::of_subject(connection, &issuer, &subject).await? {
        return Ok(Changed::nothing(Some((met, Vec::new()))));
    }
    if people::of_email(connection, &email).await?.is_some() {
        return Err(Problem::conflict("taken", "This email has an account here by now. Sign in again."));
    }
    let invited = open_to_address(connection, &email, now).await?;
    if invited.is_empty() && of_domain.is_none() && !open {
        return Ok(Changed::nothing(None));
    }
    people::insert(connection, &person).await?;
    people::link(connection, &issuer, &subject, &person.id, now).await?;
    let joined = match (join(connection, &invited, &person, &who, now, ids).await?, of_domain) {
        (Ok(orgs), None) => orgs,
        (Ok(orgs), Some(_)) if !orgs.is_empty() => orgs,
        (_, Some((org, role))) => vec![belong(connection, &person, org, role, who.clone(), (now, ids)).await?],
        (Err(problem), None) => return Err(problem),
    };
    let facts = json!({ "person": person.id, "issuer": issuer });
    let event = Event::audit(format!("people/{}", person.id), "identity_linked", who, facts);
    Ok(Changed::by(Some((person, joined)), event))
}

/// Accepts each invitation that can be; where there are some and none can, the refusal of the last one.
async fn join(
    connection: &mut Connection,
    invited: &[Invitation],
    person: &Person,
    who: &Actor,
    now: i64,
    ids: &Ids,
) -> Result<Result<Vec<String>>> {
    let (mut joined, mut refused) = (Vec::new(), None);
    for invitation in invited {
        match accept(connection, invitation, person, who.clone(), Proof::Verified, now).await {
            Ok((membership, event)) => {
                ledger::also(connection, &membership.org, (now, ids), vec![event]).await?;
                joined.push(membership.org);
            }
            Err(problem) if problem.reason() == Reason::Internal => return Err(problem),
            Err(problem) => refused = Some(problem),
        }
    }
    Ok(match refused {
        Some(problem) if joined.is_empty() => Err(problem),
        _ => Ok(joined),
    })
}

/// Makes somebody a member of the org of their domain.
async fn belong(
    connection: &mut Connection,
    person: &Person,
    org: String,
    role: Role,
    who: Actor,
    (now, ids): (i64, &Ids),
) -> Result<String> {
    room(connection, &org, &person.id).await?;
    let membership = Membership {
        org: org.clone(),
        person: person.id.clone(),
        role,
        playbooks: Playbooks::All,
        created_at_ms: now,
        created_by: person.caller_id(),
        last_seen_at_ms: None,
    };
    members::insert(connection, &membership).await?;
    let facts = json!({ "role": role.word(), "by": "domain" });
    let event = Event::audit(format!("members/{}", person.id), "member_joined", who, facts);
    ledger::also(connection, &org, (now, ids), vec![event.about(person.name.as_str())]).await?;
    Ok(org)
}
