//! Why the server does not start: one line that names the place and what was expected, never the value.

use std::fmt;
use std::path::PathBuf;

use super::document::Place;

/// Longest name of a key that is told; longer ones are cut.
const MAX_SEGMENT: usize = 64;

/// A setting that is not right. Its `Display` is one line for the operator.
#[derive(Debug)]
pub struct Refusal {
    origin: Origin,
    place: Place,
    /// Keys that lead to the setting, the file's key first.
    path: Vec<String>,
    expected: String,
}

/// Where a setting was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// In the file.
    File(PathBuf),
    /// In a variable of the environment.
    Variable(String),
}

impl Refusal {
    /// A refusal of what stands at `place` of the file, or at `path` of a variable.
    pub(super) fn new(origin: Origin, place: Place, path: Vec<String>, expected: impl Into<String>) -> Self {
        Self { origin, place, path, expected: expected.into() }
    }

    /// A refusal of a whole variable.
    pub(super) fn variable(name: &str, expected: impl Into<String>) -> Self {
        Self::new(Origin::Variable(name.to_owned()), Place::default(), Vec::new(), expected)
    }

    /// What was expected.
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File(path) => write!(f, "{}", one_line(&path.display().to_string(), usize::MAX))?,
            Origin::Variable(name) => write!(f, "variable {}", one_line(name, MAX_SEGMENT))?,
        }
        if self.place.line > 0 {
            write!(f, ", line {}, column {}", self.place.line, self.place.column)?;
        }
        let segments = self.path.iter().map(|segment| one_line(segment, MAX_SEGMENT));
        match &self.origin {
            _ if self.path.is_empty() => {}
            Origin::File(_) => write!(f, ", key {}", segments.collect::<Vec<_>>().join("."))?,
            Origin::Variable(_) => {
                f.write_str(", at ")?;
                for segment in segments {
                    write!(f, "/{}", segment.replace('~', "~0").replace('/', "~1"))?;
                }
            }
        }
        write!(f, ": expected {}", one_line(&self.expected, usize::MAX))
    }
}

impl std::error::Error for Refusal {}

/// `text` without anything that could break or colour a line.
fn one_line(text: &str, most: usize) -> String {
    let mut line: String = text.chars().take(most).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        line.push('…');
    }
    line
}
