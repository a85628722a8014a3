//! `playmaker secrets rekey`: moves every sealed record to the first key, while servers run (decision D6).

use std::sync::Arc;

use clap::{Args, Subcommand};

use playmaker::config;
use playmaker::ids::{Ids, SystemEntropy};
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
        let outcome = match SecretsStore::open(&settings, store.clone(), ids).await {
            Ok(secrets) => rekey(&secrets, asked.dry_run).await,
            Err(line) => Err(line),
        };
        store.close().await;
        outcome
    })
}

async fn rekey(secrets: &SecretsStore, dry_run: bool) -> Outcome {
    let before = secrets.rekey(true).await.map_err(one_line)?;
    say(&format!("before: {}", counts(&before)))?;
    if dry_run {
        return Ok(());
    }
    let done = secrets.rekey(false).await.map_err(one_line)?;
    let after = secrets.rekey(true).await.map_err(one_line)?;
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

fn counts(counted: &Rekeyed) -> String {
    format!("{} records, {} of them under another key than the first", counted.seen, counted.old)
}
