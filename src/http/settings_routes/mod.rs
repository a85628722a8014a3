//! A person's own settings (`identity.md` 8.1): `/settings/profile`, `/settings/security`, `/settings/sessions`.
//!
//! Each page is for a session, each form carries its token ([`Visit::command`]); who is not signed in signs in first.

mod passkeys;
mod profile;
mod security;
mod sessions;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::routing::{get, post};
use http::HeaderMap;

use super::sign_in_routes::{Fields, checked, to_sign_in};
use super::{Sender, Session, only, page_routes, studio_session};
use crate::app::App;
use crate::clock;
use crate::error::{Problem, Reason, Result};
use crate::identity::Person;
use crate::operations::admission::RECENT_MS;
use crate::operations::noted;
use crate::studio::{self, Frame, Response};

/// The pages of settings.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings", get(|| async { studio::see_other("/settings/profile") }).fallback(|| only("GET, HEAD")))
        .route("/settings/profile", get(profile::page).post(profile::name).fallback(|| only("GET, HEAD, POST")))
        .route("/settings/security", get(security::page).fallback(|| only("GET, HEAD")))
        .route("/settings/security/password", post(security::password).fallback(|| only("POST")))
        .route("/settings/security/passkeys/challenge", post(passkeys::challenge).fallback(|| only("POST")))
        .route("/settings/security/passkeys", post(passkeys::add).fallback(|| only("POST")))
        .route("/settings/security/passkeys/remove", post(passkeys::remove).fallback(|| only("POST")))
        .route("/settings/sessions", get(sessions::page).fallback(|| only("GET, HEAD")))
        .route("/settings/sessions/end", post(sessions::end).fallback(|| only("POST")))
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
        let session = studio_session(app, headers).await?.ok_or_else(away)?;
        sender.set_known();
        let person = app.identity.person(&session.person).await?.ok_or_else(away)?;
        let frame = page_routes::frame(app, &session, None).await?;
        Ok(Self { session, person, frame })
    }

    /// Whoever sent a form of a page, and its fields.
    async fn command(app: &App, request: Request) -> Result<(Self, Fields, HeaderMap)> {
        let sender = Sender::of(request.extensions());
        let (parts, sent) = request.into_parts();
        let visit = Self::of(app, &parts.headers, &sender).await?;
        let fields = checked(app, &parts.headers, sent, &visit.session).await?;
        Ok((visit, fields, parts.headers))
    }

    /// Refuses what needs a fresh proof of who it is.
    fn recent(&self, app: &App) -> Result<()> {
        if app.clock.now_ms() - self.session.auth_time_ms <= RECENT_MS {
            return Ok(());
        }
        let words = "This needs a fresh sign-in: sign in again and repeat it.";
        Err(Problem::forbidden(words).kind("sign_in_again").challenge(None))
    }
}

/// The answer to what could not be shown or done: who has to sign in is sent to do so, and then back to `path`.
fn refused(app: &App, path: &str, problem: Problem, id: &str) -> Response {
    if problem.reason() == Reason::Unauthenticated && app.access.signs_in() {
        return to_sign_in(app, path);
    }
    if problem.kind_word() == Some("sign_in_again") {
        return to_sign_in(app, path);
    }
    if !app.access.signs_in() {
        return studio::error_page(&Problem::not_found("There is nothing at this path."));
    }
    studio::error_page(&noted(problem, id))
}

/// An instant for a person to read, in UTC.
fn minute(ms: i64) -> String {
    let text = clock::iso(ms);
    format!("{} {} UTC", text.get(..10).unwrap_or_default(), text.get(11..16).unwrap_or_default())
}
