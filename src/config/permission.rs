//! What a caller may do, in the words that are scopes, permissions of a key and rights of a role alike (decision D8).

/// One permission; closed under "write includes read" where it is used, not here.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub enum Permission {
    /// Sees what the org has.
    #[serde(rename = "org:read")]
    OrgRead,
    /// Changes what the org has.
    #[serde(rename = "org:write")]
    OrgWrite,
    /// Sees playbooks.
    #[serde(rename = "playbook:read")]
    PlaybookRead,
    /// Changes playbooks and runs them.
    #[serde(rename = "playbook:write")]
    PlaybookWrite,
    /// Manages members, keys and audit. For people only: what is read as a key's permission is never this one.
    #[serde(rename = "org:admin", skip_deserializing)]
    OrgAdmin,
}

impl Permission {
    /// Every permission a key may hold, in the order they are told.
    pub const ALL: [Self; 4] = [Self::OrgRead, Self::OrgWrite, Self::PlaybookRead, Self::PlaybookWrite];
    /// Every permission, in the order they are told.
    pub const EVERY: [Self; 5] =
        [Self::OrgRead, Self::OrgWrite, Self::PlaybookRead, Self::PlaybookWrite, Self::OrgAdmin];

    /// Its word, such as `org:read`; also the scope of a token.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OrgRead => "org:read",
            Self::OrgWrite => "org:write",
            Self::PlaybookRead => "playbook:read",
            Self::PlaybookWrite => "playbook:write",
            Self::OrgAdmin => "org:admin",
        }
    }

    /// The permission of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|permission| permission.word() == word)
    }
}
