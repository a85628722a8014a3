//! API keys (`identity.md` 3, decision D27): of the configuration and of the database.
//!
//! Start with [`form`], what a key's text looks like; then `look_up`, from a text to its caller. A key of the database is a
//! [`Key`]; `changes` makes, rotates and changes one, `ending` revokes it, each with its event of the audit. What of a key is counted
//! is in [`usage`] (limits, reserved before a call) and `used` (when a key was last used, which costs no request a write).

mod changes;
mod configured;
mod ending;
mod events;
pub mod form;
mod look_up;
mod manager;
pub mod stored;
mod sweep;
pub mod usage;
mod used;

pub use changes::{Change, Draft, Made};
pub(super) use configured::Configured;
pub use ending::revoke_of_person;
pub use form::{checksum_ok, entry_json, generate};
pub(super) use look_up::Found;
pub use manager::Manager;
pub(in crate::identity) use stored::of_person;
pub use stored::{Key, Status};
pub(super) use used::Used;

use super::Permissions;
use crate::config::{Permission, Playbooks};

/// The most keys of an org that can still be used.
pub const MOST_LIVE: usize = 200;
/// How long a key works when nothing is said, in milliseconds.
pub const DEFAULT_LIFE_MS: i64 = 90 * DAY_MS;
/// How long the text before a rotation still works when nothing is said, in milliseconds.
pub const DEFAULT_GRACE_MS: i64 = DAY_MS;
/// The longest it may, in milliseconds.
pub const LONGEST_GRACE_MS: i64 = 7 * DAY_MS;
/// How long an ended key is still listed, in milliseconds.
const LISTED_MS: i64 = 90 * DAY_MS;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// What a key's name looks like.
pub const NAME_PATTERN: &str = "^[a-z0-9-]{1,32}$";
/// What the id of any key looks like.
pub const ID_PATTERN: &str = "^([a-z0-9-]{1,32}|key_[0-9A-Za-z]{22})$";

/// Whether who holds `holder` may make a key of `asked`: nobody grants more than they hold.
pub fn within(asked: &[Permission], holder: Permissions) -> bool {
    let closure = Permissions::of(asked);
    closure.and(holder) == closure
}

/// Whether everything in `asked` is in `holder` too.
pub fn reaches_within(asked: &Playbooks, holder: &Playbooks) -> bool {
    match (asked, holder) {
        (_, Playbooks::All) => true,
        (Playbooks::All, Playbooks::Only(_)) => false,
        (Playbooks::Only(asked), Playbooks::Only(held)) => asked.iter().all(|id| held.contains(id)),
    }
}

/// The playbooks in both.
fn common(one: &Playbooks, other: &Playbooks) -> Playbooks {
    match (one, other) {
        (Playbooks::All, reach) | (reach, Playbooks::All) => reach.clone(),
        (Playbooks::Only(one), Playbooks::Only(other)) => {
            Playbooks::Only(one.iter().filter(|id| other.contains(id)).cloned().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(ids: &[&str]) -> Playbooks {
        Playbooks::Only(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    #[test]
    fn a_key_holds_no_more_than_its_maker() {
        let maker = Permissions::of(&[Permission::OrgRead, Permission::PlaybookWrite]);
        assert!(within(&[Permission::PlaybookRead, Permission::OrgRead], maker));
        assert!(within(&[Permission::PlaybookWrite], maker));
        assert!(!within(&[Permission::OrgWrite], maker) && !within(&Permission::ALL, maker));
    }

    #[test]
    fn and_reaches_no_further() {
        let reach = only(&["support", "billing"]);
        assert!(reaches_within(&only(&["support"]), &reach) && reaches_within(&reach, &Playbooks::All));
        assert!(!reaches_within(&Playbooks::All, &reach) && !reaches_within(&only(&["secret"]), &reach));
        assert_eq!(common(&only(&["support", "secret"]), &reach), only(&["support"]));
        assert_eq!(common(&Playbooks::All, &reach), reach);
        assert_eq!(common(&reach, &Playbooks::All), reach);
    }
}
