//! `/{org}/members`: who belongs to the org, and who was invited.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use http::{Extensions, HeaderMap, Uri};
use serde_json::{Value, json};

use super::reach::{self, any_role_input, playbooks_input, role_input};
use super::visit::{Visit, refused_form};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::RequestId;
use crate::http::pages::{answered, refused, written};
use crate::http::sign_in_routes::Fields;
use crate::identity::Role;
use crate::operations::invitations::invite_member::InviteMember;
use crate::operations::invitations::list_invitations::ListInvitations;
use crate::operations::invitations::revoke_invitation::RevokeInvitation;
use crate::operations::members::list_members::{self, ListMembers};
use crate::operations::{invitations, members, perform};
use crate::studio::parts::{Act, Cell, Line, List, Once, Part, Section, Table, Weight};
use crate::studio::{self, Input, Response, TabbedView, Text, tabbed};

/// How the address of the page ends.
pub(super) const END: &str = "members";
const INVITE: &str = "members/invite";
const REVOKE: &str = "members/revoke";

/// What `list_members` is asked, by the fields of the address.
fn wanted(asked: &Fields) -> Value {
    let given = ["q", "role", "cursor"].map(|name| (name, asked.get(name).trim()));
    let given = given.into_iter().filter(|(_, value)| !value.is_empty());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value.into())).collect())
}

/// `GET /{org}/members`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    address: Uri,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &org, &headers, &request).await?;
        visit.manages()?;
        view(&app, &visit, &Fields::of_query(&address), None).await
    };
    answered(&app, shown.await, &format!("/{org}/{END}"), &id.0)
}

/// `POST /{org}/members/invite`. The answer is the page itself, since the link stands nowhere else.
pub(super) async fn invite(
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
    let done = async {
        let asked = json!({
            "email": fields.get("email").trim(),
            "role": fields.get("role"),
            "playbooks": reach::read(&fields)?,
        });
        let made = perform::<InviteMember>(visit.context(&app), asked).await.map_err(in_a_page)?;
        let mut view = view(&app, &visit, &Fields::default(), None).await?;
        let email = &made.invitation.email;
        match made.link {
            Some(link) => view.parts.insert(0, Part::Once(once(email, &made.invitation.expires_at, link))),
            None => view.done = Some(Text::new(format!("A mail with the invitation goes to {email}."))),
        }
        Ok::<_, Problem>(view)
    };
    match done.await {
        Ok(view) => tabbed(&view),
        Err(problem) => match view(&app, &visit, &Fields::default(), Some(&fields)).await {
            Ok(view) => refused_form(&app, view, &visit.path(INVITE), &back, problem, &id.0),
            Err(_) => refused(&app, &back, problem, &id.0),
        },
    }
}

/// `POST /{org}/members/revoke`: takes an invitation back.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    request: Request,
) -> Response {
    let back = format!("/{org}/{END}");
    let done = async {
        let (visit, fields) = Visit::command(&app, &org, request).await?;
        perform::<RevokeInvitation>(visit.context(&app), json!({ "id": fields.get("id") })).await
    };
    match done.await {
        Ok(_) => studio::see_other(&back),
        Err(problem) => refused(&app, &back, problem, &id.0),
    }
}

/// A refusal in words for a page, which names no operation.
fn in_a_page(problem: Problem) -> Problem {
    match problem.kind_word() {
        Some("taken") => Problem::conflict("taken", "The person of this address is a member already."),
        Some("invitations_full") => {
            let words = "100 invitations are open, the most there may be. Take some back first.";
            Problem::conflict("invitations_full", words)
        }
        _ => problem,
    }
}

fn once(email: &str, expires_at: &str, link: String) -> Once {
    Once {
        title: Text::new(format!("{email} is invited")),
        words: Text::new(format!(
            "Give them this link. It is shown this once, lets in only them, once, and works until {}.",
            written(expires_at)
        )),
        label: "link",
        secret: link,
        way: None,
    }
}

