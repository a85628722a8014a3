//! `/{org}/keys`: the org's keys for who manages it, and for anybody else their own; what is done with one is in
//! [`crate::http::key_pages`].

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use http::request::Parts;
use serde_json::json;

use super::visit::Visit;
use crate::app::App;
use crate::error::Result;
use crate::http::RequestId;
use crate::http::key_pages::{self, At, Place};
use crate::http::pages::{answered, whole};
use crate::http::sign_in_routes::Fields;
use crate::identity::Permission;
use crate::operations::keys::View;
use crate::operations::keys::list_keys::ListKeys;
use crate::operations::perform;
use crate::studio::parts::{Act, Line, List, Part, Section};
use crate::studio::{Input, Response, TabbedView, Text};

const END: &str = "keys";
const STATUSES: [(&str, &str); 6] = [
    ("", "all of them"),
    ("active", "those that work"),
    ("rotating", "those being rotated"),
    ("exhausted", "those used up"),
    ("expired", "those that have ended"),
    ("revoked", "those revoked"),
];

/// `GET /{org}/keys`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    parts: Parts,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &org, &parts.headers, &parts.extensions).await?;
        view(&app, &visit, &Fields::of_query(&parts.uri)).await
    };
    answered(&app, shown.await, &whole(&parts.uri), &id.0)
}

async fn view(app: &Arc<App>, visit: &Visit, asked: &Fields) -> Result<TabbedView> {
    let manages = visit.caller.may(Permission::OrgAdmin);
    let mut input = json!({});
    for name in ["status", "cursor"] {
        if !asked.get(name).is_empty() {
            input[name] = asked.get(name).into();
        }
    }
    let listed = perform::<ListKeys>(visit.context(app), input).await?;
    let (base, status): (String, _) = (visit.path(END), asked.get("status"));
    let mut lines = Vec::with_capacity(listed.keys.len());
    for key in &listed.keys {
        lines.push(line(app, visit, key, &base, manages).await?);
    }
    let list = List {
        title: Text::new(if manages { "Keys of the org" } else { "Your keys in this org" }),
        words: None,
        empty: if status.is_empty() { "None yet. A key lets a program act here without signing in." } else { "None." },
        lines,
        all: visit.takes_commands().then(|| Act::link(format!("{base}/new"), "Make a key")),
        next: listed.next_cursor.map(|cursor| asked.turned(&base, &cursor)),
    };
    let picks = STATUSES.map(|(value, words)| (value, words, value == status));
    let filter = Section::new("Which keys?", base, "Show").looking();
    let filter = filter.input(Input::choice("status", "Status", "select", picks));
    let mut view = visit.view(END, "Keys", vec![Part::Form(filter), Part::List(list)]);
    view.done = key_pages::was_done(asked.get("done")).map(Text::new);
    Ok(view)
}

async fn line(app: &Arc<App>, visit: &Visit, key: &View, base: &str, manages: bool) -> Result<Line> {
    let whose = match key.person.as_deref() {
        None => "the org’s".to_owned(),
        Some(person) if person == visit.caller.id() => "your own".to_owned(),
        Some(person) => key_pages::whose(app, person).await?,
    };
    // Only its own person gets the new text of a personal key.
    let rotates = key.person.as_deref().is_none_or(|person| person == visit.caller.id());
    let mut line = key_pages::line(key, base, Some(whose.as_str()).filter(|_| manages), rotates);
    if !visit.takes_commands() {
        line.acts.clear();
    }
    Ok(line)
}

/// `GET /{org}/keys/new` and `/{org}/keys/{key}/{act}`.
pub(super) async fn act_page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(at): Path<At>,
    parts: Parts,
) -> Response {
    let place = async {
        let visit = Visit::of(&app, &at.org, &parts.headers, &parts.extensions).await?;
        Ok(place(&app, &visit))
    };
    key_pages::shown(&app, place, at.act(), &parts, &id).await
}

/// `POST` to the same.
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(at): Path<At>,
    request: Request,
) -> Response {
    let address = request.uri().clone();
    let ready = async {
        let (visit, fields) = Visit::command(&app, &at.org, request).await?;
        Ok((place(&app, &visit), fields))
    };
    key_pages::done(&app, ready, at.act(), &address, &id).await
}

fn place(app: &Arc<App>, visit: &Visit) -> Place {
    Place {
        context: visit.context(app),
        list: visit.path(END),
        base: visit.path(END),
        own: !visit.caller.may(Permission::OrgAdmin),
        shell: visit.view(END, "Keys", Vec::new()),
    }
}
