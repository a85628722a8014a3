//! A form on a page with several things on it.

use super::form::Input;
use super::text::Text;
use crate::error::Problem;

/// How a form is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sends {
    /// It asks for something to be done, with the token of the session.
    Command,
    /// It asks for another look: its fields go into the address.
    Query,
}

/// A form on a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is about.
    pub title: Text,
    /// What to know.
    pub words: Option<Text>,
    /// Where it goes.
    pub action: String,
    /// How.
    pub sends: Sends,
    /// What goes along unseen.
    pub hidden: Vec<(&'static str, String)>,
    /// What is to be filled in.
    pub inputs: Vec<Input>,
    /// The word of its button.
    pub submit: &'static str,
    /// Whether its button ends something for good.
    pub ends: bool,
    /// Where one may go instead: address and words.
    pub ways: Vec<(String, Text)>,
    /// What went wrong with it.
    pub fault: Option<Text>,
}

impl Section {
    /// A form that asks for something to be done.
    pub fn new(title: impl Into<Text>, action: impl Into<String>, submit: &'static str) -> Self {
        Self {
            title: title.into(),
            words: None,
            action: action.into(),
            sends: Sends::Command,
            hidden: Vec::new(),
            inputs: Vec::new(),
            submit,
            ends: false,
            ways: Vec::new(),
            fault: None,
        }
    }

    /// The same after a refusal: each fault stands beside its field, anything else above them.
    #[must_use]
    pub fn refused(mut self, problem: &Problem) -> Self {
        let mut elsewhere = problem.issues().is_empty();
        for issue in problem.issues() {
            // A fault inside a list is told beside the whole of it.
            let name = issue.pointer.split('/').nth(1).unwrap_or_default();
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

    pub(super) fn is_query(&self) -> bool {
        self.sends == Sends::Query
    }

    /// Whether the page opens in this field: the first that was refused, unless a fault above the form comes first.
    pub(super) fn focuses(&self, input: &Input) -> bool {
        let wrong = self.inputs.iter().find(|input| input.error.is_some());
        self.fault.is_none() && wrong.is_some_and(|wrong| wrong.name == input.name)
    }
}
