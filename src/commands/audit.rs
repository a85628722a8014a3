//! `playmaker audit export`: the audit of an org as JSON Lines on stdout.

use std::sync::Arc;

use clap::{Args, Subcommand};
use futures_util::StreamExt;

use playmaker::clock::{self, Clock, SystemClock};
use playmaker::config;
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::{Actor, AuditFilter, Ledger};
use playmaker::operations::audit::export_audit;
use playmaker::store::Store;

use super::{Outcome, one_line, runtime, say, settings};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Prints the audit of an org, oldest first, a row a line; the last line says that it is whole.
    Export(Export),
}

#[derive(Args)]
pub(super) struct Export {
    /// The org; empty for what concerns the whole server.
    #[arg(long)]
    org: String,
    /// From this instant on, such as 2026-10-01T00:00:00Z; from the first row when left out.
    #[arg(long)]
    from: Option<String>,
    /// Before this instant; until now when left out.
    #[arg(long)]
    to: Option<String>,
}

/// Runs a command about the audit.
pub(super) fn run(command: Command) -> Outcome {
    let Command::Export(asked) = command;
    let instant = |name: &str, text: Option<&String>| match text {
        None => Ok(None),
        Some(text) => {
            clock::parse_iso(text).map(Some).ok_or(format!("expected {name} to be an instant with its offset"))
        }
    };
    let (from, to) = (instant("--from", asked.from.as_ref())?, instant("--to", asked.to.as_ref())?);
    let settings = settings(&config::environment())?;
    runtime()?.block_on(async {
        let store = Store::open(settings.database.url.expose()).await.map_err(one_line)?;
        let clock = Arc::new(SystemClock);
        let ledger = Ledger::new(store.clone(), clock.clone(), Ids::new(Arc::new(SystemEntropy)));
        let now = clock.now_ms();
        let oldest = now - settings.administration.audit_retention_ms;
        let (from, to) = (from.unwrap_or(oldest).max(oldest), to.unwrap_or(now));
        let done = print(&ledger, &asked.org, from, to).await;
        store.close().await;
        done
    })
}

async fn print(ledger: &Ledger, org: &str, from_ms: i64, to_ms: i64) -> Outcome {
    export_audit::record(ledger, org, Actor::operator(), from_ms, to_ms).await.map_err(one_line)?;
    let filter = AuditFilter { from_ms: Some(from_ms), to_ms: Some(to_ms), ..AuditFilter::default() };
    let mut lines = export_audit::lines(ledger.clone(), org.to_owned(), filter);
    while let Some(line) = lines.next().await {
        let line = line.map_err(one_line)?;
        say(String::from_utf8_lossy(&line).trim_end())?;
    }
    Ok(())
}
