//! What is open at one time: MCP streams of a caller, and the memory that arriving bodies take.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{Problem, Result};

/// The memory for bodies that are arriving and are larger than [`Bodies::SMALL`], in KiB.
const FOR_BODIES_KIB: usize = 64 * 1024;
/// How long a body waits for its share of it.
const SHARE_WITHIN: Duration = Duration::from_secs(5);

/// The open streams of all callers.
#[derive(Debug)]
pub(super) struct Streams {
    most: u32,
    hasher: RandomState,
    open: Mutex<HashMap<u64, u32>>,
}

/// An open stream; dropped when it ends.
#[derive(Debug)]
pub struct Stream {
    streams: Arc<Streams>,
    key: u64,
}

impl Streams {
    pub(super) fn new(most: u32) -> Arc<Self> {
        Arc::new(Self { most, hasher: RandomState::new(), open: Mutex::default() })
    }

    /// Opens one more; `None` when as many are open as may be.
    pub(super) fn open(self: &Arc<Self>, key: impl Hash) -> Option<Stream> {
        let key = self.hasher.hash_one(key);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(key).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Stream { streams: self.clone(), key })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.key);
            }
        }
    }
}

/// The memory that arriving bodies may take together, however many connections bring them.
#[derive(Debug)]
pub struct Bodies {
    free: Semaphore,
    within: Duration,
}

/// A body's share of it, given back when the body has arrived.
#[derive(Debug)]
pub struct Share<'a>(#[expect(dead_code, reason = "held, and given back when dropped")] SemaphorePermit<'a>);

impl Default for Bodies {
    fn default() -> Self {
        Self::of(FOR_BODIES_KIB, SHARE_WITHIN)
    }
}

impl Bodies {
    /// So many KiB in all, and so long a wait for a share.
    pub(super) fn of(kib: usize, within: Duration) -> Self {
        Self { free: Semaphore::new(kib), within }
    }

    /// The most bytes a body may take without a share.
    pub const SMALL: usize = 32 * 1024;

    /// Waits for the share of a body of `bytes`, all of it: no body then waits for more with some of it in hand, which
    /// could keep every other from its end.
    ///
    /// # Errors
    /// 503 when there is none within a few seconds.
    pub async fn share(&self, bytes: usize) -> Result<Share<'_>> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        match tokio::time::timeout(self.within, self.free.acquire_many(kib)).await {
            Ok(Ok(permit)) => Ok(Share(permit)),
            _ => Err(Problem::unavailable("Too many large bodies arrive just now.")),
        }
    }
}
