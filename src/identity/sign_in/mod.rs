//! How people sign in to Studio: sessions, and what opens one (`identity.md` 8).
//!
//! Start with [`sessions`]. Everything here is of the whole server, as people are; its events stand in the server's own
//! book, the org `""`.

pub mod sessions;

use crate::ledger::Actor;

/// The org of what belongs to no org: events about people, sessions and the server itself.
pub const SERVER: &str = "";

/// The person as the actor of an event.
pub fn actor(person: &super::Person) -> Actor {
    Actor::new("person", person.caller_id(), person.name.as_str())
}
