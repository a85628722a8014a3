//! How fast one connection may be called, where its provider's file says so (`connections.md` 6.2).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::upstream::{Because, Trouble};
use crate::connections::catalogue::Limits;

const MINUTE_MS: i64 = 60_000;
/// How long a call waits for another to end.
const WAIT: Duration = Duration::from_secs(10);

/// The pace of one connection; without limits every call goes at once.
#[derive(Default)]
pub(super) struct Pace {
    per_minute: Option<usize>,
    concurrent: Option<Arc<Semaphore>>,
    /// When calls of the last minute began.
    lately: Mutex<VecDeque<i64>>,
}

impl Pace {
    pub(super) fn of(limits: Option<Limits>) -> Self {
        let count = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
        let concurrent = limits.and_then(|limits| limits.concurrent);
        Self {
            per_minute: limits.and_then(|limits| limits.calls_per_minute).map(count),
            concurrent: concurrent.map(|limit| Arc::new(Semaphore::new(count(limit).min(Semaphore::MAX_PERMITS)))),
            lately: Mutex::default(),
        }
    }

    /// Lets one call begin; what it answers is held until the call ends.
    pub(super) async fn admit(&self, now_ms: i64) -> Result<Option<OwnedSemaphorePermit>, Trouble> {
        let held = match &self.concurrent {
            None => None,
            Some(places) => {
                let place = timeout(WAIT, places.clone().acquire_owned()).await;
                Some(place.ok().and_then(Result::ok).ok_or_else(|| limited(None))?)
            }
        };
        if let Some(most) = self.per_minute {
            let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
            while lately.front().is_some_and(|began| now_ms - began >= MINUTE_MS) {
                lately.pop_front();
            }
            if lately.len() >= most {
                let rest = lately.front().map_or(MINUTE_MS, |began| began + MINUTE_MS - now_ms);
                return Err(limited(u64::try_from(rest).ok().map(Duration::from_millis)));
            }
            lately.push_back(now_ms);
        }
        Ok(held)
    }
}

fn limited(retry_after: Option<Duration>) -> Trouble {
    Trouble::new(Because::RateLimited { retry_after }, "The connection is called as often as its service allows.")
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn calls_over_the_minutes_count_are_refused_until_it_passed() {
        let pace = Pace::of(Some(Limits { calls_per_minute: Some(2), concurrent: None }));
        assert!(pace.admit(0).await.is_ok() && pace.admit(10_000).await.is_ok());
        let refused = pace.admit(20_000).await.unwrap_err();
        assert_eq!(refused.because, Because::RateLimited { retry_after: Some(Duration::from_secs(40)) });
        assert!(pace.admit(60_000).await.is_ok());
        assert!(pace.admit(60_000).await.is_err());
    }

    #[tokio::test]
    async fn calls_over_the_concurrent_count_wait() {
        let pace = Pace::of(Some(Limits { calls_per_minute: None, concurrent: Some(1) }));
        let held = pace.admit(0).await.unwrap();
        assert!(pace.admit(0).now_or_never().is_none());
        drop(held);
        assert!(pace.admit(0).now_or_never().is_some());
    }
}
