//! Takes a token of one issuer: looks its key up, judges it, and remembers what was good.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use moka::sync::Cache;

use super::check::{self, Verified};
use super::claims::Claims;
use super::key_set::KeySet;
use super::published::Published;
use super::refused::{Cause, Failure, Refused};
use super::rules::Rules;
use super::unverified::{MAX_TOKEN, Unverified};
use crate::clock::SharedClock;
use crate::digest::sha256;

/// The most bytes of tokens whose claims are remembered, about ten thousand of the usual size.
const REMEMBERED_BYTES: u64 = 16 << 20;

/// How long a token that nobody sends is remembered.
const IDLE: Duration = Duration::from_mins(15);

/// Where the keys of an issuer come from.
#[derive(Clone)]
pub enum Keys {
    /// This server's own, as its database has them.
    Own(OwnKeys),
    /// Those an issuer outside publishes.
    Published(Arc<Published>),
}

/// The public keys of this server's own tokens; whoever reads the database puts each new set in.
#[derive(Clone, Default)]
pub struct OwnKeys(Arc<RwLock<Arc<KeySet>>>);

impl OwnKeys {
    /// Replaces the set; a key that is no longer in it stops working at once.
    pub fn replace(&self, set: KeySet) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(set);
    }

    fn current(&self) -> Arc<KeySet> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Keys {
    async fn for_key(&self, key_id: Option<&str>) -> Result<Arc<KeySet>, Failure> {
        match self {
            Self::Own(own) => Ok(own.current()),
            Self::Published(published) => published.for_key(key_id).await,
        }
    }
}

/// Checks the access tokens of one issuer.
pub struct Checker {
    rules: Rules,
    keys: Keys,
    clock: SharedClock,
    /// Good tokens by the SHA-256 of their text; bad ones are never kept, so that nobody can push good ones out.
    good: Cache<[u8; 32], Arc<Verified>>,
}

impl Checker {
    /// Of the issuer whose `rules` and `keys` these are.
    pub fn new(rules: Rules, keys: Keys, clock: SharedClock) -> Self {
        let weight = |_: &[u8; 32], verified: &Arc<Verified>| verified.weight;
        let good = Cache::builder().max_capacity(REMEMBERED_BYTES).weigher(weight).time_to_idle(IDLE).build();
        Self { rules, keys, clock, good }
    }

    /// The keys of an issuer outside, to be fetched before the first token comes.
    pub fn published(&self) -> Option<Arc<Published>> {
        match &self.keys {
            Keys::Own(_) => None,
            Keys::Published(published) => Some(Arc::clone(published)),
        }
    }

    /// The claims of a token that is good here. Whether it reaches an endpoint, and who the person is, is still open.
    ///
    /// # Errors
    ///
    /// [`Failure::Refused`], alike for every cause, told to the log alone; [`Failure::Unavailable`] while the issuer's keys
    /// cannot be had.
    pub async fn check(&self, text: &str) -> Result<Arc<Claims>, Failure> {
        let checked = self.check_quietly(text).await;
        match checked {
            Err(Failure::Refused(refused)) => tracing::info!(cause = refused.cause(), "an access token is refused"),
            Err(Failure::Unavailable) => tracing::warn!("an access token cannot be checked without the issuer's keys"),
            Ok(_) => {}
        }
        checked
    }

    async fn check_quietly(&self, text: &str) -> Result<Arc<Claims>, Failure> {
        if text.len() > MAX_TOKEN {
            return Err(Refused(Cause::TooLong).into());
        }
        let digest = sha256(text);
        if let Some(known) = self.good.get(&digest) {
            let keys = self.keys.for_key(None).await?;
            if keys.holds(&known.key) && self.clock.now_ms() < known.good_until_ms {
                return Ok(Arc::clone(&known.claims));
            }
            self.good.invalidate(&digest);
        }
        let token = Unverified::read(text, &self.rules)?;
        let keys = self.keys.for_key(token.key_id.as_deref()).await?;
        let verified = check::verify(&token, &keys, &self.rules, self.clock.now_ms())?;
        let claims = Arc::clone(&verified.claims);
        self.good.insert(digest, Arc::new(verified));
        Ok(claims)
    }
}
