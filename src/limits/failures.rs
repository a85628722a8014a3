//! Credentials that were no good, counted by address: guessing ends before it costs a look-up.

use std::net::IpAddr;

use super::bounded::{Bounded, Passing};

/// So many failures within [`WINDOW_MS`] close an address.
const MOST: u32 = 30;
const WINDOW_MS: i64 = 10 * 60 * 1000;
const CLOSED_MS: i64 = 10 * 60 * 1000;
/// How long a credential that was good is let through to its look-up from an address that is closed.
const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1000;

/// What an address failed with lately.
#[derive(Debug, Default)]
struct Tally {
    count: u32,
    since_ms: i64,
    closed_until_ms: i64,
}

impl Passing for Tally {
    fn is_over(&self, now_ms: i64) -> bool {
        now_ms >= self.closed_until_ms && now_ms - self.since_ms >= WINDOW_MS
    }
}

/// Until when a good credential is remembered, in milliseconds since the epoch.
#[derive(Debug, Default)]
struct GoodUntil(i64);

impl Passing for GoodUntil {
    fn is_over(&self, now_ms: i64) -> bool {
        now_ms >= self.0
    }
}

/// The failures of all addresses.
#[derive(Debug)]
pub(super) struct Failures {
    by_address: Bounded<Tally>,
    good: Bounded<GoodUntil>,
}

impl Failures {
    pub(super) fn new() -> Self {
        Self { by_address: Bounded::new(), good: Bounded::new() }
    }

    /// Whether `credential` may be looked up for `address`, or in how many seconds.
    pub(super) fn may_look_up(&self, address: IpAddr, credential: &str, now_ms: i64) -> Result<(), u32> {
        let left_ms = self.by_address.look(address, |tally| tally.closed_until_ms - now_ms).unwrap_or_default();
        let was_good = || self.good.look(credential, |until| !until.is_over(now_ms)).unwrap_or_default();
        if left_ms <= 0 || was_good() {
            return Ok(());
        }
        Err(u32::try_from((left_ms + 999) / 1000).unwrap_or(u32::MAX))
    }

    /// Counts a credential that was no good.
    pub(super) fn failed(&self, address: IpAddr, now_ms: i64) {
        self.by_address.with(address, now_ms, |tally| {
            if tally.is_over(now_ms) || (tally.closed_until_ms > 0 && now_ms >= tally.closed_until_ms) {
                *tally = Tally { since_ms: now_ms, ..Tally::default() };
            }
            tally.count += 1;
            if tally.count == MOST {
                tally.closed_until_ms = now_ms + CLOSED_MS;
            }
        });
    }

    /// Remembers a credential that was good.
    pub(super) fn good(&self, credential: &str, now_ms: i64) {
        self.good.with(credential, now_ms, |until| until.0 = now_ms + REMEMBERED_MS);
    }
}
