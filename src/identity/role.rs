//! The four roles of a person in an org and what each lets them do (`identity.md` 2.2).

use super::{Permission, Permissions};

/// A person's role in an org; a later one includes what the earlier ones may.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Works.
    Member,
    /// Manages people and keys, but no owner.
    Admin,
    /// Everything, the org itself included.
    Owner,
}

impl Role {
    /// Every role, the least first.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Member, Self::Admin, Self::Owner];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// The role of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    /// What it lets a person do.
    pub fn rights(self) -> Permissions {
        match self {
            Self::Viewer => Permissions::of(&[Permission::OrgRead, Permission::PlaybookRead]),
            Self::Member => Permissions::of(&[Permission::OrgWrite, Permission::PlaybookWrite]),
            Self::Admin | Self::Owner => Permissions::of(&Permission::EVERY),
        }
    }

    /// Whether who holds it may invite, change and remove those of `other`: nobody grants more than they hold.
    pub const fn manages(self, other: Self) -> bool {
        match self {
            Self::Owner => true,
            Self::Admin => !matches!(other, Self::Owner),
            Self::Member | Self::Viewer => false,
        }
    }

    /// Whether a membership of this role can be narrowed to some playbooks.
    pub const fn is_narrowed(self) -> bool {
        matches!(self, Self::Viewer | Self::Member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_those_of_the_sheet() {
        let rights = |role: Role| Permission::EVERY.map(|permission| role.rights().has(permission));
        // org:read, org:write, playbook:read, playbook:write, org:admin
        assert_eq!(rights(Role::Viewer), [true, false, true, false, false]);
        assert_eq!(rights(Role::Member), [true, true, true, true, false]);
        assert_eq!(rights(Role::Admin), [true; 5]);
        assert_eq!(rights(Role::Owner), [true; 5]);
    }

    #[test]
    fn an_admin_manages_everybody_but_owners() {
        assert_eq!(Role::ALL.map(|role| Role::Admin.manages(role)), [true, true, true, false]);
        assert_eq!(Role::ALL.map(|role| Role::Member.manages(role)), [false; 4]);
        assert_eq!(Role::ALL.map(|role| Role::of(role.word())), Role::ALL.map(Some));
    }
}
