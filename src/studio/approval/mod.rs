//! The page behind an approval link (connections.md 9): who asks, what is connected, what it may then do, what the person
//! does, how to refuse.
//!
//! The view is one variant a state, so that a page can show no more than its state may: a stranger's page has no place
//! for the name of a connection. Without script the forms post to `/connect/{link}/approve`, `…/credential` `…/start` and
//! `…/cancel`; with it, `approval.js` calls the routes under `/v1/links/{link}` and shows the page that follows.

use askama::Template;
use http::StatusCode;

use crate::error::Problem;
use crate::studio::response::{Response, page};
use crate::studio::text::{HttpsLink, Text};

mod away;
mod view;

pub use away::{Returned, leaving, returned};
pub use view::{Asked, Asking, Away, Connected, Field, LinkView, Way, Wish};

#[cfg(test)]
mod tests;

/// How many tools or playbooks are named before the rest is folded away.
const NAMED: usize = 6;

#[derive(Template)]
#[template(path = "approval/ask.html")]
struct AskPage<'a> {
    ask: &'a Asking,
    failed: bool,
    error: Option<Text>,
    fields: Vec<Field>,
}

#[derive(Template)]
#[template(path = "approval/started.html")]
struct AwayPage<'a> {
    away: &'a Away,
}

#[derive(Template)]
#[template(path = "approval/connected.html")]
struct ConnectedPage<'a> {
    connected: &'a Connected,
}

#[derive(Template)]
#[template(path = "approval/ended.html")]
struct EndedPage<'a> {
    view: &'a LinkView,
}

impl AskPage<'_> {
    fn fields_with_error(&self) -> bool {
        self.fields.iter().any(|field| field.error.is_some())
    }

    fn help(&self) -> Option<&HttpsLink> {
        match &self.ask.way {
            Way::Secret { help, .. } | Way::SignIn { help, .. } => help.as_ref(),
            Way::Open | Way::Reference { .. } => None,
        }
    }
}

/// The first names of a list, and those folded away behind them.
fn split(names: &[Text]) -> (&[Text], &[Text]) {
    // One name alone is never folded: the fold itself would take its place.
    if names.len() <= NAMED + 1 { (names, &[]) } else { names.split_at(NAMED) }
}

/// The page of a link: 404 for one nobody may know of, 403 for somebody else's, else 200.
pub fn connect(view: &LinkView) -> Response {
    match view {
        LinkView::Ready(ask) => page(StatusCode::OK, &asked(ask, false, ask.last_error.clone())),
        LinkView::ProviderError(ask) => page(StatusCode::OK, &asked(ask, true, ask.last_error.clone())),
        LinkView::Started(away) => page(StatusCode::OK, &AwayPage { away }),
        LinkView::Connected(connected) => page(StatusCode::OK, &ConnectedPage { connected }),
        LinkView::OtherPerson { .. } => page(StatusCode::FORBIDDEN, &EndedPage { view }),
        LinkView::Unknown => page(StatusCode::NOT_FOUND, &EndedPage { view }),
        LinkView::Expired { .. }
        | LinkView::Cancelled { .. }
        | LinkView::Removed { .. }
        | LinkView::NotAllowed { .. } => page(StatusCode::OK, &EndedPage { view }),
    }
}

/// The same page after a form was refused: each fault beside its field, any other words above the form. The answer has
/// the status of the problem. What was typed into a secret field is gone.
pub fn connect_refused(ask: &Asking, problem: &Problem) -> Response {
    let mut template = asked(ask, false, None);
    let mut elsewhere = problem.issues().is_empty();
    for issue in problem.issues() {
        match template.fields.iter_mut().find(|field| field.pointer() == issue.pointer) {
            Some(field) => field.error = Some(Text::new(&issue.detail)),
            None => elsewhere = true,
        }
    }
    if elsewhere {
        template.error = Some(Text::new(problem.detail()));
        template.failed = problem.status() >= 500;
    }
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page(status, &template);
    crate::studio::error_page::advise(&mut response, problem);
    response
}

fn asked(ask: &Asking, failed: bool, error: Option<Text>) -> AskPage<'_> {
    let fields = match &ask.way {
        Way::Secret { fields, .. } => fields.clone(),
        Way::Open | Way::Reference { .. } | Way::SignIn { .. } => Vec::new(),
    };
    AskPage { ask, failed, error, fields }
}
