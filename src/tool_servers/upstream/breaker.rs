//! Leaves a server alone for a while after it failed again and again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::trouble::{Because, Trouble};
use crate::clock::SharedClock;

/// Failures in a row that open the breaker, when they fall within the window.
const FAILURES: usize = 5;
const WINDOW_MS: i64 = 60_000;
/// How long the server is not asked.
const PAUSE_MS: i64 = 30_000;

/// Counts the failures to open or to list one server.
pub(super) struct Breaker {
    clock: SharedClock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: VecDeque<i64>,
    open: Option<Open>,
}

struct Open {
    until_ms: i64,
    last: Trouble,
}

impl Breaker {
    /// A breaker that has seen nothing.
    pub(super) fn new(clock: SharedClock) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// Whether the server may be asked now; after the pause one caller may, and the others wait for how that ends.
    pub(super) fn admit(&self) -> Result<(), Trouble> {
        let now = self.clock.now_ms();
        match &mut self.state().open {
            Some(open) if now < open.until_ms => Err(open.last.clone()),
            Some(open) => {
                open.until_ms = now + PAUSE_MS;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The server did what it was asked.
    pub(super) fn succeeded(&self) {
        *self.state() = State::default();
    }

    /// The server could not be opened or listed; refusals that asking less would not mend do not count.
    pub(super) fn failed(&self, trouble: &Trouble) {
        if !matches!(trouble.because, Because::Unreachable | Because::Failing) {
            return;
        }
        let now = self.clock.now_ms();
        let mut state = self.state();
        state.failures.push_back(now);
        while state.failures.front().is_some_and(|first| now - first > WINDOW_MS) {
            state.failures.pop_front();
        }
        if state.failures.len() >= FAILURES || state.open.is_some() {
            state.open = Some(Open {
                until_ms: now + PAUSE_MS,
                last: Trouble { sent: false, jsonrpc_id: None, server_request_id: None, ..trouble.clone() },
            });
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn five_failures_pause_the_server_until_one_probe_succeeds() {
        let clock = Arc::new(ManualClock::at(0));
        let breaker = Breaker::new(clock.clone());
        let trouble = Trouble::unreachable("down");
        for _ in 0..4 {
            breaker.failed(&trouble);
        }
        assert!(breaker.admit().is_ok());
        breaker.failed(&trouble);
        assert_eq!(breaker.admit().unwrap_err().detail, "down");
        clock.advance_ms(PAUSE_MS);
        assert!(breaker.admit().is_ok(), "one probe");
        assert!(breaker.admit().is_err(), "and no other");
        breaker.succeeded();
        assert!(breaker.admit().is_ok());
    }

    #[test]
    fn slow_failures_and_refused_credentials_do_not_count() {
        let clock = Arc::new(ManualClock::at(0));
        let breaker = Breaker::new(clock.clone());
        for _ in 0..9 {
            breaker.failed(&Trouble::failing("odd"));
            clock.advance_ms(20_000);
            breaker.failed(&Trouble::new(Because::KeyRefused, "no"));
        }
        assert!(breaker.admit().is_ok());
    }
}
