//! When a request is sent again because of how the transport failed (`tool-servers.md` 2.4), and how long it waits.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

use super::Shared;
use super::post::{Outgoing, Posted};
use super::session::Agreed;
use crate::egress::Failure;
use crate::tool_servers::upstream::ask::Progress;
use crate::tool_servers::upstream::trouble::{Because, Trouble};

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

#[derive(Default)]
struct Tries {
    connected: bool,
    broken: bool,
    gateway: bool,
    limited: usize,
    waited: Duration,
}

impl Shared {
    /// Sends a request until it is answered, or until nothing speaks for sending it again.
    pub(super) async fn exchange(
        &self,
        outgoing: &Outgoing,
        agreed: Option<&Agreed>,
        repeat: Repeat,
        progress: Option<(&Progress, u64)>,
    ) -> Result<Posted, Trouble> {
        let mut tries = Tries::default();
        loop {
            if let Some((progress, id)) = progress {
                progress.sending(id);
            }
            let posted = match self.post(outgoing, agreed).await {
                Ok(posted) => posted,
                Err(failure) => {
                    if let Some((progress, _)) = progress.filter(|_| failure.before_sending()) {
                        progress.not_sent();
                    }
                    if tries.after(failure, repeat) {
                        continue;
                    }
                    return Err(failure.into());
                }
            };
            let wait = match posted.status {
                StatusCode::UNAUTHORIZED => {
                    // Refused before it was looked at: the call certainly had no effect.
                    if let Some((progress, _)) = progress {
                        progress.not_sent();
                    }
                    return Err(Trouble::new(Because::KeyRefused, "The server refuses the credential."));
                }
                StatusCode::TOO_MANY_REQUESTS => {
                    let asked = self.retry_after(&posted.headers);
                    let Some(wait) = tries.after_limit(asked) else {
                        let because = Because::RateLimited { retry_after: asked };
                        return Err(Trouble::new(because, "The server asks to be called less often.").after_sending());
                    };
                    wait
                }
                StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                    match tries.after_gateway(self.retry_after(&posted.headers), repeat) {
                        Some(wait) => wait,
                        None => return Ok(posted),
                    }
                }
                _ => return Ok(posted),
            };
            (self.surroundings.sleep)(wait).await;
        }
    }

    /// How long the server asks to wait (RFC 9110, section 10.2.3): seconds or a date.
    fn retry_after(&self, headers: &HeaderMap) -> Option<Duration> {
        let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let date = jiff::fmt::rfc2822::parse(text).ok()?;
        let ms = date.timestamp().as_millisecond() - self.surroundings.clock.now_ms();
        Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
    }
}

impl Tries {
    /// Whether to send again at once after a failure.
    fn after(&mut self, failure: Failure, repeat: Repeat) -> bool {
        match failure {
            Failure::Connect | Failure::Resolve => !std::mem::replace(&mut self.connected, true),
            Failure::Broken if repeat != Repeat::Never => !std::mem::replace(&mut self.broken, true),
            _ => false,
        }
    }

    /// How long to wait after a 429; `None` to give up.
    fn after_limit(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let wait = match asked {
            // At least a second, so that a server asking for none is not asked without end.
            Some(asked) => asked.max(Duration::from_secs(1)),
            None => Duration::from_secs(*WAITS_S.get(self.limited)?),
        };
        self.limited += 1;
        self.waited = self.waited.saturating_add(wait);
        (self.waited <= PATIENCE).then_some(wait)
    }

    /// How long to wait after a gateway's failure; `None` to give up.
    fn after_gateway(&mut self, asked: Option<Duration>, repeat: Repeat) -> Option<Duration> {
        let wait = asked.unwrap_or_default();
        self.waited = self.waited.saturating_add(wait);
        let again = repeat == Repeat::ReadOnly && !std::mem::replace(&mut self.gateway, true);
        (again && self.waited <= PATIENCE).then_some(wait)
    }
}
