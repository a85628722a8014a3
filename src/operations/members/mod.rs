//! The operations on members of an org (`identity.md` 9): HTTP alone, for people who manage it.

pub mod change_role;
pub mod list_members;
pub mod remove_member;

use schemars::JsonSchema;
use serde::Serialize;

use super::Context;
pub use super::keys::Reach;
use crate::clock::iso;
use crate::error::Result;
use crate::identity::caller::PERSON;
pub use crate::identity::caller::PERSON_PATTERN;
use crate::identity::members::list::{Listed, MemberFilter};
use crate::identity::{Membership, Role};

/// The person's own id, `user_…`, of a caller id.
pub fn person_of(text: &str) -> &str {
    text.strip_prefix(PERSON).unwrap_or(text)
}

/// A member, as those who manage the org see them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct View {
    /// The person, as `person:user_…`.
    pub person: String,
    /// Their name.
    pub name: String,
    /// Their email, or null.
    pub email: Option<String>,
    /// What they may do.
    pub role: Role,
    /// "*", or the ids of the playbooks where they may.
    pub playbooks: Reach,
    /// How they can sign in.
    pub auth_methods: Vec<&'static str>,
    /// When they joined.
    pub created_at: String,
    /// The day they were last seen, or null.
    pub last_seen_at: Option<String>,
}

impl View {
    fn of(listed: &Listed) -> Self {
        Self {
            name: listed.name.clone(),
            email: listed.email.clone(),
            auth_methods: listed.auth_methods.clone(),
            ..Self::bare(&listed.membership)
        }
    }

    /// What the membership alone tells.
    fn bare(membership: &Membership) -> Self {
        // By day: nobody's hours are watched.
        let day = |ms: i64| iso(ms - ms.rem_euclid(24 * 60 * 60 * 1_000));
        Self {
            person: format!("{PERSON}{}", membership.person),
            name: String::new(),
            email: None,
            role: membership.role,
            playbooks: Reach(membership.reach()),
            auth_methods: Vec::new(),
            created_at: iso(membership.created_at_ms),
            last_seen_at: membership.last_seen_at_ms.map(day),
        }
    }
}

/// A member of the caller's org, as they stand.
async fn view(context: &Context, membership: &Membership) -> Result<View> {
    let filter = MemberFilter { person: Some(membership.person.clone()), ..MemberFilter::default() };
    let found = context.app.identity.members(context.org(), &filter, None, 1).await?;
    Ok(found.first().map_or_else(|| View::bare(membership), View::of))
}
