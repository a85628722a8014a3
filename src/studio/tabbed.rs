//! A page among others of its kind: the bar, a heading, tabs, and parts below each other. A person's settings and the
//! pages of an org look so.

use askama::Template;
use http::StatusCode;

use super::error_page::advise;
use super::frame::Frame;
use super::parts::{Act, Cell, Part, Section};
use super::response::{Response, page};
use super::text::Text;
use crate::error::Problem;

/// A page among others.
#[derive(Debug, Clone)]
pub struct TabbedView {
    /// The bar above.
    pub frame: Frame,
    /// What the pages are about: `Settings`, or the name of an org.
    pub heading: Text,
    /// The page's own word, in the title of the window.
    pub title: Text,
    /// The pages: address and word.
    pub tabs: Vec<(String, &'static str)>,
    /// The address of the one this page is, or belongs to.
    pub at: String,
    /// What was just done.
    pub done: Option<Text>,
    /// What everybody has to know who sees the page: title and words.
    pub warning: Option<(&'static str, Text)>,
    /// What is on it.
    pub parts: Vec<Part>,
}

impl TabbedView {
    /// The same after the form that goes to `action` was refused.
    #[must_use]
    pub fn refused(mut self, action: &str, problem: &Problem) -> Self {
        let refuse = |section: Section| if section.action == action { section.refused(problem) } else { section };
        self.parts = self
            .parts
            .into_iter()
            .map(|part| match part {
                Part::Form(section) => Part::Form(refuse(section)),
                other => other,
            })
            .collect();
        self
    }

    fn is_at(&self, address: &str) -> bool {
        address == self.at
    }

    /// Whether something on it was refused, which its title then says first.
    fn is_refused(&self) -> bool {
        let refused =
            |section: &Section| section.fault.is_some() || section.inputs.iter().any(|one| one.error.is_some());
        self.parts.iter().any(|part| matches!(part, Part::Form(section) if refused(section)))
    }

    fn adds_passkey(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::NewPasskey))
    }

    fn tells_once(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Once(_)))
    }
}

#[derive(Template)]
#[template(path = "studio/tabbed.html")]
struct TabbedPage<'a> {
    view: &'a TabbedView,
    frame: &'a Frame,
}

/// The page.
pub fn tabbed(view: &TabbedView) -> Response {
    page(StatusCode::OK, &TabbedPage { view, frame: &view.frame })
}

/// The page on which a form was refused; [`TabbedView::refused`] says beside it why.
pub fn tabbed_refused(view: &TabbedView, problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page(status, &TabbedPage { view, frame: &view.frame });
    advise(&mut response, problem);
    response
}
