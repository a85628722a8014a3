//! When keys were last used: noted in memory, so that no request writes, and written once a minute and at a clean stop.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Key;
use crate::error::Result;
use crate::identity::Identity;
use crate::on_connection;

const UPDATE: &str = "UPDATE api_keys SET last_used_at = $3 WHERE org = $1 AND id = $2 AND \
     (last_used_at IS NULL OR last_used_at < $3)";

/// Uses not written yet: by key, its org and the last one in milliseconds since the epoch.
#[derive(Default)]
pub struct Used(Mutex<HashMap<String, (String, i64)>>);

impl Used {
    /// A key is used now.
    pub fn note(&self, key: &Key, now_ms: i64) {
        let mut noted = self.lock();
        match noted.get_mut(&key.id) {
            Some((_, at)) => *at = now_ms.max(*at),
            None => {
                noted.insert(key.id.clone(), (key.org.clone(), now_ms));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (String, i64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> HashMap<String, Vec<(String, i64)>> {
        let mut orgs: HashMap<String, Vec<(String, i64)>> = HashMap::new();
        for (id, (org, at)) in std::mem::take(&mut *self.lock()) {
            orgs.entry(org).or_default().push((id, at));
        }
        orgs
    }
}

impl Identity {
    /// Writes when keys were last used. What the database does not take is lost: it tells people something, and decides
    /// nothing.
    pub async fn write_key_uses(&self) -> Result<()> {
        for (org, used) in self.used_keys.take() {
            let name = org.clone();
            let write: crate::store::Work<()> = Box::new(move |connection| {
                Box::pin(async move {
                    for (id, at) in used {
                        on_connection!(connection, c => sqlx::query(UPDATE)
                            .bind(&name).bind(id).bind(at).execute(c).await.map(|_| ()))?;
                    }
                    Ok(())
                })
            });
            self.ledger.store().housekeeping(&org, "when a key was used changes nothing", write).await?;
        }
        Ok(())
    }
}
