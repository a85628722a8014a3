//! A list on a page: what it is of, each line with what can be done about it, and the way to the rest.

use super::text::Text;

/// Something told of a thing: what it is, and one or several words for it.
#[derive(Debug, Clone)]
pub struct Fact {
    /// What is told.
    pub term: Text,
    /// It.
    pub words: Vec<Text>,
}

impl Fact {
    /// One thing told.
    pub fn new(term: impl Into<Text>, words: impl Into<Text>) -> Self {
        Self { term: term.into(), words: vec![words.into()] }
    }

    /// Several things told under one name.
    pub fn several<T: Into<Text>>(term: impl Into<Text>, words: impl IntoIterator<Item = T>) -> Self {
        Self { term: term.into(), words: words.into_iter().map(Into::into).collect() }
    }
}

/// One line of a list.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// What it is.
    pub title: Text,
    /// How it stands: tone and word.
    pub pill: Option<(&'static str, &'static str)>,
    /// More about it.
    pub detail: Option<Text>,
    /// What is told of it.
    pub facts: Vec<Fact>,
    /// What is told of it to who unfolds it.
    pub folded: Vec<Fact>,
    /// Pages about it: address and words.
    pub ways: Vec<(String, Text)>,
    /// What the form of its own button carries beside the token; no button where there is none.
    pub end: Option<Vec<(&'static str, String)>>,
}

impl Line {
    /// A line of this title.
    pub fn new(title: impl Into<Text>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    pub(super) fn is_long(&self) -> bool {
        !self.facts.is_empty() || !self.folded.is_empty()
    }
}

/// A list.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// What it is of.
    pub title: Text,
    /// What to know about all of it.
    pub words: Option<Text>,
    /// What is said where nothing is in it.
    pub empty: &'static str,
    /// What is in it.
    pub lines: Vec<Line>,
    /// Where the button of a line goes, and its word.
    pub end: (&'static str, &'static str),
    /// A button below the list: where it goes and its word.
    pub all: Option<(&'static str, &'static str)>,
    /// Where more can be done or seen: address and words.
    pub ways: Vec<(String, Text)>,
}