/// The page; `sent` is what stood in the form of an invitation that was refused.
async fn view(app: &Arc<App>, visit: &Visit, asked: &Fields, sent: Option<&Fields>) -> Result<TabbedView> {
    let listed = perform::<ListMembers>(visit.context(app), wanted(asked)).await?;
    let mut parts = vec![Part::Form(search(visit, asked)), Part::Table(table(visit, asked, listed))];
    if asked.get("cursor").is_empty() {
        let open = json!({ "status": "open", "limit": 100 });
        let open = perform::<ListInvitations>(visit.context(app), open).await?.invitations;
        parts.push(Part::List(open_invitations(visit, open)));
        if visit.takes_commands() {
            parts.push(Part::Form(invitation(visit, sent)));
        }
    }
    Ok(visit.view(END, "Members", parts))
}

fn search(visit: &Visit, asked: &Fields) -> Section {
    Section::new("Find members", visit.path(END), "Find")
        .input(Input::new("q", "Name or email", "search", "off").given(asked.get("q").trim()).optional())
        .input(any_role_input(asked.get("role")))
        .looking()
}

fn table(visit: &Visit, asked: &Fields, listed: list_members::Output) -> Table {
    let next = listed.next_cursor.map(|cursor| asked.turned(&visit.path(END), &cursor));
    Table {
        title: Text::new("Members"),
        empty: "Nobody like that belongs to the org.",
        heads: vec!["Who", "Role", "Playbooks", "Signs in with", "Last seen", ""],
        rows: listed.members.into_iter().map(|member| row(visit, member)).collect(),
        next,
    }
}

fn row(visit: &Visit, member: members::View) -> Vec<Cell> {
    let own = member.person == visit.caller.id();
    let title = if own { format!("{} (you)", member.name) } else { member.name };
    let title = Text::new(title);
    let person = members::person_of(&member.person);
    let mut acts = Vec::new();
    if visit.takes_commands() && visit.role().manages(member.role) {
        acts.push(Act::link(visit.path(&format!("members/{person}")), "Change"));
    }
    let seen = member.last_seen_at.as_deref().and_then(|day| day.get(..10)).unwrap_or("not yet");
    let methods = member.auth_methods.join(", ");
    vec![
        Cell::Named { title: title.clone(), detail: Text::new(member.email.as_deref().unwrap_or_default()) },
        Cell::words(member.role.word()),
        Cell::words(reach::words(&member.playbooks.0)),
        Cell::words(if methods.is_empty() { "nothing yet" } else { &methods }),
        Cell::Short(Text::new(seen)),
        Cell::Acts { about: title, acts },
    ]
}

fn open_invitations(visit: &Visit, open: Vec<invitations::View>) -> List {
    let lines = open.into_iter().map(|invitation| {
        let may = visit.takes_commands() && visit.role().manages(invitation.role);
        Line {
            title: Text::new(&invitation.email),
            detail: Text::new(format!(
                "{}, playbooks: {}, until {}",
                invitation.role.word(),
                reach::words(&invitation.playbooks.0),
                written(&invitation.expires_at)
            )),
            acts: if may { vec![Act::button(visit.path(REVOKE), "Take back", invitation.id)] } else { Vec::new() },
            ..Line::default()
        }
    });
    List {
        title: Text::new("Open invitations"),
        empty: "None. Who is invited stands here until they join.",
        lines: lines.collect(),
        ..List::default()
    }
}

fn invitation(visit: &Visit, sent: Option<&Fields>) -> Section {
    let given = |name: &str| sent.map_or("", |fields| fields.get(name));
    let chosen = Role::of(given("role")).unwrap_or(Role::Member);
    Section::new("Invite somebody", visit.path(INVITE), "Invite")
        .words("An invitation is for one address, works once and for seven days.")
        .input(Input::new("email", "Email", "email", "off").given(given("email")))
        .input(role_input(visit.role(), chosen))
        .input(playbooks_input(given(reach::PLAYBOOKS)))
        .weight(Weight::Primary)
}
