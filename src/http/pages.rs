//! What the pages of somebody who signed in share: a fresh sign-in where one is needed, the way there and back, and
//! instants as a person reads them.

use http::Uri;

use super::Session;
use super::problems::nothing;
use super::sign_in_routes::to_sign_in;
use crate::app::App;
use crate::clock;
use crate::error::{Problem, Reason, Result};
use crate::operations::{admission, noted};
use crate::studio::{self, Response, TabbedView, tabbed};

/// Refuses what needs a fresh proof of who it is.
///
/// # Errors
/// 403 kind `sign_in_again`, which [`refused`] answers with the way to it.
pub(super) fn recent(app: &App, session: &Session) -> Result<()> {
    admission::recent(Some(session.auth_time_ms), app.clock.now_ms())
}

/// The answer to what could not be shown or done: who has to sign in is sent to do so, and then back to `path`.
pub(super) fn refused(app: &App, path: &str, problem: Problem, id: &str) -> Response {
    if !app.access.signs_in() {
        return studio::error_page(&nothing());
    }
    if problem.reason() == Reason::Unauthenticated || is_sign_in_again(&problem) {
        return to_sign_in(app, path);
    }
    studio::error_page(&noted(problem, id))
}

/// A page, or [`refused`] where it could not be made.
pub(super) fn answered(app: &App, view: Result<TabbedView>, path: &str, id: &str) -> Response {
    match view {
        Ok(view) => tabbed(&view),
        Err(problem) => refused(app, path, problem, id),
    }
}

/// Whether a refusal asks for a fresh sign-in.
pub(super) fn is_sign_in_again(problem: &Problem) -> bool {
    problem.kind_word() == Some("sign_in_again")
}

/// An address of this server with its query, to come back to.
pub(super) fn whole(uri: &Uri) -> String {
    uri.path_and_query().map_or_else(|| uri.path().to_owned(), ToString::to_string)
}

/// An instant for a person to read, in UTC.
pub(super) fn minute(ms: i64) -> String {
    written(&clock::iso(ms))
}

/// The same of an instant as operations write it.
pub(super) fn written(iso: &str) -> String {
    format!("{} {} UTC", iso.get(..10).unwrap_or_default(), iso.get(11..16).unwrap_or_default())
}
