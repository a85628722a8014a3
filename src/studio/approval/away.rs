//! The two pages at either end of a trip to a provider: on the way there without script, and back.

use askama::Template;
use http::StatusCode;

use crate::studio::response::{Response, page};
use crate::studio::text::Host;

/// What a browser brought back from a provider. Not `Debug`, since it holds the code.
pub struct Returned {
    /// The parameters that are handed on, by their names.
    pub fields: Vec<(&'static str, String)>,
    /// The token of the session's own commands.
    pub csrf: String,
}

#[derive(Template)]
#[template(path = "approval/returned.html")]
struct ReturnedPage<'a> {
    returned: &'a Returned,
}

#[derive(Template)]
#[template(path = "approval/leaving.html")]
struct LeavingPage<'a> {
    address: &'a str,
    host: Host,
}

/// The page a provider sends people back to: it hands on what they brought, by script or by its button.
pub fn returned(returned: &Returned) -> Response {
    page(StatusCode::OK, &ReturnedPage { returned })
}

/// The page that leads a browser without script to a provider: a form may end at this server alone, so a page of its own
/// leads on. The address is one this server made itself of what the operator trusts.
pub fn leaving(address: &str) -> Response {
    page(StatusCode::OK, &LeavingPage { address, host: Host::of(address) })
}
