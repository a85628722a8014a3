//! `/settings/keys`: the person's own keys in each of their orgs.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use http::request::Parts;

use super::Visit;
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::http::authentication::acting_in;
use crate::http::key_pages::{self, Act, Place};
use crate::http::pages::{refused, whole};
use crate::http::sign_in_routes::Fields;
use crate::http::{RequestId, Sender};
use crate::identity::keys::Status;
use crate::operations::Context;
use crate::studio::parts::{self, List, Part};
use crate::studio::settings::settings;
use crate::studio::{Response, TabbedView, Text, tabbed};

const AT: &str = "/settings/keys";

/// `GET /settings/keys`.
pub(super) async fn page(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>, parts: Parts) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &parts.headers, &Sender::of(&parts.extensions)).await?;
        view(&app, &visit, &parts).await
    };
    match shown.await {
        Ok(view) => tabbed(&view),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}

async fn view(app: &Arc<App>, visit: &Visit, parts: &Parts) -> Result<TabbedView> {
    let mut lists = Vec::new();
    for org in &visit.frame.orgs {
        match acting_in(app, &visit.session, org.id.as_str(), parts).await {
            Ok(context) => lists.push(list(&context, org.id.as_str(), &org.name).await?),
            // An org that has just ended.
            Err(problem) if problem.reason() == Reason::NotFound => {}
            Err(problem) => return Err(problem),
        }
    }
    if lists.is_empty() {
        let empty = "You belong to no org yet, and a key acts in one.";
        lists.push(List { title: "Keys of your own".into(), empty, ..List::default() });
    }
    let done = key_pages::was_done(Fields::of_query(&parts.uri).get("done")).map(Text::new);
    Ok(TabbedView { done, ..settings(visit.frame.clone(), AT, lists.into_iter().map(Part::List).collect()) })
}

/// The person's own keys in one org, those that work first.
async fn list(context: &Context, org: &str, name: &Text) -> Result<List> {
    let base = format!("{AT}/{org}");
    let mut keys = key_pages::keys(context, true).await?;
    keys.sort_by_key(|key| matches!(key.status, Status::Revoked | Status::Expired));
    Ok(List {
        title: Text::new(format!("Your keys in {name}")),
        empty: "None yet. A key lets a program of yours act here without signing in, and never do more than you may.",
        lines: keys.iter().map(|key| key_pages::line(key, &base, None, true)).collect(),
        all: Some(parts::Act::link(format!("{base}/new"), "Make a key")),
        ..List::default()
    })
}

/// `GET /settings/keys/{org}/new`.
pub(super) async fn new_page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    parts: Parts,
) -> Response {
    shown(&app, &org, Some(Act::Make), &parts, &id).await
}

/// `POST /settings/keys/{org}/new`.
pub(super) async fn new(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    request: Request,
) -> Response {
    done(&app, &org, Some(Act::Make), request, &id).await
}

/// `GET /settings/keys/{org}/{key}/{act}`.
pub(super) async fn act_page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path((org, key, act)): Path<(String, String, String)>,
    parts: Parts,
) -> Response {
    shown(&app, &org, Act::on(key, &act), &parts, &id).await
}

/// `POST /settings/keys/{org}/{key}/{act}`.
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path((org, key, act)): Path<(String, String, String)>,
    request: Request,
) -> Response {
    done(&app, &org, Act::on(key, &act), request, &id).await
}

async fn shown(app: &Arc<App>, org: &str, act: Option<Act>, parts: &Parts, id: &RequestId) -> Response {
    let shown = async {
        let visit = Visit::of(app, &parts.headers, &Sender::of(&parts.extensions)).await?;
        let place = place(app, &visit, org, parts).await?;
        key_pages::page(&place, &act.ok_or_else(nothing)?, &Fields::of_query(&parts.uri)).await
    };
    match shown.await {
        Ok(view) => tabbed(&view),
        Err(problem) => refused(app, &whole(&parts.uri), problem, &id.0),
    }
}

async fn done(app: &Arc<App>, org: &str, act: Option<Act>, request: Request, id: &RequestId) -> Response {
    let at = request.uri().clone();
    let ready = async {
        let (visit, fields, parts) = Visit::command(app, request).await?;
        let place = place(app, &visit, org, &parts).await?;
        Ok::<_, Problem>((place, fields, act.ok_or_else(nothing)?))
    };
    match ready.await {
        Ok((place, fields, act)) => key_pages::sent(&place, &act, &fields, &at, &id.0).await,
        Err(problem) => refused(app, at.path(), problem, &id.0),
    }
}

async fn place(app: &Arc<App>, visit: &Visit, org: &str, parts: &Parts) -> Result<Place> {
    Ok(Place {
        context: acting_in(app, &visit.session, org, parts).await?,
        list: AT.to_owned(),
        base: format!("{AT}/{org}"),
        own: true,
        shell: settings(visit.frame.clone(), AT, Vec::new()),
    })
}

fn nothing() -> Problem {
    Problem::not_found("There is nothing at this path.")
}
