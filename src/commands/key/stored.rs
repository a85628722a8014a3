//! `playmaker key list` and `key revoke`: the keys of the database, while servers run or not.

use std::sync::Arc;

use clap::Args;

use playmaker::clock::{self, SystemClock};
use playmaker::config::{self, Settings};
use playmaker::identity::Identity;
use playmaker::identity::keys::Manager;
use playmaker::identity::resource::words;
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::Ledger;
use playmaker::store::Store;

use crate::commands::{Outcome, one_line, runtime, say, settings};

/// Keys read at a time.
const READ: i64 = 100;

#[derive(Args)]
pub(in crate::commands) struct List {
    /// The org whose keys they are.
    #[arg(long)]
    org: String,
}

#[derive(Args)]
pub(in crate::commands) struct Revoke {
    /// The org whose key it is.
    #[arg(long)]
    org: String,
    /// The key's id, as list shows it.
    id: String,
}

/// Lists keys, newest first: id, name, first characters, status, end, and what it may do.
pub(super) fn list(asked: &List) -> Outcome {
    with_identity(async |identity, _| {
        let mut before = None;
        loop {
            let keys = identity.keys_after(&asked.org, None, before, READ).await.map_err(one_line)?;
            let now = identity.now_ms();
            for key in &keys {
                let end = key.expires_at_ms.map_or_else(|| "never".to_owned(), clock::iso);
                let (status, may) = (key.status(now).word(), words(&key.permissions).join(","));
                say(&format!("{}\t{}\t{}\t{status}\t{end}\t{may}", key.id, key.name, key.display))?;
            }
            match keys.last() {
                Some(last) if keys.len() as i64 == READ => before = Some((last.created_at_ms, last.id.clone())),
                _ => return Ok(()),
            }
        }
    })
}

/// Ends a key.
pub(super) fn revoke(asked: &Revoke) -> Outcome {
    with_identity(async |identity, _| {
        let revoked = identity.revoke_key(&asked.org, &asked.id, Manager::operator()).await;
        let key = revoked.map_err(|problem| one_line(problem.detail()))?;
        say(&format!("{} ({}) is revoked", key.id, key.name))
    })
}

/// Does `work` over the database of the settings, beside whatever servers run.
pub(super) fn with_identity(work: impl AsyncFnOnce(&Identity, &Settings) -> Outcome) -> Outcome {
    let settings = settings(&config::environment())?;
    runtime()?.block_on(async {
        let store = Store::open(settings.database.url.expose()).await.map_err(one_line)?;
        let (clock, ids) = (Arc::new(SystemClock), Ids::new(Arc::new(SystemEntropy)));
        let ledger = Ledger::new(store.clone(), clock.clone(), ids.clone());
        let identity = Identity::new(ledger, clock, ids, None, settings.api_keys.as_deref().unwrap_or_default());
        let outcome = work(&identity, &settings).await;
        store.close().await;
        outcome
    })
}
