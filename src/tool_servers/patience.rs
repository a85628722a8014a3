//! When a request is sent again because of how its transport failed (`tool-servers.md` 2.4), and how long it waits first.

use std::mem::replace;
use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::clock::Clock;
use crate::egress::Failure;

/// The most all waits of one request may take together.
const PATIENCE: Duration = Duration::from_secs(10);
/// The waits where the server names none.
const WAITS_S: [u64; 3] = [1, 2, 4];

/// Whether a request that may have had its effect may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It changes nothing.
    ReadOnly,
    /// It changes nothing more the second time.
    Harmless,
    /// It may change something each time.
    Never,
}

impl Repeat {
    /// Of a request that only reads, or that does no harm a second time.
    pub(super) const fn of(read_only: bool, harmless: bool) -> Self {
        match (read_only, harmless) {
            (true, _) => Self::ReadOnly,
            (false, true) => Self::Harmless,
            (false, false) => Self::Never,
        }
    }
}

/// What was tried already for one request.
#[derive(Default)]
pub(super) struct Tries {
    connected: bool,
    broken: bool,
    gateway: bool,
    limited: usize,
    waited: Duration,
}

impl Tries {
    /// Whether to send again at once after a failure.
    pub(super) fn after(&mut self, failure: Failure, repeat: Repeat) -> bool {
        match failure {
            Failure::Connect | Failure::Resolve => !replace(&mut self.connected, true),
            Failure::Broken if repeat != Repeat::Never => !replace(&mut self.broken, true),
            _ => false,
        }
    }

    /// How long to wait after a 429; `None` to give up.
    pub(super) fn after_limit(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let wait = match asked {
            // At least a second, so that a server asking for none is not asked without end.
            Some(asked) => asked.max(Duration::from_secs(1)),
            None => Duration::from_secs(*WAITS_S.get(self.limited)?),
        };
        self.limited += 1;
        self.has_patience_for(wait).then_some(wait)
    }

    /// How long to wait after a gateway's failure; `None` to give up.
    pub(super) fn after_gateway(&mut self, asked: Option<Duration>, repeat: Repeat) -> Option<Duration> {
        let wait = asked.unwrap_or_default();
        let again = repeat == Repeat::ReadOnly && !replace(&mut self.gateway, true);
        (self.has_patience_for(wait) && again).then_some(wait)
    }

    /// A server may name any time at all, so that the sum must not overflow.
    fn has_patience_for(&mut self, wait: Duration) -> bool {
        self.waited = self.waited.saturating_add(wait);
        self.waited <= PATIENCE
    }
}

/// How long a server asks to wait (RFC 9110, section 10.2.3): seconds or a date.
pub(super) fn retry_after(clock: &dyn Clock, headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    let ms = date.timestamp().as_millisecond().saturating_sub(clock.now_ms());
    Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_wait_is_given_up_however_often_it_is_asked_for() {
        let mut tries = Tries::default();
        for _ in 0..3 {
            assert_eq!(tries.after_limit(Some(Duration::from_secs(u64::MAX))), None);
            assert_eq!(tries.after_gateway(Some(Duration::MAX), Repeat::ReadOnly), None);
        }
    }

    #[test]
    fn waits_grow_while_the_server_names_none() {
        let mut tries = Tries::default();
        let waits: Vec<_> = (0..4).map(|_| tries.after_limit(None).map(|wait| wait.as_secs())).collect();
        assert_eq!(waits, [Some(1), Some(2), Some(4), None]);
    }

    #[test]
    fn a_gateway_is_asked_once_more_by_what_only_reads() {
        let mut tries = Tries::default();
        assert_eq!(tries.after_gateway(None, Repeat::Harmless), None);
        assert_eq!(tries.after_gateway(None, Repeat::ReadOnly), Some(Duration::ZERO));
        assert_eq!(tries.after_gateway(None, Repeat::ReadOnly), None);
    }

    #[test]
    fn a_time_asked_for_is_seconds_or_a_date() {
        let clock = crate::clock::ManualClock::at(1_790_847_000_000);
        let asked = |text: &str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            retry_after(&clock, &headers).map(|wait| wait.as_secs())
        };
        assert_eq!(asked("18446744073709551615"), Some(u64::MAX));
        assert_eq!(asked("Thu, 01 Oct 2026 09:30:07 GMT"), Some(7));
        assert_eq!(asked("Thu, 01 Oct 2026 09:29:00 GMT"), Some(0));
        assert_eq!(asked("soon"), None);
    }
}
