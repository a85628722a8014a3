//! How people sign in to Studio: sessions, and what opens one (`identity.md` 8).
//!
//! Start with [`sessions`], then [`accounts`]; [`set_up`] makes the first person, [`upstream`] lets providers say who it is. Everything here is of the whole server, as people are; its events stand in the server's own
//! book, the org `""`.

pub mod accounts;
pub mod codes;
pub mod emails;
pub mod first_proof;
pub mod mail;
pub mod passkeys;
pub mod passwords;
mod resets;
pub mod sessions;
pub mod set_up;
pub mod throttle;
mod upkeep;
pub mod upstream;
pub mod webauthn;

use std::sync::Arc;
use std::time::Duration;

pub use mail::Mail;

use super::Identity;
use crate::ledger::Actor;
use crate::lifecycle::Lifecycle;

/// How often what has ended is forgotten.
const SWEEP_EVERY: Duration = Duration::from_secs(10 * 60);

/// The org of what belongs to no org: events about people, sessions and the server itself.
pub const SERVER: &str = "";

/// The person as the actor of an event.
pub fn actor(person: &super::Person) -> Actor {
    Actor::new("person", person.caller_id(), person.name.as_str())
}

/// Forgets, from time to time, sessions, codes, counts and challenges that have ended.
pub fn start_sweep(identity: Arc<Identity>, lifecycle: &Lifecycle) {
    let stop = lifecycle.token().clone();
    lifecycle.spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(SWEEP_EVERY) => {}
            }
            let swept = async {
                identity.sweep_sessions().await?;
                identity.sweep_codes().await?;
                identity.sweep_counters().await?;
                identity.sweep_attempts().await
            };
            if let Err(problem) = swept.await {
                tracing::warn!(%problem, "what has ended could not be forgotten just now");
            }
        }
    });
}
