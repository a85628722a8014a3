//! Token buckets, one for each of many.
//!
//! A bucket is one number, the moment at which it will be full again: what was taken is the way there. A full bucket is
//! the same as none, so what nobody uses is let go without loss. This is less than the adapters for clock, store and
//! bound that a library of rate limits would need here.

use std::hash::Hash;

use super::bounded::{Bounded, Passing};
use crate::config::Rate;

/// How fast a bucket fills and how much it holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    /// Microseconds until one more may be taken.
    interval_us: i64,
    /// How many may be taken at once.
    burst: i64,
}

impl Fill {
    /// One more every `interval_ms` milliseconds, and at most `burst` at once.
    pub(super) const fn every_ms(interval_ms: u32, burst: u32) -> Self {
        Self { interval_us: interval_ms as i64 * 1000, burst: burst as i64 }
    }
}

impl From<Rate> for Fill {
    fn from(rate: Rate) -> Self {
        Self { interval_us: 1_000_000 / i64::from(rate.per_second.max(1)), burst: i64::from(rate.burst) }
    }
}

/// The moment at which a bucket is full again, in microseconds since the epoch.
#[derive(Debug, Default)]
struct FullAt(i64);

impl Passing for FullAt {
    fn is_over(&self, now_ms: i64) -> bool {
        self.0 <= now_ms * 1000
    }
}

/// A bucket for each of many.
#[derive(Debug)]
pub(super) struct Buckets {
    fill: Fill,
    full_at: Bounded<FullAt>,
}

impl Buckets {
    pub(super) fn new(fill: impl Into<Fill>) -> Self {
        Self { fill: fill.into(), full_at: Bounded::new() }
    }

    /// Takes one, or says in how many seconds there is one again.
    pub(super) fn take(&self, key: impl Hash, now_ms: i64) -> Result<(), u32> {
        self.full_at.with(key, now_ms, |full_at| {
            // A clock that was set back must not leave anybody waiting longer than an empty bucket does.
            full_at.0 = full_at.0.min(self.empty_us(now_ms));
            full_at.0 = self.after_one(full_at, now_ms)?;
            Ok(())
        })
    }

    /// Whether one could be taken.
    pub(super) fn look(&self, key: impl Hash, now_ms: i64) -> Result<(), u32> {
        self.full_at.look(key, |full_at| self.after_one(full_at, now_ms)).transpose().map(|_| ())
    }

    /// When a bucket is full again that is empty at `now_ms`.
    fn empty_us(&self, now_ms: i64) -> i64 {
        now_ms * 1000 + self.fill.burst * self.fill.interval_us
    }

    fn after_one(&self, full_at: &FullAt, now_ms: i64) -> Result<i64, u32> {
        let empty = self.empty_us(now_ms);
        let after = full_at.0.clamp(now_ms * 1000, empty) + self.fill.interval_us;
        match after - empty {
            ..=0 => Ok(after),
            wait => Err(seconds(wait)),
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.full_at.len()
    }
}

/// Microseconds as whole seconds, at least one.
fn seconds(us: i64) -> u32 {
    u32::try_from((us + 999_999) / 1_000_000).unwrap_or(u32::MAX).max(1)
}
