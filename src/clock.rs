//! Time as a value: everything that needs the present asks a [`Clock`], so that a test can hold it still.
//!
//! Instants are `i64` milliseconds since 1970-01-01T00:00:00Z, in memory and in the database alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Tells the present in milliseconds since the Unix epoch.
pub trait Clock: Send + Sync + 'static {
    /// The present instant, in milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> i64;
}

/// A clock shared by everything in one server.
pub type SharedClock = Arc<dyn Clock>;

/// The clock of the machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

/// A clock that stands still until it is moved; for tests.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock standing at `now_ms`.
    pub fn at(now_ms: i64) -> Self {
        Self(AtomicI64::new(now_ms))
    }

    /// Moves the clock forward by `ms` milliseconds.
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// An instant as ISO 8601 in UTC with milliseconds, such as `2026-10-01T09:30:00.000Z`.
pub fn iso(ms: i64) -> String {
    let instant = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{instant:.3}")
}

/// Reads an ISO 8601 instant that names its offset; `None` when it is not one.
pub fn parse_iso(text: &str) -> Option<i64> {
    // RFC 3339 has no hour 24; a leap second is not an instant of this clock.
    let hour = text.get(11..13)?;
    if hour == "24" {
        return None;
    }
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::{iso, parse_iso};

    #[test]
    fn instants_are_written_in_utc_with_milliseconds() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_790_847_000_123), "2026-10-01T09:30:00.123Z");
    }

    #[test]
    fn an_instant_without_offset_or_with_hour_24_is_not_read() {
        assert_eq!(parse_iso("2026-10-01T09:30:00+02:00"), Some(1_790_839_800_000));
        assert_eq!(parse_iso("2026-10-01T09:30:00"), None);
        assert_eq!(parse_iso("2026-10-01T24:00:00Z"), None);
    }
}
