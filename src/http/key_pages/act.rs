//! What can be done on a page about keys.

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
    /// The act on the key `id` that an address says by `word`.
    pub(in crate::http) fn on(id: String, word: &str) -> Option<Self> {
        match word {
            "change" => Some(Self::Change(id)),
            "rotate" => Some(Self::Rotate(id)),
            "revoke" => Some(Self::Revoke(id)),
            _ => None,
        }
    }

    /// Whether it tells the text of a key, which nobody may get who only found an open browser.
    pub(super) const fn needs_fresh_sign_in(&self) -> bool {
        matches!(self, Self::Make | Self::Rotate(_))
    }
}
