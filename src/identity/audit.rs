//! Refused acts in the audit: one row for each caller, reason and five minutes, with a count (`identity.md` 10).
//!
//! They are told as well as can be and slow nobody down: a request leaves a note in memory, [`Refusals::tell`] writes those
//! whose five minutes are over. What happened is written where it happens, by [`crate::ledger::Ledger::commit`].

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::Caller;
use crate::clock::SharedClock;
use crate::error::{Problem, Reason};
use crate::ledger::{Actor, Changed, Event, Ledger};

/// How long refusals are counted into one row, in milliseconds.
pub const ROLLED_UP_MS: i64 = 5 * 60 * 1_000;
/// The same for those of adding a connection, which have an action of their own (`connections.md` 18).
pub const ADDS_ROLLED_UP_MS: i64 = 60 * 1_000;
const ADD: &str = "add_connection";
/// The most rows that wait; more are only counted.
const MOST: usize = 1_000;
/// The most names of what was refused that a row tells.
const NAMES: usize = 10;

/// Refusals that wait to be told.
pub struct Refusals {
    ledger: Ledger,
    clock: SharedClock,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    rows: HashMap<Key, Refused>,
    dropped: u64,
}

const fn rolled_up_ms(adds: bool) -> i64 {
    if adds { ADDS_ROLLED_UP_MS } else { ROLLED_UP_MS }
}

/// One row's refusals: org, caller, reason, and whether a connection was to be added.
type Key = (String, String, &'static str, bool);

struct Refused {
    actor: Actor,
    since_ms: i64,
    count: u64,
    what: BTreeSet<String>,
}

impl Refusals {
    /// None yet.
    pub fn new(ledger: Ledger, clock: SharedClock) -> Self {
        Self { ledger, clock, waiting: Mutex::default() }
    }

    /// Notes that a caller was refused `what`, an operation or an endpoint; anything but a lack of rights is none.
    pub fn note(&self, caller: &Caller, what: &str, problem: &Problem) {
        if problem.reason() != Reason::Forbidden {
            return;
        }
        let reason = problem.kind_word().unwrap_or(problem.reason().word());
        let now = self.clock.now_ms();
        let mut waiting = self.lock();
        let key = (caller.org.clone(), caller.id().to_owned(), reason, what == ADD);
        if !waiting.rows.contains_key(&key) && waiting.rows.len() >= MOST {
            waiting.dropped += 1;
            return;
        }
        let begun = || Refused { actor: caller.actor(), since_ms: now, count: 0, what: BTreeSet::new() };
        let row = waiting.rows.entry(key).or_insert_with(begun);
        row.count += 1;
        if row.what.len() < NAMES {
            row.what.insert(what.to_owned());
        }
    }

    /// Writes the rows whose five minutes are over, or all of them at a stop. What cannot be written is lost.
    pub async fn tell(&self, all: bool) {
        let now = self.clock.now_ms();
        let (due, dropped) = {
            let mut waiting = self.lock();
            let due: Vec<(Key, Refused)> =
                waiting.rows.extract_if(|key, row| all || now - row.since_ms >= rolled_up_ms(key.3)).collect();
            (due, std::mem::take(&mut waiting.dropped))
        };
        if dropped > 0 {
            tracing::warn!(
                count = dropped,
                "refusals were not told in the audit: too many callers were refused at once"
            );
        }
        for ((org, _, reason, adds), row) in due {
            let since = crate::clock::iso(row.since_ms);
            let (kind, facts) = if adds {
                ("add_refused", json!({ "code": reason, "count": row.count, "since": since }))
            } else {
                ("access_refused", json!({ "reason": reason, "count": row.count, "what": row.what, "since": since }))
            };
            let stream = format!("callers/{}", row.actor.id);
            let name = row.actor.name.clone();
            let event = Event::audit(stream, kind, row.actor, facts).about(name);
            let work: crate::ledger::Work<()> = Box::new(|_| Box::pin(async move { Ok(Changed::by((), event)) }));
            if let Err(problem) = self.ledger.commit(&org, work).await {
                tracing::warn!(%problem, org.id = %org, "refusals could not be told in the audit");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing in here can panic half-way.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
