//! The pages people sign in on, and where the browser goes before and after.

use crate::app::App;
use crate::studio::{self, Response};

/// Sends a browser to sign in, and from there back to `path`, a path of our own.
pub(super) fn to_sign_in(_app: &App, _path: &str) -> Response {
    studio::see_other("/sign-in")
}
