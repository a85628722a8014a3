//! Rows that every request asks for, kept for [`AGE_MS`]: what changes elsewhere counts here within that time
//! (`identity.md` 13), what changes here counts at once, since its writer forgets it.

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use moka::sync::Cache;

use crate::error::Result;

/// How old a row that decides a request may be, in milliseconds.
pub const AGE_MS: i64 = 5_000;
/// The most rows kept of a kind.
const MOST: u64 = 50_000;

/// Recent readings by their key; what was not found is kept too.
pub(super) struct Recent<K, V> {
    readings: Cache<K, (i64, Option<V>)>,
    /// How often something was forgotten: a reading that began before is not kept.
    forgotten: AtomicU64,
}

impl<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static> Recent<K, V> {
    pub(super) fn new() -> Self {
        Self { readings: Cache::new(MOST), forgotten: AtomicU64::new(0) }
    }

    /// The reading of `key`, read anew when it is too old.
    pub(super) async fn get(
        &self,
        key: K,
        now_ms: i64,
        read: impl Future<Output = Result<Option<V>>>,
    ) -> Result<Option<V>> {
        // A clock that was set back makes a reading old too.
        if let Some((_, found)) = self.readings.get(&key).filter(|(at, _)| (0..AGE_MS).contains(&(now_ms - at))) {
            return Ok(found);
        }
        let before = self.forgotten.load(Ordering::Acquire);
        let found = read.await?;
        if self.forgotten.load(Ordering::Acquire) == before {
            self.readings.insert(key, (now_ms, found.clone()));
        }
        Ok(found)
    }

    /// Forgets one, because it changed.
    pub(super) fn forget(&self, key: &K) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.readings.invalidate(key);
    }
}
