//! How much anybody may ask of one server process (`identity.md` 12): rates, failed credentials, open streams, and the
//! memory of arriving bodies.
//!
//! Start reading at [`Limits`], which has one question for each row of that table. In local mode only streams and bodies
//! are bounded. Nothing here is shared between servers or outlives the process.

mod address;
mod bounded;
mod buckets;
mod failures;
mod open;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;

use address::counted;
use buckets::{Buckets, Fill};
use failures::Failures;
use open::Streams;
pub use open::{Bodies, Share, Stream};

use crate::clock::SharedClock;
use crate::config::{Access, RequestLimits, Settings};
use crate::error::{Problem, RETRY_AFTER_S, Reason, Result};
use crate::identity::Caller;

/// Everything that is counted.
pub struct Limits {
    settings: RequestLimits,
    clock: SharedClock,
    /// None in local mode.
    rates: Option<Rates>,
    streams: Arc<Streams>,
    /// The memory for bodies.
    pub bodies: Bodies,
}

struct Rates {
    caller: Buckets,
    anonymous: Buckets,
    execute: Buckets,
    unknown_links: Buckets,
    read_links: Buckets,
    token: Buckets,
    registration: Buckets,
    document_fetch: Buckets,
    failures: Failures,
}

impl Rates {
    fn of(settings: &RequestLimits) -> Self {
        Self {
            caller: Buckets::new(settings.caller),
            anonymous: Buckets::new(settings.anonymous),
            execute: Buckets::new(settings.execute),
            // 30 a minute.
            unknown_links: Buckets::new(Fill::every_ms(2000, 30)),
            // 60 a minute.
            read_links: Buckets::new(Fill::every_ms(1000, 60)),
            // 2 a second.
            token: Buckets::new(Fill::every_ms(500, 60)),
            // 20 an hour.
            registration: Buckets::new(Fill::every_ms(180_000, 20)),
            // 5 a second.
            document_fetch: Buckets::new(Fill::every_ms(200, 5)),
            failures: Failures::new(),
        }
    }
}

/// 429 of the same words for every limit.
fn refused(seconds: u32) -> Problem {
    Problem::new(Reason::TooManyRequests, "There were too many requests lately. Send this one again later.")
        .retry_after(seconds)
}

/// A caller is told apart by its org and its id in it.
fn caller_key(caller: &Caller) -> (&str, &str) {
    (&caller.org, caller.id())
}

impl Limits {
    /// The limits that `settings` ask for, at the time of `clock`.
    pub fn of(settings: &Settings, clock: SharedClock) -> Self {
        let rates = (settings.access() != Access::Local).then(|| Rates::of(&settings.limits));
        let streams = Streams::new(settings.limits.streams);
        Self { settings: settings.limits.clone(), clock, rates, streams, bodies: Bodies::default() }
    }

    fn check(&self, check: impl FnOnce(&Rates, i64) -> Result<(), u32>) -> Result<()> {
        let Some(rates) = &self.rates else { return Ok(()) };
        check(rates, self.clock.now_ms()).map_err(refused)
    }

    /// The address a request of `peer` comes from, as far as trusted proxies tell it.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        address::client(peer, headers, &self.settings.trusted_proxies)
    }

    /// A request of a caller to `/v1` or MCP.
    ///
    /// # Errors
    /// 429, here as in all that follow.
    pub fn admit(&self, caller: &Caller) -> Result<()> {
        self.check(|rates, now| rates.caller.take(caller_key(caller), now))
    }

    /// A request without a good credential.
    pub fn anonymous(&self, address: IpAddr) -> Result<()> {
        self.check(|rates, now| rates.anonymous.take(counted(address), now))
    }

    /// Asked before a credential is looked up that is not known without: refused when too many from this address were no
    /// good lately, unless this one was good before.
    pub fn before_look_up(&self, address: IpAddr, credential: &str) -> Result<()> {
        self.check(|rates, now| rates.failures.may_look_up(counted(address), credential, now))
    }

    /// Counts a credential that was no good.
    pub fn failed(&self, address: IpAddr) {
        if let Some(rates) = &self.rates {
            rates.failures.failed(counted(address), self.clock.now_ms());
        }
    }

    /// Remembers a credential that a look-up found good, by a keyed hash, so that it passes from an address where others
    /// guess.
    pub fn good(&self, credential: &str) {
        if let Some(rates) = &self.rates {
            rates.failures.good(credential, self.clock.now_ms());
        }
    }

    /// A live call of a tool.
    pub fn execute(&self, caller: &Caller) -> Result<()> {
        self.check(|rates, now| rates.execute.take(caller_key(caller), now))
    }

    /// A stream of a caller, open until the value is dropped. Bounded in local mode too.
    pub fn stream(&self, caller: &Caller) -> Result<Stream> {
        self.streams.open(caller_key(caller)).ok_or_else(|| refused(RETRY_AFTER_S))
    }

    /// Asked before a link is looked up: refused when too many from this address were unknown lately.
    pub fn before_link(&self, address: IpAddr) -> Result<()> {
        self.check(|rates, now| rates.unknown_links.look(counted(address), now))
    }

    /// Counts a link that was unknown.
    pub fn unknown_link(&self, address: IpAddr) {
        // What is over the limit was refused before the look-up, but for those that came at once.
        let _ = self.check(|rates, now| rates.unknown_links.take(counted(address), now));
    }

    /// A reading of a link's page, by the digest of the session that reads.
    pub fn read_link(&self, session: &str) -> Result<()> {
        self.check(|rates, now| rates.read_links.take(session, now))
    }

    /// A request to the token endpoint, by a client as it names itself.
    pub fn token(&self, client: &str, address: IpAddr) -> Result<()> {
        self.check(|rates, now| rates.token.take((client, counted(address)), now))
    }

    /// A registration of a client.
    pub fn registration(&self, address: IpAddr) -> Result<()> {
        self.check(|rates, now| rates.registration.take(counted(address), now))
    }

    /// A fetch of a client's metadata document; all of this server count together.
    pub fn document_fetch(&self) -> Result<()> {
        self.check(|rates, now| rates.document_fetch.take((), now))
    }
}
