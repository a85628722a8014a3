//! `playmaker secrets rekey`: moves every sealed record to the first key, while servers run (decision D6).

use std::sync::Arc;

use clap::{Args, Subcommand};

use serde_json::json;

use playmaker::clock::SystemClock;
use playmaker::config;
use playmaker::error::Problem;
use playmaker::identity::sign_in::SERVER;
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::{Actor, Changed, Event, Ledger};
use playmaker::secrets::{Rekeyed, SecretsStore};
use playmaker::store::Store;

use super::{Outcome, one_line, runtime, say, settings};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Moves every sealed record to the first key of SECRETS_KEYS. Servers may run meanwhile; doing it again is the same.
    Rekey(Rekey),
}

#[derive(Args)]
pub(super) struct Rekey {
    /// Only counts.
    #[arg(long)]
    dry_run: bool,
}

/// Runs a command about secrets.
pub(super) fn run(command: Command) -> Outcome {
    let Command::Rekey(asked) = command;
    let settings = settings(&config::environment())?;
    runtime()?.block_on(async {
        let store = Store::open(settings.database.url.expose()).await.map_err(one_line)?;
        let ids = Ids::new(Arc::new(SystemEntropy));
        let ledger = Ledger::new(store.clone(), Arc::new(SystemClock), ids.clone());
        let outcome = match SecretsStore::open(&settings, store.clone(), ids).await {
            Ok(secrets) => rekey(&secrets, &ledger, asked.dry_run).await,
            Err(line) => Err(line),
        };
        store.close().await;
        outcome
    })
}

async fn rekey(secrets: &SecretsStore, ledger: &Ledger, dry_run: bool) -> Outcome {
    let before = secrets.rekey(true).await.map_err(one_line)?;
    say(&format!("before: {}", counts(&before)))?;
    if dry_run {
        return Ok(());
    }
    let done = secrets.rekey(false).await.map_err(one_line)?;
    let after = secrets.rekey(true).await.map_err(one_line)?;
    if done.moved > 0 {
        tell(secrets, ledger, &done, &after).await.map_err(one_line)?;
    }
    say(&format!("moved:  {}", done.moved))?;
    say(&format!("after:  {}", counts(&after)))?;
    if after.old == 0 {
        return Ok(());
    }
    Err(format!(
        "{} records are still under another key, {} of them under a key that is not configured; \
         add that key behind the first one, or run the command again",
        after.old, done.unreadable
    ))
}

/// The server's own audit tells that records were moved (`connections.md` 18).
async fn tell(secrets: &SecretsStore, ledger: &Ledger, done: &Rekeyed, after: &Rekeyed) -> Result<(), Problem> {
    let facts = json!({
        "moved": done.moved,
        "left": after.old,
        "unreadable": done.unreadable,
        "key": secrets.current_key_id(),
    });
    let event = Event::audit("secrets", "secrets_rekeyed", Actor::operator(), facts);
    ledger.commit(SERVER, Box::new(move |_| Box::pin(async move { Ok(Changed::by((), event)) }))).await
}

fn counts(counted: &Rekeyed) -> String {
    format!("{} records, {} of them under another key than the first", counted.seen, counted.old)
}
