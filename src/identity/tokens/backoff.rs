//! When something that failed is tried again.

/// The wait after the first failure, in milliseconds; it doubles with each further one.
const FIRST_MS: i64 = 1_000;

/// The longest wait, in milliseconds.
const LONGEST_MS: i64 = 60_000;

/// How often in a row something failed and when it is due again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Backoff {
    failures: u32,
    due_ms: i64,
}

impl Backoff {
    /// It went wrong: the next attempt is due later than the last time.
    pub(super) fn failed(&mut self, now_ms: i64) {
        let wait_ms = FIRST_MS.saturating_mul(1 << self.failures.min(6)).min(LONGEST_MS);
        self.failures = self.failures.saturating_add(1);
        self.due_ms = now_ms.saturating_add(wait_ms);
    }

    /// It went well: the next attempt is due at once.
    pub(super) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Whether the last try was good, or there was none.
    pub(super) const fn is_clear(self) -> bool {
        self.failures == 0
    }

    /// Whether another try is due.
    pub(super) const fn is_due(self, now_ms: i64) -> bool {
        now_ms >= self.due_ms
    }

    /// How long until then, in milliseconds.
    pub(super) fn wait_ms(self, now_ms: i64) -> u64 {
        u64::try_from(self.due_ms - now_ms).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::default();
        assert!(backoff.is_due(0) && backoff.is_clear());
        for wait in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
            backoff.failed(500);
            assert!(!backoff.is_due(499 + wait) && backoff.is_due(500 + wait), "{wait}");
            assert_eq!(backoff.wait_ms(500), u64::try_from(wait).unwrap());
        }
        backoff.succeeded();
        assert!(backoff.is_due(0));
    }
}
