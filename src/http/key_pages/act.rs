//! What can be done on a page about keys, and how its address says so.

use serde::Deserialize;

/// One of them, with the id of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum Act {
    /// Makes a key.
    Make,
    /// Changes its name, its limit or its end.
    Change(String),
    /// Gives it a new text.
    Rotate(String),
    /// Ends it.
    Revoke(String),
}

impl Act {
    /// Whether it tells the text of a key, which nobody may get who only found an open browser.
    pub(super) const fn needs_fresh_sign_in(&self) -> bool {
        matches!(self, Self::Make | Self::Rotate(_))
    }
}

/// What the address of such a page names: the org, and a key with the word of the act; without both it makes a key.
#[derive(Debug, Deserialize)]
pub(in crate::http) struct At {
    /// The org.
    pub(in crate::http) org: String,
    key: Option<String>,
    act: Option<String>,
}

impl At {
    /// The act; none for a word that says none.
    pub(in crate::http) fn act(&self) -> Option<Act> {
        let Some(id) = self.key.clone() else { return Some(Act::Make) };
        match self.act.as_deref() {
            Some("change") => Some(Act::Change(id)),
            Some("rotate") => Some(Act::Rotate(id)),
            Some("revoke") => Some(Act::Revoke(id)),
            _ => None,
        }
    }
}
