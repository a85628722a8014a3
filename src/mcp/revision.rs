//! The six revisions of the protocol this server speaks, and the two eras they fall in (`mcp.md` 3.1).

/// A revision of the protocol, older before newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-10-07: answered as 2024-11-05 is (decision D40).
    R20241007,
    /// 2024-11-05: over POST only; its transport of two endpoints is not served.
    R20241105,
    /// 2025-03-26: what a request without any sign of its revision speaks.
    R20250326,
    /// 2025-06-18: the first with the version header.
    R20250618,
    /// 2025-11-25: the newest that `initialize` may answer.
    R20251125,
    /// 2026-07-28: each request complete in itself.
    R20260728,
}

/// How a request says what it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize`, then a header.
    Legacy,
    /// Each request complete in itself.
    Modern,
}

impl Revision {
    /// Every revision, as an error or `server/discover` lists them.
    pub const NEWEST_FIRST: [Self; 6] =
        [Self::R20260728, Self::R20251125, Self::R20250618, Self::R20250326, Self::R20241105, Self::R20241007];

    /// The revision as the protocol writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::R20241007 => "2024-10-07",
            Self::R20241105 => "2024-11-05",
            Self::R20250326 => "2025-03-26",
            Self::R20250618 => "2025-06-18",
            Self::R20251125 => "2025-11-25",
            Self::R20260728 => "2026-07-28",
        }
    }

    /// The revision `text` names, if this server speaks it.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::NEWEST_FIRST.into_iter().find(|revision| revision.text() == text)
    }

    /// Whether it is of the modern era.
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::R20260728)
    }

    /// What `initialize` answers to a client that asks for `text`: the same where it is legacy, else the newest of those.
    pub(super) fn for_handshake(text: &str) -> Self {
        Self::from_text(text).filter(|revision| !revision.is_modern()).unwrap_or(Self::R20251125)
    }
}

/// Whether `text` is a date that is 2026-07-28 or later, and so a revision of the modern era, known or not.
pub(super) fn names_modern(text: &str) -> bool {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    shaped && text >= Revision::R20260728.text()
}
