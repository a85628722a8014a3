//! What pages are made of, below each other: forms, lists, tables, and what is told once. One template shows each
//! (`templates/parts/part.html`); a page only chooses them and their order.

mod section;

pub use section::{Section, Weight};

use super::text::Text;

/// One part of a page.
#[derive(Debug, Clone)]
pub enum Part {
    /// Something to fill in, or a single button.
    Form(Section),
    /// What there is, each on a line with what can be done with it.
    List(List),
    /// What there is, in columns.
    Table(Table),
    /// A secret that is shown this once.
    Once(Once),
    /// Facts to read: name and value.
    Facts(Facts),
    /// Somewhere to go on.
    Ways(Ways),
    /// Where a new passkey is made, by the page's script.
    NewPasskey,
}

/// Something that can be done with a line, or somewhere to go from it.
#[derive(Debug, Clone)]
pub enum Act {
    /// A button that sends a form of its own.
    Button {
        /// Where it goes.
        action: String,
        /// Its word.
        word: &'static str,
        /// What goes along, beside the token of the session.
        hidden: Vec<(&'static str, String)>,
    },
    /// A link to something that is kept as a file of this name.
    File {
        /// Its address.
        address: String,
        /// Its word.
        word: &'static str,
        /// The name.
        name: String,
    },
    /// A link to another page.
    Link {
        /// Its address.
        address: String,
        /// Its word.
        word: &'static str,
    },
}

impl Act {
    /// A button that sends an `id` to `action`.
    pub fn button(action: impl Into<String>, word: &'static str, id: impl Into<String>) -> Self {
        Self::Button { action: action.into(), word, hidden: vec![("id", id.into())] }
    }

    /// A link.
    pub fn link(address: impl Into<String>, word: &'static str) -> Self {
        Self::Link { address: address.into(), word }
    }
}

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

/// What is told of a line to who unfolds it.
#[derive(Debug, Clone)]
pub struct Folded {
    /// What is known of it.
    pub facts: Vec<Fact>,
    /// Where one can go from there.
    pub acts: Vec<Act>,
}

/// One line of a list.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// What it is.
    pub title: Text,
    /// More about it.
    pub detail: Text,
    /// What marks it: tone and word of a pill.
    pub mark: Option<(&'static str, &'static str)>,
    /// What is told of it.
    pub facts: Vec<Fact>,
    /// What is told of it to who unfolds it.
    pub folded: Option<Folded>,
    /// What can be done with it.
    pub acts: Vec<Act>,
}

impl Line {
    /// A line of this title.
    pub fn new(title: impl AsRef<str>) -> Self {
        Self { title: Text::new(title), ..Self::default() }
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
    /// A button for all of it, below.
    pub all: Option<Act>,
    /// The address of the next page, where there is one.
    pub next: Option<String>,
}

/// A table; on a telephone each row is a card.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it is of.
    pub title: Text,
    /// What is said where nothing is in it.
    pub empty: &'static str,
    /// The words above its columns; the first column names the row.
    pub heads: Vec<&'static str>,
    /// Its rows, with as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// The address of the next page, where there is one.
    pub next: Option<String>,
}

/// A cell of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    /// Words.
    Words(Text),
    /// Words that stay on one line, such as a day.
    Short(Text),
    /// Something to know by its name, with more below it.
    Named {
        /// The name.
        title: Text,
        /// More.
        detail: Text,
    },
    /// A status: tone and word.
    Mark((&'static str, &'static str)),
    /// What can be done with the row; `about` names the row to who hears the page.
    Acts {
        /// The row.
        about: Text,
        /// What can be done.
        acts: Vec<Act>,
    },
}

impl Cell {
    /// Words.
    pub fn words(words: impl AsRef<str>) -> Self {
        Self::Words(Text::new(words))
    }
}

/// A secret, shown this once.
#[derive(Debug, Clone)]
pub struct Once {
    /// What it is.
    pub title: Text,
    /// What to do with it.
    pub words: Text,
    /// What it is called beside its copy button, such as `link`.
    pub label: &'static str,
    /// The secret.
    pub secret: String,
    /// Where to go on: address and words.
    pub way: Option<(String, &'static str)>,
}

/// Facts to read.
#[derive(Debug, Clone)]
pub struct Facts {
    /// What they are about.
    pub title: Text,
    /// Each with its name.
    pub facts: Vec<(&'static str, Text)>,
}

/// Somewhere to go on, and why.
#[derive(Debug, Clone)]
pub struct Ways {
    /// What it is about.
    pub title: Text,
    /// What to know.
    pub words: Text,
    /// Where to go.
    pub acts: Vec<Act>,
}
