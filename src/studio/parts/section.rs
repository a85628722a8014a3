//! Something to fill in on a page, and what was wrong with it.

use crate::error::Problem;
use crate::studio::form::Input;
use crate::studio::text::Text;

/// How much a button weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The one thing the page is for.
    Primary,
    /// One thing among others.
    Plain,
    /// It ends something for good.
    Ends,
}

impl Weight {
    /// The class of its button.
    pub(in crate::studio) const fn class(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Plain => "",
            Self::Ends => "ends",
        }
    }
}

/// A form.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is about.
    pub title: Text,
    /// What to know.
    pub words: Option<Text>,
    /// Where it goes.
    pub action: String,
    /// What goes along unseen, beside the token of the session.
    pub hidden: Vec<(&'static str, String)>,
    /// What is to be filled in.
    pub inputs: Vec<Input>,
    /// The word of its button.
    pub submit: &'static str,
    /// How much its button weighs.
    pub weight: Weight,
    /// Whether it asks for a page instead of doing something: its fields then stand in the address.
    pub looks: bool,
    /// Where else one may go: address and words.
    pub ways: Vec<(String, &'static str)>,
    /// What went wrong with it.
    pub fault: Option<Text>,
}

impl Section {
    /// A form that goes to `action` with one plain button and nothing to fill in yet.
    pub fn new(title: impl AsRef<str>, action: impl Into<String>, submit: &'static str) -> Self {
        Self {
            title: Text::new(title),
            words: None,
            action: action.into(),
            hidden: Vec::new(),
            inputs: Vec::new(),
            submit,
            weight: Weight::Plain,
            looks: false,
            ways: Vec::new(),
            fault: None,
        }
    }

    /// The same with what to know.
    #[must_use]
    pub fn words(mut self, words: impl AsRef<str>) -> Self {
        self.words = Some(Text::new(words));
        self
    }

    /// The same with another field.
    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.inputs.push(input);
        self
    }

    /// The same with a value that goes along unseen.
    #[must_use]
    pub fn hidden(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.hidden.push((name, value.into()));
        self
    }

    /// The same with a button of another weight.
    #[must_use]
    pub fn weight(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }

    /// The same with another place to go instead.
    #[must_use]
    pub fn way(mut self, address: impl Into<String>, words: &'static str) -> Self {
        self.ways.push((address.into(), words));
        self
    }

    /// The same as a question: its fields stand in the address of the page it opens.
    #[must_use]
    pub fn looking(mut self) -> Self {
        self.looks = true;
        self
    }

    /// The same after a refusal: each fault stands beside its field, anything else above them.
    #[must_use]
    pub fn refused(mut self, problem: &Problem) -> Self {
        let mut elsewhere = problem.issues().is_empty();
        for issue in problem.issues() {
            // A fault inside a list is one of the field it was given in.
            let name = issue.pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
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
