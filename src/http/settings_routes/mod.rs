//! A person's own settings (`identity.md` 8.1): `/settings/profile`, `/settings/security`, `/settings/sessions`,
//! `/settings/apps`, `/settings/keys`, `/settings/accounts`.
//!
//! Each page is for a session, each form carries its token ([`Visit::command`]); who is not signed in signs in first.

mod accounts;
mod apps;
mod email;
mod keys;
mod passkeys;
mod profile;
mod security;
mod sessions;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::routing::{get, post};
use http::HeaderMap;
use http::request::Parts;

use super::authentication::acting_in;
use super::pages::{answered, minute, refused};
use super::sign_in_routes::{Fields, checked};
use super::{Sender, Session, only, page_routes, pages, studio_session};
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::identity::Person;
use crate::operations::Context;
use crate::studio::{self, Frame, FrameOrg};

/// The pages of settings.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings", get(|| async { studio::see_other("/settings/profile") }).fallback(|| only("GET, HEAD")))
        .route("/settings/profile", get(profile::page).post(profile::name).fallback(|| only("GET, HEAD, POST")))
        .route("/settings/profile/email", get(email::page).post(email::ask).fallback(|| only("GET, HEAD, POST")))
        .route(
            "/settings/profile/email/confirm",
            get(|| async { studio::see_other("/settings/profile/email") })
                .post(email::confirm)
                .fallback(|| only("GET, HEAD, POST")),
        )
        .route("/settings/profile/delete", post(profile::delete).fallback(|| only("POST")))
        .route("/settings/security", get(security::page).fallback(|| only("GET, HEAD")))
        .route("/settings/security/password", post(security::password).fallback(|| only("POST")))
        .route("/settings/security/passkeys/challenge", post(passkeys::challenge).fallback(|| only("POST")))
        .route("/settings/security/passkeys", post(passkeys::add).fallback(|| only("POST")))
        .route("/settings/security/passkeys/remove", post(passkeys::remove).fallback(|| only("POST")))
        .route("/settings/sessions", get(sessions::page).fallback(|| only("GET, HEAD")))
        .route("/settings/sessions/end", post(sessions::end).fallback(|| only("POST")))
        .route("/settings/apps", get(apps::page).fallback(|| only("GET, HEAD")))
        .route("/settings/apps/withdraw", get(apps::back).post(apps::withdraw).fallback(|| only("GET, HEAD, POST")))
        .route("/settings/keys", get(keys::page).fallback(|| only("GET, HEAD")))
        .route("/settings/keys/{org}/new", get(keys::act_page).post(keys::act).fallback(|| only("GET, HEAD, POST")))
        .route(
            "/settings/keys/{org}/{key}/{act}",
            get(keys::act_page).post(keys::act).fallback(|| only("GET, HEAD, POST")),
        )
        .route("/settings/accounts", get(accounts::page).fallback(|| only("GET, HEAD")))
        .route("/settings/sessions/end-others", post(sessions::end_others).fallback(|| only("POST")))
}

/// A person at a page of their settings.
struct Visit {
    session: Session,
    person: Person,
    frame: Frame,
}

impl Visit {
    /// Whoever opens a page.
    async fn of(app: &App, headers: &HeaderMap, sender: &Sender) -> Result<Self> {
        let away = || Problem::new(Reason::Unauthenticated, "Sign in to see your settings.");
        let session = studio_session(app, headers, sender).await?.ok_or_else(away)?;
        sender.set_known();
        let person = app.identity.person(&session.person).await?.ok_or_else(away)?;
        let frame = page_routes::frame(app, &session, None).await?;
        Ok(Self { session, person, frame })
    }

    /// Whoever sent a form of a page, and its fields.
    async fn command(app: &App, request: Request) -> Result<(Self, Fields, Parts)> {
        let sender = Sender::of(request.extensions());
        let (parts, sent) = request.into_parts();
        let visit = Self::of(app, &parts.headers, &sender).await?;
        let fields = checked(app, &parts.headers, sent, &visit.session).await?;
        Ok((visit, fields, parts))
    }

    /// The person in each of their orgs, with its id and name.
    async fn in_each_org(&self, app: &Arc<App>, parts: &Parts) -> Result<Vec<(Context, &FrameOrg)>> {
        let mut found = Vec::with_capacity(self.frame.orgs.len());
        for org in &self.frame.orgs {
            match acting_in(app, &self.session, org.id.as_str(), parts).await {
                Ok(context) => found.push((context, org)),
                // An org that has just ended.
                Err(problem) if problem.reason() == Reason::NotFound => {}
                Err(problem) => return Err(problem),
            }
        }
        Ok(found)
    }

    /// Refuses what needs a fresh proof of who it is.
    fn recent(&self, app: &App) -> Result<()> {
        pages::recent(app, &self.session)
    }
}
