//! `/settings/keys`: the person's own keys in each of their orgs.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use http::request::Parts;

use super::Visit;
use crate::app::App;
use crate::error::Result;
use crate::http::authentication::acting_in;
use crate::http::key_pages::{self, At, Place};
use crate::http::pages::answered;
use crate::http::sign_in_routes::Fields;
use crate::http::{RequestId, Sender};
use crate::identity::keys::Status;
use crate::operations::Context;
use crate::studio::parts::{self, List, Part};
use crate::studio::settings::settings;
use crate::studio::{Response, TabbedView, Text};

const AT: &str = "/settings/keys";

/// `GET /settings/keys`.
pub(super) async fn page(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>, parts: Parts) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &parts.headers, &Sender::of(&parts.extensions)).await?;
        view(&app, &visit, &parts).await
    };
    answered(&app, shown.await, AT, &id.0)
}

async fn view(app: &Arc<App>, visit: &Visit, parts: &Parts) -> Result<TabbedView> {
    let mut lists = Vec::new();
    for (context, org) in visit.in_each_org(app, parts).await? {
        lists.push(list(&context, org.id.as_str(), &org.name).await?);
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

/// `GET /settings/keys/{org}/new` and `/settings/keys/{org}/{key}/{act}`.
pub(super) async fn act_page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(at): Path<At>,
    parts: Parts,
) -> Response {
    let place = async {
        let visit = Visit::of(&app, &parts.headers, &Sender::of(&parts.extensions)).await?;
        place(&app, &visit, &at.org, &parts).await
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
        let (visit, fields, parts) = Visit::command(&app, request).await?;
        Ok((place(&app, &visit, &at.org, &parts).await?, fields))
    };
    key_pages::done(&app, ready, at.act(), &address, &id).await
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
