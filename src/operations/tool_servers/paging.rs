//! The cursor of a search: bound to what was asked and to the lists as they were.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::error::{Problem, Result};

const AT: &str = "/cursor";

#[derive(Serialize, Deserialize)]
struct Cursor {
    /// A digest of org, playbook, terms and server.
    asked: String,
    /// A digest of the lists.
    lists: String,
    /// How many tools were shown.
    from: usize,
}

/// What a cursor is bound to.
pub(super) struct Bound {
    pub(super) asked: String,
    pub(super) lists: String,
}

impl Bound {
    /// How many tools the pages before showed.
    ///
    /// # Errors
    /// `invalid_input` at `/cursor`.
    pub(super) fn from(&self, cursor: Option<&str>) -> Result<usize> {
        let Some(text) = cursor else { return Ok(0) };
        let decoded = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| serde_json::from_slice::<Cursor>(&bytes).ok());
        let cursor = decoded.ok_or_else(|| Problem::invalid(AT, "is no cursor of a search"))?;
        if cursor.asked != self.asked {
            return Err(Problem::invalid(AT, "belongs to another search; give it with the fields of its own"));
        }
        if cursor.lists != self.lists {
            return Err(Problem::invalid(
                AT,
                "is out of date: the tools changed meanwhile; begin again without a cursor",
            ));
        }
        Ok(cursor.from)
    }

    /// The cursor of the page after `from` tools.
    pub(super) fn cursor(&self, from: usize) -> Result<String> {
        let cursor = Cursor { asked: self.asked.clone(), lists: self.lists.clone(), from };
        Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(&cursor)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(asked: &str, lists: &str) -> Bound {
        Bound { asked: asked.into(), lists: lists.into() }
    }

    #[test]
    fn a_cursor_counts_for_its_own_search_and_lists_alone() {
        let cursor = bound("a", "1").cursor(20).unwrap();
        assert_eq!(bound("a", "1").from(Some(&cursor)).unwrap(), 20);
        assert_eq!(bound("a", "1").from(None).unwrap(), 0);
        let words: Vec<String> =
            [bound("b", "1").from(Some(&cursor)), bound("a", "2").from(Some(&cursor)), bound("a", "1").from(Some("x"))]
                .into_iter()
                .map(|refused| refused.unwrap_err().issues()[0].detail.clone())
                .collect();
        assert!(words[0].contains("another") && words[1].contains("begin again") && words[2].contains("no cursor"));
    }
}
