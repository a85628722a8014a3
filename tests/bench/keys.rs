//! How long the check of a caller takes, with ten keys in its org and with ten thousand.
//!
//! In the process itself: over a network the check is lost in the rest of a request.

use std::io::{Error, Result};
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::try_join_all;
use playmaker::clock::ManualClock;
use playmaker::config::{Permission, Playbooks, Secret};
use playmaker::error::Problem;
use playmaker::identity::Identity;
use playmaker::identity::keys::{Draft, Made, Manager};
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::Ledger;
use playmaker::store::Store;

/// Checks of each kind.
const CHECKS: usize = 2_000;
/// Keys made at once; an org has no more than 200 that work.
const AT_ONCE: usize = 100;
/// Older than any row that is still believed, in milliseconds.
const TOO_OLD_MS: i64 = 5_000;

/// The median of checks, in microseconds.
pub struct Checked {
    /// The database.
    pub name: &'static str,
    /// Keys of the org.
    pub keys: usize,
    /// With the row read a moment ago.
    pub recent_us: f64,
    /// With the row read from the database.
    pub read_us: f64,
}

/// Measures on the database at `url`, in orgs of their own.
pub async fn checks(name: &'static str, url: &str) -> Result<Vec<Checked>> {
    let store = Store::open(url).await.map_err(Error::other)?;
    let clock = Arc::new(ManualClock::at(1_790_847_000_000));
    let ids = Ids::new(Arc::new(SystemEntropy));
    let ledger = Ledger::new(store.clone(), clock.clone(), ids.clone());
    let identity = Identity::new(ledger, clock.clone(), ids.clone(), None, &[]);
    let mut found = Vec::new();
    for (org, keys) in [("few", 10), ("many", 10_000)] {
        let texts = filled(&identity, org, keys).await.map_err(Error::other)?;
        let mut read = Vec::with_capacity(CHECKS);
        let mut recent = Vec::with_capacity(CHECKS);
        for round in 0..CHECKS {
            clock.advance_ms(TOO_OLD_MS);
            for times in [&mut read, &mut recent] {
                let text = &texts[round % texts.len()];
                let began = Instant::now();
                let caller = identity.stored_key_caller(text.expose()).await.map_err(Error::other)?;
                times.push(began.elapsed().as_secs_f64() * 1e6);
                caller.ok_or_else(|| Error::other("a key is not known"))?;
            }
        }
        found.push(Checked { name, keys, recent_us: crate::middle(recent), read_us: crate::middle(read) });
    }
    store.close().await;
    Ok(found)
}

/// Fills an org with keys, of which the last ten work; their texts.
async fn filled(identity: &Identity, org: &str, keys: usize) -> std::result::Result<Vec<Secret>, Problem> {
    const WORKING: usize = 10;
    let mut made: Vec<Made> = Vec::new();
    let mut number = 0;
    while number < keys - WORKING {
        let group: Vec<usize> = (number..(number + AT_ONCE).min(keys - WORKING)).collect();
        number += group.len();
        let ended = group.into_iter().map(|number| async move {
            let made = identity.create_key(org, draft(number), Manager::operator()).await?;
            identity.revoke_key(org, &made.key.id, Manager::operator()).await
        });
        try_join_all(ended).await?;
    }
    for number in keys - WORKING..keys {
        made.push(identity.create_key(org, draft(number), Manager::operator()).await?);
    }
    Ok(made.into_iter().map(|made| made.text).collect())
}

fn draft(number: usize) -> Draft {
    Draft {
        name: format!("key-{number}"),
        permissions: vec![Permission::OrgRead],
        playbooks: Playbooks::All,
        person: None,
        expires_at_ms: None,
        usage_limit: None,
    }
}
