//! `playmaker serve`: the server.

use playmaker::config;
use playmaker::lifecycle::{Lifecycle, watch_signals};
use playmaker::server::{self, Server};

use super::{Outcome, one_line, runtime, settings};

/// Serves until a signal stops it.
pub(super) fn run() -> Outcome {
    server::protect_process();
    runtime()?.block_on(async {
        let lifecycle = Lifecycle::default();
        // Before anything that takes time, so that a stop in the first milliseconds is a clean one.
        watch_signals(lifecycle.clone()).await.map_err(one_line)?;
        let environment = config::environment();
        let settings = settings(&environment)?;
        let log_secrets = server::start_log(&settings, &environment).map_err(one_line)?;
        let started = tokio::select! {
            started = Server::start(settings, &environment, log_secrets) => started.map_err(one_line)?,
            () = lifecycle.token().cancelled() => return Ok(()),
        };
        started.run(&lifecycle).await;
        Ok(())
    })
}
