//! The pages of an org (`identity.md` 8.1 and 9): `/{org}/members`, `/{org}/settings` and their like.
//!
//! `Visit` is somebody at one of them. What a page shows and does is what the declared operations answer and do
//! ([`crate::operations::perform`]), so that rules, words and audit are those of `/v1`. An org one does not belong to looks
//! like one that is not there.

mod audit;
mod keys;
mod making;
mod member;
mod members;
mod reach;
mod settings;
mod visit;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};

use super::{only, unknown_path};
use crate::app::App;
use crate::error::Result;
use crate::identity::Role;
use crate::identity::orgs::RESERVED;
use crate::studio::OrgPage;

/// The pages of an org in their order: the end of the address, the word, and the least role that may see it. The tabs, the
/// bar and the first page link to those that stand here.
const PAGES: &[(&str, &str, Role)] = &[
    ("members", "Members", Role::Admin),
    ("keys", "Keys", Role::Viewer),
    ("audit", "Audit", Role::Admin),
    ("settings", "Settings", Role::Viewer),
];

/// The routes of every page of an org. The server's own paths win over them, and a word that is none of an org stays a path
/// like any unknown one (decision D52).
pub(super) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/{org}/members", get(members::page).fallback(|| only("GET, HEAD")))
        .route("/{org}/keys", get(keys::page).fallback(|| only("GET, HEAD")))
        .route("/{org}/keys/new", get(keys::act_page).post(keys::act).fallback(|| only("GET, HEAD, POST")))
        .route("/{org}/keys/{key}/{act}", get(keys::act_page).post(keys::act).fallback(|| only("GET, HEAD, POST")))
        .route("/{org}/audit", get(audit::page).fallback(|| only("GET, HEAD")))
        .route("/{org}/members/invite", post(members::invite).fallback(|| only("POST")))
        .route("/{org}/members/revoke", post(members::revoke).fallback(|| only("POST")))
        .route("/{org}/members/{person}", get(member::page).post(member::change).fallback(|| only("GET, HEAD, POST")))
        .route(
            "/{org}/members/{person}/remove",
            get(member::removal).post(member::remove).fallback(|| only("GET, HEAD, POST")),
        )
        .route("/{org}/settings", get(settings::page).post(settings::rename).fallback(|| only("GET, HEAD, POST")))
        .route(
            "/{org}/settings/leave",
            get(settings::leaving).post(settings::leave).fallback(|| only("GET, HEAD, POST")),
        )
        .route(
            "/{org}/settings/delete",
            get(settings::deletion).post(settings::delete).fallback(|| only("GET, HEAD, POST")),
        )
        .route("/{org}/settings/restore", post(settings::restore).fallback(|| only("POST")))
        .route_layer(from_fn_with_state(app.clone(), of_an_org))
        .route("/orgs/new", get(making::page).post(making::make).fallback(|| only("GET, HEAD, POST")))
}

/// Lets nothing through to a page of an org that cannot be one.
async fn of_an_org(
    State(app): State<Arc<App>>,
    Path(parts): Path<Vec<(String, String)>>,
    request: Request,
    next: Next,
) -> Response {
    let org = parts.first().map_or("", |(_, org)| org.as_str());
    if !app.access.signs_in() || RESERVED.contains(&org) {
        return unknown_path(State(app), request).await;
    }
    next.run(request).await
}

/// The pages of `org` that somebody of `role` may see.
pub(super) fn pages(org: &str, role: Role) -> Vec<OrgPage> {
    let seen = PAGES.iter().filter(|(_, _, least)| role >= *least);
    seen.map(|(end, word, _)| OrgPage { address: format!("/{org}/{end}"), word }).collect()
}

/// Whether a person may make an org now, at `/orgs/new`.
pub(super) async fn may_make(app: &App, person: &str) -> Result<bool> {
    app.identity.may_make_org(person, app.settings.administration.org_creation).await
}
