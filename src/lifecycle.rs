//! Signals, draining and stopping.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long work in hand may go on after a stop began.
pub const DRAIN: Duration = Duration::from_secs(25);

/// Whether the server stops, and the tasks to wait for when it does. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Lifecycle {
    stop: CancellationToken,
    ended: CancellationToken,
    tasks: TaskTracker,
}

impl Lifecycle {
    /// Begins the stop: new requests are refused, streams end, tasks finish.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether the stop began.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Ends when the stop begins.
    pub fn token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Says that the stop is over: nothing is left to do.
    pub fn end(&self) {
        self.ended.cancel();
    }

    /// Ends when the stop is over; until then, whoever comes is told that the server stops.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Runs `task` in the background; a stop waits for it.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn(task);
    }

    /// Waits for the background tasks, at most [`DRAIN`].
    pub async fn drained(&self) {
        self.tasks.close();
        if tokio::time::timeout(DRAIN, self.tasks.wait()).await.is_err() {
            tracing::warn!(
                "some work was still going on when the server stopped; it goes on or is closed after the next start"
            );
        }
    }
}

/// Waits for the first SIGTERM or SIGINT and begins the stop; a second one exits at once with code 1.
pub async fn watch_signals(lifecycle: Lifecycle) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        let mut stopping = false;
        loop {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            if stopping {
                tracing::warn!("second signal: exiting at once");
                std::process::exit(1);
            }
            stopping = true;
            tracing::info!("stopping: no new requests, work in hand is finished");
            lifecycle.stop();
        }
    });
    Ok(())
}
