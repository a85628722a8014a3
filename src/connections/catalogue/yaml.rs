//! Reading one file of the catalogue: a small part of YAML 1.2, and the place of each value, so that a refusal can
//! name line and column.
//!
//! Anchors, aliases, tags and merge keys are refused before anything is built: with them a few lines can grow without
//! bound, and no file needs them.

use std::collections::HashMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span};
use serde_saphyr::{DefaultMessageFormatter, MergeKeyPolicy, MessageFormatter};

/// The most levels of lists and mappings inside each other.
const MAX_LEVELS: usize = 16;

/// The most bytes of one file.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// Why a file is refused and where; the start stops with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub detail: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.detail)
    }
}

impl std::error::Error for Fault {}

/// A position in a file: line and column, both from 1.
type Position = (usize, usize);

/// Where each value of a file stands, by JSON Pointer (RFC 6901).
pub(super) struct Places {
    file: String,
    positions: HashMap<String, Position>,
}

impl Places {
    /// Whether the file has a value at `pointer`.
    pub(super) fn has(&self, pointer: &str) -> bool {
        self.positions.contains_key(pointer)
    }

    /// A fault at `pointer`, or at the nearest value around it that the file has.
    pub(super) fn fault(&self, pointer: &str, detail: impl Into<String>) -> Fault {
        let mut around = pointer;
        let (line, column) = loop {
            if let Some(position) = self.positions.get(around) {
                break *position;
            }
            match around.rfind('/') {
                Some(end) => around = &around[..end],
                None => break (1, 1),
            }
        };
        Fault { file: self.file.clone(), line, column, detail: detail.into() }
    }
}

/// Reads `text` as a `T`, with the places of its values.
pub(super) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<(T, Places), Fault> {
    let places = walk(file, text)?;
    let options = serde_saphyr::options! {
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    };
    let value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |location| {
            (usize::try_from(location.line()).unwrap_or(1), usize::try_from(location.column()).unwrap_or(1))
        });
        Fault {
            file: file.to_owned(),
            line,
            column,
            detail: DefaultMessageFormatter.format_message(&error).into_owned(),
        }
    })?;
    Ok((value, places))
}

/// A list or a mapping being walked.
enum Open {
    List { pointer: String, next: usize },
    Mapping { pointer: String, key: Option<String> },
}

struct Walk<'a> {
    file: &'a str,
    open: Vec<Open>,
    positions: HashMap<String, Position>,
}

fn walk(file: &str, text: &str) -> Result<Places, Fault> {
    let mut walk = Walk { file, open: Vec::new(), positions: HashMap::new() };
    if text.len() > MAX_BYTES {
        return Err(walk.fault((1, 1), "the file is larger than 64 KiB"));
    }
    for step in Parser::new_from_str(text) {
        let (event, span) = step.map_err(|error| {
            let marker = error.marker();
            walk.fault((marker.line(), marker.col() + 1), &error.info())
        })?;
        walk.step(&event, &span)?;
    }
    Ok(Places { file: file.to_owned(), positions: walk.positions })
}

impl Walk<'_> {
    fn step(&mut self, event: &Event<'_>, span: &Span) -> Result<(), Fault> {
        let position = (span.start.line(), span.start.col() + 1);
        match event {
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => Err(self.no_reference(position)),
            Event::Scalar(_, _, anchor, _) | Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _)
                if *anchor != 0 =>
            {
                Err(self.no_reference(position))
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, _, Some(_))
            | Event::MappingStart(_, _, Some(_)) => {
                Err(self.fault(position, "tags are not allowed; write the plain value"))
            }
            Event::Scalar(text, style, _, None) => self.scalar(text, *style == ScalarStyle::Plain, position),
            Event::SequenceStart(..) => {
                let pointer = self.value(position)?;
                self.begin(Open::List { pointer, next: 0 }, position)
            }
            Event::MappingStart(..) => {
                let pointer = self.value(position)?;
                self.begin(Open::Mapping { pointer, key: None }, position)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: &str, plain: bool, position: Position) -> Result<(), Fault> {
        let Some(Open::Mapping { pointer, key }) = self.open.last_mut() else {
            return self.value(position).map(|_| ());
        };
        if key.is_some() {
            return self.value(position).map(|_| ());
        }
        if plain && text == "<<" {
            return Err(self.fault(position, "merge keys are not allowed; write the fields out"));
        }
        let named = format!("{pointer}/{}", text.replace('~', "~0").replace('/', "~1"));
        if self.positions.contains_key(&named) {
            return Err(self.fault(position, &format!("the field {text} is there twice")));
        }
        *key = Some(named);
        Ok(())
    }

    /// Notes where a value stands and answers its pointer.
    fn value(&mut self, position: Position) -> Result<String, Fault> {
        let pointer = match self.open.last_mut() {
            None => Some(String::new()),
            Some(Open::List { pointer, next }) => {
                let item = format!("{pointer}/{next}");
                *next += 1;
                Some(item)
            }
            Some(Open::Mapping { key, .. }) => key.take(),
        };
        let Some(pointer) = pointer else {
            return Err(self.fault(position, "the name of a field must be text"));
        };
        self.positions.insert(pointer.clone(), position);
        Ok(pointer)
    }

    fn begin(&mut self, open: Open, position: Position) -> Result<(), Fault> {
        self.open.push(open);
        if self.open.len() > MAX_LEVELS {
            return Err(self.fault(position, "more than 16 levels of lists and mappings inside each other"));
        }
        Ok(())
    }

    fn no_reference(&self, position: Position) -> Fault {
        self.fault(position, "anchors and aliases are not allowed; write the value out")
    }

    fn fault(&self, (line, column): Position, detail: &str) -> Fault {
        Fault { file: self.file.to_owned(), line, column, detail: detail.to_owned() }
    }
}
