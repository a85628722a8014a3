//! `/{org}/members/{person}`: one member, what they may do, and their end in the org. All of it needs a fresh sign-in, so
//! that is asked before anything is filled in.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use http::{Extensions, HeaderMap};
use serde_json::json;

use super::members::END;
use super::reach::{self, playbooks_input, role_input};
use super::visit::{Visit, refused_form};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::RequestId;
use crate::http::pages::{answered, recent, refused};
use crate::http::problems::nothing;
use crate::identity::caller::PERSON;
use crate::identity::members::list::{Listed, MemberFilter};
use crate::identity::{Playbooks, Role};
use crate::operations::members::change_role::ChangeRole;
use crate::operations::members::remove_member::RemoveMember;
use crate::operations::perform;
use crate::studio::parts::{Act, Facts, Part, Section, Ways, Weight};
use crate::studio::{self, Response, TabbedView, Text, tabbed};

/// `GET /{org}/members/{person}`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path((org, person)): Path<(String, String)>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &org, &headers, &request).await?;
        let member = member(&app, &visit, &person).await?;
        Ok::<_, Problem>(view(&visit, &member))
    };
    answered(&app, shown.await, &back(&org, &person), &id.0)
}

/// `POST /{org}/members/{person}`: another role, or other playbooks.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path((org, person)): Path<(String, String)>,
    request: Request,
) -> Response {
    let back = back(&org, &person);
    let sent = async {
        let (visit, fields) = Visit::command(&app, &org, request).await?;
        let before = member(&app, &visit, &person).await?;
        Ok::<_, Problem>((visit, fields, before))
    };
    let (visit, fields, before) = match sent.await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, &back, problem, &id.0),
    };
    let done = async {
        let asked = json!({
            "person": format!("{PERSON}{person}"),
            "role": fields.get("role"),
            "playbooks": reach::read(&fields)?,
        });
        perform::<ChangeRole>(visit.context(&app), asked).await?;
        member_as_they_stand(&app, &visit, &person).await
    };
    match done.await {
        // Who takes their own rights away sees the page no longer.
        Ok(_) if visit.caller.person() == Some(&person) => studio::see_other(&visit.path("settings")),
        Ok(member) => {
            let mut view = view(&visit, &member);
            let role = member.membership.role.word();
            view.done = Some(Text::new(format!("{} has the role {role} now.", member.name)));
            tabbed(&view)
        }
        Err(problem) => refused_form(&app, view(&visit, &before), &back, &back, problem, &id.0),
    }
}

/// `GET /{org}/members/{person}/remove`: asks once more.
pub(super) async fn removal(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path((org, person)): Path<(String, String)>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &org, &headers, &request).await?;
        let member = member(&app, &visit, &person).await?;
        Ok::<_, Problem>(removal_view(&visit, &member))
    };
    answered(&app, shown.await, &format!("{}/remove", back(&org, &person)), &id.0)
}

/// `POST /{org}/members/{person}/remove`.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path((org, person)): Path<(String, String)>,
    request: Request,
) -> Response {
    let at = format!("{}/remove", back(&org, &person));
    let sent = async {
        let (visit, _) = Visit::command(&app, &org, request).await?;
        let member = member(&app, &visit, &person).await?;
        Ok::<_, Problem>((visit, member))
    };
    let (visit, member) = match sent.await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, &at, problem, &id.0),
    };
    match perform::<RemoveMember>(visit.context(&app), json!({ "person": format!("{PERSON}{person}") })).await {
        Ok(_) => studio::see_other(&visit.path(END)),
        Err(problem) => refused_form(&app, removal_view(&visit, &member), &at, &at, problem, &id.0),
    }
}

/// Both are of the alphabet of ids where they lead anywhere.
fn back(org: &str, person: &str) -> String {
    format!("/{org}/{END}/{person}")
}

/// The member of the path, for who manages the org and has just signed in.
async fn member(app: &App, visit: &Visit, person: &str) -> Result<Listed> {
    visit.manages()?;
    let member = member_as_they_stand(app, visit, person).await?;
    recent(app, &visit.session)?;
    Ok(member)
}

async fn member_as_they_stand(app: &App, visit: &Visit, person: &str) -> Result<Listed> {
    let filter = MemberFilter { person: Some(person.to_owned()), ..MemberFilter::default() };
    let found = app.identity.members(&visit.org.id, &filter, None, 1).await?;
    found.into_iter().next().ok_or_else(nothing)
}

fn view(visit: &Visit, member: &Listed) -> TabbedView {
    let membership = &member.membership;
    let own = visit.caller.person() == Some(&membership.person);
    let at = visit.path(&format!("{END}/{}", membership.person));
    let mut parts = vec![Part::Facts(facts(member))];
    if visit.takes_commands() && visit.role().manages(membership.role) {
        parts.push(Part::Form(rights(visit, member, &at)));
        let (title, words, act) = if own {
            let words = "Your keys, connected apps and connections of this org end with it.";
            ("Leave the org", words, Act::link(visit.path("settings/leave"), "Leave"))
        } else {
            let words = "They no longer reach the org, and their keys, connected apps and connections of it end.";
            ("Remove from the org", words, Act::link(format!("{at}/remove"), "Remove"))
        };
        parts.push(Part::Ways(Ways { title: Text::new(title), words: Text::new(words), acts: vec![act] }));
    }
    visit.view(END, &member.name, parts)
}

fn facts(member: &Listed) -> Facts {
    let email = member.email.as_deref().unwrap_or("none");
    let methods = member.auth_methods.join(", ");
    let facts = vec![
        ("Email", Text::new(email)),
        ("Role", Text::new(member.membership.role.word())),
        ("Signs in with", Text::new(if methods.is_empty() { "nothing yet" } else { &methods })),
    ];
    Facts { title: Text::new(&member.name), facts }
}

fn rights(visit: &Visit, member: &Listed, at: &str) -> Section {
    let given = match member.membership.reach() {
        Playbooks::All => String::new(),
        Playbooks::Only(ids) => ids.join(" "),
    };
    Section::new("What they may do", at, "Save")
        .words("It counts at once, also for agents that act for them.")
        .input(role_input(visit.role(), member.membership.role))
        .input(playbooks_input(&given))
        .weight(Weight::Primary)
}

fn removal_view(visit: &Visit, member: &Listed) -> TabbedView {
    let at = visit.path(&format!("{END}/{}", member.membership.person));
    let owner = if member.membership.role == Role::Owner { "They own the org. " } else { "" };
    let section = Section::new(format!("Remove {}?", member.name), format!("{at}/remove"), "Remove")
        .words(format!(
            "{owner}They no longer reach {}. Their own keys, the apps they connected and their own connections here end at \
             once, with the credentials. What they made stays.",
            visit.org.name
        ))
        .weight(Weight::Ends)
        .way(at, "Keep them");
    visit.view(END, &format!("Remove {}", member.name), vec![Part::Form(section)])
}
