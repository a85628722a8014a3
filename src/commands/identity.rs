//! `playmaker identity rotate-key`: a new key for the built-in authorization server to sign with.

use std::sync::Arc;

use clap::{Args, Subcommand};
use futures_util::FutureExt;

use playmaker::clock::SystemClock;
use playmaker::config;
use playmaker::identity::oauth::signing_keys::Rotation;
use playmaker::identity::oauth::{AuthorizationServer, Needs, Revocations};
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::{Actor, Ledger};
use playmaker::secrets::SecretsStore;
use playmaker::store::Store;

use super::{Outcome, note, one_line, runtime, say, settings};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Makes the next key tokens are signed with: published at once, it signs in a day. Servers may run meanwhile.
    RotateKey(RotateKey),
}

#[derive(Args)]
pub(super) struct RotateKey {
    /// A key has leaked: the new one signs at once and every other is taken back, with all tokens it signed.
    #[arg(long)]
    now: bool,
}

/// Runs a command about identity.
pub(super) fn run(command: Command) -> Outcome {
    let Command::RotateKey(asked) = command;
    on_server(async move |server| {
        let rotation = if asked.now { Rotation::Leaked } else { Rotation::Asked };
        let made = server.rotate_signing_key(rotation, operator()).await.map_err(one_line)?;
        note(match rotation {
            Rotation::Leaked => {
                "Each server takes it up within a minute; access tokens signed before are good no more."
            }
            Rotation::Asked | Rotation::Due => "It signs in a day.",
        });
        say(&made.unwrap_or_default())
    })
}

/// Who a command's changes are told of.
pub(super) fn operator() -> Actor {
    Actor::operator()
}

/// Runs `work` on the authorization server of this machine's settings, whether or not servers run beside it.
pub(super) fn on_server(work: impl AsyncFnOnce(AuthorizationServer) -> Outcome) -> Outcome {
    let settings = settings(&config::environment())?;
    runtime()?.block_on(async {
        let store = Store::open(settings.database.url.expose()).await.map_err(one_line)?;
        let ids = Ids::new(Arc::new(SystemEntropy));
        let outcome = match SecretsStore::open(&settings, store.clone(), ids.clone()).await {
            Ok(secrets) => {
                let clock = Arc::new(SystemClock);
                work(AuthorizationServer::new(Needs {
                    issuer: settings.public_url.clone().unwrap_or_default(),
                    access_token_ttl_ms: settings.authorization.access_token_ttl_ms,
                    registers: false,
                    clients: Vec::new(),
                    ledger: Ledger::new(store.clone(), clock.clone(), ids.clone()),
                    secrets,
                    fetch: Arc::new(|_, _| async { Err("a command fetches nothing".into()) }.boxed()),
                    on_keys: Box::new(|_| {}),
                    revoked: Revocations::default(),
                    clock,
                    ids,
                }))
                .await
            }
            Err(line) => Err(line),
        };
        store.close().await;
        outcome
    })
}
