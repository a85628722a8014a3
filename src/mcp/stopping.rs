//! The sign that the server stops, as the endpoints see it.

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Says when requests in hand are to be answered that the server stops. Clones share one sign.
#[derive(Debug, Clone, Default)]
pub struct Stopping(CancellationToken);

impl Stopping {
    /// A sign not given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the sign, for good: every stream still waiting for its answer ends with the error of decision D41.
    pub fn stop(&self) {
        self.0.cancel();
    }

    /// Whether the sign was given.
    pub fn is_stopping(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Ready once the sign is given.
    pub fn stopped(&self) -> WaitForCancellationFutureOwned {
        self.0.clone().cancelled_owned()
    }
}

impl From<CancellationToken> for Stopping {
    fn from(token: CancellationToken) -> Self {
        Self(token)
    }
}
