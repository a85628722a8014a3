//! The keys an operator writes into `api_keys`; made by `playmaker key create`.

use super::Permission;

/// The playbooks a key reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Playbooks {
    /// Every one of the org.
    All,
    /// These ids alone, whether they exist yet or not.
    Only(Vec<String>),
}

/// The span a usage limit counts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsagePeriod {
    /// A calendar day in UTC.
    Day,
    /// A calendar month in UTC.
    Month,
    /// The key's whole life.
    Total,
}

impl UsagePeriod {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Total => "total",
        }
    }

    /// The period of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Day, Self::Month, Self::Total].into_iter().find(|period| period.word() == word)
    }
}

/// How many calls a key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageLimit {
    /// Calls, 1 to 1,000,000,000.
    pub calls: u32,
    /// Counted over.
    pub period: UsagePeriod,
}

/// One entry of `api_keys`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The caller's id; 1 to 32 of `a-z 0-9 -`.
    pub id: String,
    /// The org it acts in.
    pub org: String,
    /// What it may do, as written.
    pub permissions: Vec<Permission>,
    /// What it reaches.
    pub playbooks: Playbooks,
    /// SHA-256 of the key's text; the text itself is never kept.
    pub sha256: [u8; 32],
    /// Refused from this instant on, in milliseconds since the Unix epoch.
    pub expires_at_ms: Option<i64>,
    /// Its allowance.
    pub usage_limit: Option<UsageLimit>,
}
