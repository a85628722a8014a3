//! What falls due by itself: links whose time is over, connections nobody ever approved.
//!
//! Every server sweeps; what one has done, the others find done.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::app::App;

/// Between two sweeps. A link refuses by its own time at once; this is when the ledger says so too.
const EVERY: Duration = Duration::from_secs(15);

/// Sweeps until the server stops.
pub(super) async fn run(app: Arc<App>) {
    let mut tick = interval(EVERY);
    // After a pause of the machine one sweep does what several would have done.
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.lifecycle.token().cancelled() => return,
            _ = tick.tick() => {}
        }
        if let Err(cause) = app.connections.sweep_links(app.clock.now_ms()).await {
            tracing::warn!(%cause, "links that are over could not be closed; the next sweep tries again");
        }
    }
}
