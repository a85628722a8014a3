//! The page of an invitation: where it leads, for which address, and how to take it.

use askama::Template;
use http::StatusCode;

use super::frame::Frame;
use super::response::{Response, page};
use super::text::Text;

/// An invitation that somebody has the code of.
#[derive(Debug, Clone)]
pub struct InvitationView {
    /// The bar of somebody who signed in.
    pub frame: Option<Frame>,
    /// The org's name.
    pub org: Text,
    /// The org's id.
    pub id: Text,
    /// The word of the role.
    pub role: &'static str,
    /// The playbooks where the role counts; none for every one.
    pub playbooks: Option<Text>,
    /// The address it is for, in part.
    pub address: Text,
    /// Until when it is good.
    pub until: Text,
    /// Its code, as it was sent.
    pub code: String,
    /// Who has come with it.
    pub who: Who,
}

/// Who has come with an invitation.
#[derive(Debug, Clone)]
pub enum Who {
    /// The person it is for: by their email.
    Invited {
        /// Their email.
        email: Text,
    },
    /// Somebody it is not for: by their email.
    SomebodyElse {
        /// Their email.
        email: Text,
    },
    /// Nobody knows: they have not signed in.
    Stranger {
        /// Whether an account is made at a page of this server.
        makes_account: bool,
    },
}

#[derive(Template)]
#[template(path = "signin/invitation.html")]
struct InvitationPage<'a> {
    view: &'a InvitationView,
}

/// The page of an invitation.
pub fn invitation(view: &InvitationView) -> Response {
    page(StatusCode::OK, &InvitationPage { view })
}
