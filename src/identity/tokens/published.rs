//! The key set an issuer publishes, kept and renewed (`identity.md` 5.3).
//!
//! One fetch at a time, whoever asks for it; what a look-up does next is decided by [`State::plan`], which is pure.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use http::HeaderMap;
use http::header::CACHE_CONTROL;
use url::Url;

use super::backoff::Backoff;
use super::discovery::Discovery;
use super::fetch::{self, Fault};
use super::key_set::KeySet;
use super::refused::Failure;
use crate::clock::SharedClock;
use crate::config::Issuer;
use crate::egress;

/// How long a set is good without another look, in milliseconds, where the issuer does not say.
const FRESH_MS: i64 = 10 * 60_000;

/// The bounds of what the issuer may say, in milliseconds.
const FRESH_BOUNDS_MS: (i64, i64) = (60_000, 60 * 60_000);

/// How long a set is used when no other can be had, in milliseconds since it was fetched.
const STALE_MS: i64 = 24 * 3_600_000;

/// How long nobody asks again after an unknown key id, in milliseconds.
const COOL_DOWN_MS: i64 = 30_000;

/// How long one look-up waits; the fetch itself goes on.
const PATIENCE: Duration = Duration::from_secs(6);

/// A fetch that is going on.
type Flight = Shared<BoxFuture<'static, ()>>;

/// The key set of an issuer outside.
pub struct Published {
    issuer: String,
    jwks_url: Option<Url>,
    discovery: Discovery,
    egress: egress::Client,
    clock: SharedClock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Option<Kept>,
    backoff: Backoff,
    flight: Option<Flight>,
    /// The key id the flight was begun for.
    wanted: Option<String>,
    /// Until then an unknown key id is unknown.
    cool_until_ms: i64,
}

struct Kept {
    set: Arc<KeySet>,
    fetched_ms: i64,
    fresh_ms: i64,
}

/// What a look-up does next.
enum Plan {
    Take(Arc<KeySet>),
    /// Takes it while another is fetched for those who come later.
    TakeAndRenew(Arc<KeySet>),
    /// Waits for the fetch that is going on, or begins one.
    Wait,
    GiveUp,
}

impl Published {
    /// The key set of the issuer that `identity` names; nothing is fetched before it is needed.
    pub fn new(identity: &Issuer, egress: egress::Client, clock: SharedClock) -> Arc<Self> {
        Self::of(&identity.issuer, identity.jwks_url.clone(), egress, clock)
    }

    /// The key set of the issuer called `issuer`, at `jwks_url` or where the issuer says.
    pub fn of(issuer: &str, jwks_url: Option<Url>, egress: egress::Client, clock: SharedClock) -> Arc<Self> {
        Arc::new(Self {
            issuer: issuer.to_owned(),
            jwks_url,
            discovery: Discovery::new(issuer, egress.clone(), clock.clone()),
            egress,
            clock,
            state: Mutex::default(),
        })
    }

    /// What the issuer says of itself.
    pub const fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// Fetches the set once at the start and, until that went well, again and again in growing intervals. The log tells
    /// of each failure. Ends with `stop`, a future that ends when the server stops.
    pub async fn warm(self: Arc<Self>, stop: impl Future<Output = ()>) {
        let tries = async {
            while self.for_key(None).await.is_err() {
                let wait_ms = self.state().backoff.wait_ms(self.clock.now_ms());
                tokio::time::sleep(Duration::from_millis(wait_ms.max(1_000))).await;
            }
        };
        tokio::select! { () = tries => {}, () = stop => {} }
    }

