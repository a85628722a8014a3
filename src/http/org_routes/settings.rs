//! `/{org}/settings`: the org itself, its name, leaving it, its end.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use http::{Extensions, HeaderMap};
use serde_json::json;

use super::visit::{Visit, refused_form};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::RequestId;
use crate::http::pages::{minute, recent, refused};
use crate::identity::Role;
use crate::identity::orgs::Status;
use crate::operations::members::remove_member::RemoveMember;
use crate::operations::orgs::delete_org::DeleteOrg;
use crate::operations::orgs::restore_org::RestoreOrg;
use crate::operations::orgs::update_org::UpdateOrg;
use crate::operations::perform;
use crate::studio::parts::{Act, Facts, Part, Section, Ways, Weight};
use crate::studio::{self, Input, Response, TabbedView, Text, tabbed};

const END: &str = "settings";
const LEAVE: &str = "settings/leave";
const DELETE: &str = "settings/delete";
const RESTORE: &str = "settings/restore";

/// `GET /{org}/settings`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    match Visit::of(&app, &org, &headers, &request).await {
        Ok(visit) => tabbed(&view(&visit, None)),
        Err(problem) => refused(&app, &format!("/{org}/{END}"), problem, &id.0),
    }
}

/// `POST /{org}/settings`: another name.
pub(super) async fn rename(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    request: Request,
) -> Response {
    let back = format!("/{org}/{END}");
    let (visit, fields) = match Visit::command(&app, &org, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, &back, problem, &id.0),
    };
    let name = fields.get("name");
    match perform::<UpdateOrg>(visit.context(&app), json!({ "name": name })).await {
        Ok(_) => studio::see_other(&back),
        Err(problem) => refused_form(&app, view(&visit, Some(name)), &back, &back, problem, &id.0),
    }
}

/// `GET /{org}/settings/leave` and `/delete`: asks once more, after a fresh sign-in.
pub(super) async fn leaving(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    let visit = asked_again(&app, &org, &headers, &request).await;
    match visit {
        Ok(visit) => tabbed(&leaving_view(&visit)),
        Err(problem) => refused(&app, &format!("/{org}/{LEAVE}"), problem, &id.0),
    }
}

/// `POST /{org}/settings/leave`.
pub(super) async fn leave(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    request: Request,
) -> Response {
    let at = format!("/{org}/{LEAVE}");
    let visit = match Visit::command(&app, &org, request).await {
        Ok((visit, _)) => visit,
        Err(problem) => return refused(&app, &at, problem, &id.0),
    };
    match perform::<RemoveMember>(visit.context(&app), json!({ "person": visit.caller.id() })).await {
        Ok(_) => studio::see_other("/"),
        Err(problem) => refused_form(&app, leaving_view(&visit), &at, &at, problem, &id.0),
    }
}

/// `GET /{org}/settings/delete`.
pub(super) async fn deletion(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    let visit = async {
        let visit = asked_again(&app, &org, &headers, &request).await?;
        owns(&visit)?;
        Ok::<_, Problem>(visit)
    };
    match visit.await {
        Ok(visit) => tabbed(&deletion_view(&visit)),
        Err(problem) => refused(&app, &format!("/{org}/{DELETE}"), problem, &id.0),
    }
}

/// `POST /{org}/settings/delete`.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    request: Request,
) -> Response {
    let at = format!("/{org}/{DELETE}");
    let (visit, fields) = match Visit::command(&app, &org, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, &at, problem, &id.0),
    };
    match perform::<DeleteOrg>(visit.context(&app), json!({ "confirm": fields.get("confirm").trim() })).await {
        Ok(_) => studio::see_other(&visit.path(END)),
        Err(problem) => refused_form(&app, deletion_view(&visit), &at, &at, problem, &id.0),
    }
}

/// `POST /{org}/settings/restore`.
pub(super) async fn restore(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    request: Request,
) -> Response {
    let back = format!("/{org}/{END}");
    let done = async {
        let (visit, _) = Visit::command(&app, &org, request).await?;
        perform::<RestoreOrg>(visit.context(&app), json!({})).await
    };
    match done.await {
        Ok(_) => studio::see_other(&back),
        Err(problem) => refused(&app, &back, problem, &id.0),
    }
}

async fn asked_again(app: &App, org: &str, headers: &HeaderMap, request: &Extensions) -> Result<Visit> {
    let visit = Visit::of(app, org, headers, request).await?;
    recent(app, &visit.session)?;
    Ok(visit)
}

fn owns(visit: &Visit) -> Result<()> {
    if visit.role() == Role::Owner {
        return Ok(());
    }
    Err(Problem::forbidden("Only an owner of the org may do this.").challenge(None))
}

fn view(visit: &Visit, sent: Option<&str>) -> TabbedView {
    let owner = visit.role() == Role::Owner;
    let mut parts = vec![Part::Facts(facts(visit))];
    if visit.takes_commands() {
        if owner {
            let name = sent.unwrap_or(&visit.org.name);
            let section = Section::new("Name", visit.path(END), "Save")
                .input(Input::new("name", "Name of the org", "text", "organization").given(name))
                .weight(Weight::Primary);
            parts.push(Part::Form(section));
        }
        let words = "Your keys, connected apps and connections of this org end with it. What you made stays.";
        parts.push(way("Leave the org", words, Act::link(visit.path(LEAVE), "Leave")));
        if owner {
            let words = "It stops at once, and goes seven days later with everything in it.";
            parts.push(way("Delete the org", words, Act::link(visit.path(DELETE), "Delete")));
        }
    } else if owner && visit.org.status == Status::Deleting {
        let section = Section::new("Keep the org", visit.path(RESTORE), "Keep it")
            .words("Everything in it is still there. Keys and agents reach it again at once.")
            .weight(Weight::Primary);
        parts.push(Part::Form(section));
    }
    visit.view(END, "Settings", parts)
}

fn way(title: &str, words: &str, act: Act) -> Part {
    Part::Ways(Ways { title: Text::new(title), words: Text::new(words), acts: vec![act] })
}

fn facts(visit: &Visit) -> Facts {
    let org = &visit.org;
    Facts {
        title: Text::new("The org"),
        facts: vec![
            ("Name", Text::new(&org.name)),
            ("Id", Text::new(&org.id)),
            ("Made", Text::new(minute(org.created_at_ms))),
            ("Your role", Text::new(visit.role().word())),
        ],
    }
}

fn leaving_view(visit: &Visit) -> TabbedView {
    let section = Section::new(format!("Leave {}?", visit.org.name), visit.path(LEAVE), "Leave")
        .words(
            "You no longer reach the org. Your own keys, the apps you connected and your own connections here end at once, \
             with the credentials. Only a new invitation lets you in again.",
        )
        .weight(Weight::Ends)
        .way(visit.path(END), "Stay");
    visit.view(END, "Leave", vec![Part::Form(section)])
}

fn deletion_view(visit: &Visit) -> TabbedView {
    let org = &visit.org;
    let section = Section::new(format!("Delete {}?", org.name), visit.path(DELETE), "Delete the org")
        .words(
            "At once no key and no agent reaches it, and nothing in it changes. For seven days an owner can keep it after \
             all. Then its credentials, playbooks and everything else are deleted for good, and its id stays taken.",
        )
        .input(Input::new("confirm", "The id of the org", "text", "off").hint(&format!("To be sure, type {}", org.id)))
        .weight(Weight::Ends)
        .way(visit.path(END), "Keep it");
    visit.view(END, "Delete", vec![Part::Form(section)])
}
