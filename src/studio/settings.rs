//! The pages of a person's own settings: profile, security, sessions.

use askama::Template;
use http::StatusCode;

use super::error_page::advise;
use super::form::Input;
use super::frame::Frame;
use super::response::{Response, page};
use super::text::Text;
use crate::error::Problem;

/// The pages there are: address, word.
pub const TABS: [(&str, &str); 3] =
    [("/settings/profile", "Profile"), ("/settings/security", "Security"), ("/settings/sessions", "Sessions")];

/// A form on a page of settings.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// What to know.
    pub words: Option<Text>,
    /// Where it goes.
    pub action: &'static str,
    /// What is to be filled in.
    pub inputs: Vec<Input>,
    /// The word of its button.
    pub submit: &'static str,
    /// What went wrong with it.
    pub fault: Option<Text>,
}

impl Section {
    /// The same after a refusal.
    #[must_use]
    pub fn refused(mut self, problem: &Problem) -> Self {
        let mut elsewhere = problem.issues().is_empty();
        for issue in problem.issues() {
            let name = issue.pointer.trim_start_matches('/');
            match self.inputs.iter_mut().find(|input| input.name == name) {
                Some(input) => input.error = Some(Text::new(&issue.detail)),
                None => elsewhere = true,
            }
        }
        if elsewhere {
            self.fault = Some(Text::new(problem.detail()));
        }
        self
    }
}

/// One line of a list, with the button that ends what it shows.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it is.
    pub title: Text,
    /// More about it.
    pub detail: Text,
    /// Whether it is the one in use here; it has no button then.
    pub here: bool,
    /// What names it in the form of its button.
    pub id: String,
}

/// A list on a page of settings.
#[derive(Debug, Clone)]
pub struct List {
    /// What it is of.
    pub title: &'static str,
    /// What is said where nothing is in it.
    pub empty: &'static str,
    /// What is in it.
    pub lines: Vec<Line>,
    /// Where the button of a line goes, and its word.
    pub end: (&'static str, &'static str),
    /// What the one in use here is called.
    pub here: &'static str,
    /// A button below the list: where it goes and its word.
    pub all: Option<(&'static str, &'static str)>,
}

/// A page of settings.
#[derive(Debug, Clone)]
pub struct SettingsView {
    /// The bar above.
    pub frame: Frame,
    /// The page's address, to mark it among the others.
    pub at: &'static str,
    /// What was just done.
    pub done: Option<&'static str>,
    /// Forms.
    pub sections: Vec<Section>,
    /// A list.
    pub list: Option<List>,
    /// Whether a passkey can be added here.
    pub add_passkey: bool,
}

#[derive(Template)]
#[template(path = "studio/settings.html")]
struct SettingsPage<'a> {
    view: &'a SettingsView,
    frame: &'a Frame,
}

impl SettingsPage<'_> {
    fn title(&self) -> &'static str {
        TABS.iter().find(|(address, _)| *address == self.view.at).map_or("Settings", |(_, word)| *word)
    }
}

/// A page of settings.
pub fn settings(view: &SettingsView) -> Response {
    page(StatusCode::OK, &SettingsPage { view, frame: &view.frame })
}

/// A page of settings on which something was refused.
pub fn settings_refused(view: &SettingsView, problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page(status, &SettingsPage { view, frame: &view.frame });
    advise(&mut response, problem);
    response
}
