//! What is remembered of many, in bounded memory: what has lost its meaning is let go, and beyond the bound newcomers
//! share one place.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

/// The most that are told apart: addresses, callers, clients.
const MOST: usize = 65_536;
/// From so many on it is looked for what can be let go.
const FIRST_SWEEP: usize = 1024;
/// How often it is looked at most, in milliseconds: under a flood there may be nothing to let go.
const SWEEP_EVERY_MS: i64 = 1000;
/// The place of those beyond the bound.
const SHARED: u64 = 0;

/// A value that means nothing any more from some moment on.
pub(super) trait Passing: Default {
    /// Whether it says no more than a new one at `now_ms`.
    fn is_over(&self, now_ms: i64) -> bool;
}

/// A value for each of many, told apart by a keyed hash: nobody can choose with whom it shares a place.
#[derive(Debug)]
pub(super) struct Bounded<V> {
    hasher: RandomState,
    places: Mutex<Places<V>>,
}

#[derive(Debug)]
struct Places<V> {
    values: HashMap<u64, V>,
    sweep_at: usize,
    swept_ms: i64,
}

impl<V: Passing> Bounded<V> {
    pub(super) fn new() -> Self {
        let places = Places { values: HashMap::new(), sweep_at: FIRST_SWEEP, swept_ms: i64::MIN };
        Self { hasher: RandomState::new(), places: Mutex::new(places) }
    }

    /// Does something with the value of `key`, a new one where there is none.
    pub(super) fn with<R>(&self, key: impl Hash, now_ms: i64, act: impl FnOnce(&mut V) -> R) -> R {
        let mut key = self.hasher.hash_one(key);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if !places.values.contains_key(&key) {
            places.make_room(now_ms);
            if places.values.len() >= MOST {
                key = SHARED;
            }
        }
        act(places.values.entry(key).or_default())
    }

    /// What is known of `key`, without making a place for it.
    pub(super) fn look<R>(&self, key: impl Hash, look: impl FnOnce(&V) -> R) -> Option<R> {
        let key = self.hasher.hash_one(key);
        self.places.lock().unwrap_or_else(PoisonError::into_inner).values.get(&key).map(look)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).values.len()
    }
}

impl<V: Passing> Places<V> {
    fn make_room(&mut self, now_ms: i64) {
        if self.values.len() < self.sweep_at || now_ms.saturating_sub(self.swept_ms) < SWEEP_EVERY_MS {
            return;
        }
        self.values.retain(|_, value| !value.is_over(now_ms));
        self.sweep_at = (self.values.len() * 2).clamp(FIRST_SWEEP, MOST);
        self.swept_ms = now_ms;
    }
}