    /// The key set to check a token with that names this key. A key the set does not know is asked for once; then the
    /// set is answered without it.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where no set of age can be had.
    pub(super) async fn for_key(self: &Arc<Self>, key_id: Option<&str>) -> Result<Arc<KeySet>, Failure> {
        let mut waited = false;
        loop {
            let flight = {
                let mut state = self.state();
                match state.plan(self.clock.now_ms(), key_id, waited) {
                    Plan::Take(set) => return Ok(set),
                    Plan::TakeAndRenew(set) => {
                        drop(self.launch(&mut state, None));
                        return Ok(set);
                    }
                    Plan::GiveUp => return Err(Failure::Unavailable),
                    Plan::Wait => self.launch(&mut state, key_id),
                }
            };
            // Who waited too long takes what there is.
            let _ = tokio::time::timeout(PATIENCE, flight).await;
            waited = true;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fetch that is going on, or a new one. It is a task of its own, so that it ends even if nobody waits for it.
    fn launch(self: &Arc<Self>, state: &mut State, wanted: Option<&str>) -> Flight {
        if let Some(flight) = &state.flight {
            return flight.clone();
        }
        let (keys, after) = (Arc::clone(self), Arc::clone(self));
        let task = tokio::spawn(async move { keys.renew().await });
        let flight = async move {
            if task.await.is_err() {
                after.state().flight = None;
            }
        };
        let flight = flight.boxed().shared();
        state.flight = Some(flight.clone());
        state.wanted = wanted.map(str::to_owned);
        flight
    }

    async fn renew(&self) {
        let fetched = self.fetch().await;
        let now_ms = self.clock.now_ms();
        let mut state = self.state();
        state.flight = None;
        let wanted = state.wanted.take();
        match fetched {
            Ok((set, fresh_ms)) => {
                let before = state.kept.as_ref().map(|kept| kept.set.left_out());
                if !set.left_out().is_empty() && before != Some(set.left_out()) {
                    let reasons = set.left_out().join("; ");
                    tracing::warn!(issuer = self.issuer, reasons, "keys of the issuer are left out");
                }
                // Said here, and not only by those who wait, since others may ask before these wake up.
                if wanted.is_some_and(|id| !set.knows(&id)) {
                    state.cool_until_ms = now_ms + COOL_DOWN_MS;
                }
                state.backoff.succeeded();
                state.kept = Some(Kept { set: Arc::new(set), fetched_ms: now_ms, fresh_ms });
            }
            Err(fault) => {
                state.backoff.failed(now_ms);
                // What fails when it is called for is told where it failed.
                if !matches!(fault, Fault::Waiting) {
                    tracing::warn!(issuer = self.issuer, cause = %fault, "the issuer's keys cannot be had");
                }
            }
        }
    }

    async fn fetch(&self) -> Result<(KeySet, i64), Fault> {
        let address = match &self.jwks_url {
            Some(address) => address.clone(),
            None => self.discovery.ask().await?.jwks_uri.clone(),
        };
        let read = fetch::json(&self.egress, &address).await.and_then(|fetched| {
            let set = KeySet::read(&fetched.document).ok_or(Fault::Content("The answer is no key set."))?;
            Ok((set, fresh_ms(&fetched.headers)))
        });
        if read.is_err() {
            self.discovery.forget();
        }
        read
    }

    /// Waits for the fetch that is going on, if any.
    #[cfg(test)]
    pub(super) async fn settled(&self) {
        let flight = self.state().flight.clone();
        if let Some(flight) = flight {
            flight.await;
        }
    }
}

impl State {
    /// What a look-up of `key_id` does, which may already have `waited` for a fetch.
    fn plan(&mut self, now_ms: i64, key_id: Option<&str>, waited: bool) -> Plan {
        let renewable = self.flight.is_some() || self.backoff.is_due(now_ms);
        let kept = self.kept.as_ref().filter(|kept| now_ms < kept.fetched_ms + STALE_MS);
        let Some(kept) = kept else {
            return if renewable && !waited { Plan::Wait } else { Plan::GiveUp };
        };
        let set = Arc::clone(&kept.set);
        let age_ms = now_ms - kept.fetched_ms;
        let is_known = key_id.is_none_or(|id| set.knows(id));
        if waited {
            if !is_known {
                self.cool_until_ms = now_ms + COOL_DOWN_MS;
            }
            return Plan::Take(set);
        }
        // An old set is only taken where the issuer failed before: a key it took out must not live on.
        if age_ms >= kept.fresh_ms && renewable && self.backoff.is_clear() {
            return Plan::Wait;
        }
        if !is_known && (self.flight.is_some() || now_ms >= self.cool_until_ms) {
            self.cool_until_ms = now_ms + COOL_DOWN_MS;
            return Plan::Wait;
        }
        // Renewed a little early, so that under traffic nobody waits.
        let ageing = age_ms >= kept.fresh_ms / 5 * 4;
        if ageing && renewable { Plan::TakeAndRenew(set) } else { Plan::Take(set) }
    }
}

/// `max-age` (RFC 9111, section 5.2.2.1) within bounds, in milliseconds.
fn fresh_ms(headers: &HeaderMap) -> i64 {
    let directives = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let seconds = directives.flat_map(|value| value.split(',')).find_map(|directive| {
        let (name, value) = directive.trim().split_once('=')?;
        let value = value.trim_matches('"');
        name.eq_ignore_ascii_case("max-age").then(|| value.parse::<i64>().ok()).flatten()
    });
    let (least, most) = FRESH_BOUNDS_MS;
    seconds.map_or(FRESH_MS, |seconds| seconds.saturating_mul(1_000).clamp(least, most))
}
