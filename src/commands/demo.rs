//! `playmaker demo`: everything on this machine, to try it out.

use playmaker::config;
use playmaker::demo::Demo;
use playmaker::lifecycle::{Lifecycle, watch_signals};
use playmaker::server;

use super::{Outcome, one_line, runtime, say};

/// Runs the demo until a signal stops it.
pub(super) fn run() -> Outcome {
    server::protect_process();
    runtime()?.block_on(async {
        let lifecycle = Lifecycle::default();
        watch_signals(lifecycle.clone()).await.map_err(one_line)?;
        let environment = config::environment();
        let demo = tokio::select! {
            demo = Demo::start(&environment) => demo.map_err(one_line)?,
            () = lifecycle.token().cancelled() => return Ok(()),
        };
        demo.directions().iter().try_for_each(|line| say(line))?;
        demo.run(&lifecycle).await;
        Ok(())
    })
}
