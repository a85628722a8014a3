//! A page among others of one subject, with a tab for each: what was just done, forms, lists.

use askama::Template;
use http::StatusCode;

use super::error_page::advise;
use super::frame::Frame;
use super::list::List;
use super::response::{Response, page};
use super::section::Section;
use super::text::Text;
use crate::error::Problem;

/// The way to a page of the subject.
#[derive(Debug, Clone)]
pub struct Tab {
    /// Its address.
    pub address: String,
    /// Its word.
    pub word: &'static str,
}

/// A secret that is shown this once. Not `Debug`, since it holds it.
#[derive(Clone)]
pub struct Shown {
    /// What it is.
    pub title: Text,
    /// What to do with it.
    pub words: Text,
    /// What its copy button is for.
    pub label: &'static str,
    /// The secret.
    pub text: String,
    /// Where to go on: address and words.
    pub way: (String, Text),
}

/// A page among others of one subject.
#[derive(Clone)]
pub struct TabbedView {
    /// The bar above.
    pub frame: Frame,
    /// What the pages are about.
    pub subject: Text,
    /// The pages there are.
    pub tabs: Vec<Tab>,
    /// The address of the tab that this page belongs to.
    pub at: String,
    /// What this page does, where it is more than its tab says.
    pub title: Option<Text>,
    /// What was just done.
    pub done: Option<Text>,
    /// What is shown this once.
    pub shown: Option<Shown>,
    /// Forms.
    pub sections: Vec<Section>,
    /// Lists.
    pub lists: Vec<List>,
    /// Whether a passkey can be added here.
    pub add_passkey: bool,
}

impl TabbedView {
    /// The page of a tab with nothing on it yet.
    pub fn new(frame: Frame, subject: impl Into<Text>, tabs: Vec<Tab>, at: impl Into<String>) -> Self {
        Self {
            frame,
            subject: subject.into(),
            tabs,
            at: at.into(),
            title: None,
            done: None,
            shown: None,
            sections: Vec::new(),
            lists: Vec::new(),
            add_passkey: false,
        }
    }

    fn title(&self) -> &str {
        let tab = || self.tabs.iter().find(|tab| tab.address == self.at).map(|tab| tab.word);
        self.title.as_ref().map(Text::as_str).or_else(tab).unwrap_or_default()
    }

    /// Whether something on the page was refused, which its title then says first.
    fn is_refused(&self) -> bool {
        self.sections
            .iter()
            .any(|section| section.fault.is_some() || section.inputs.iter().any(|input| input.error.is_some()))
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

/// The page after something on it was refused: each fault stands at its form.
pub fn tabbed_refused(mut view: TabbedView, problem: &Problem) -> Response {
    view.sections = view.sections.into_iter().map(|section| section.refused(problem)).collect();
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page(status, &TabbedPage { view: &view, frame: &view.frame });
    advise(&mut response, problem);
    response
}
