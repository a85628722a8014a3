//! Everything long-lived, built in one function.

use crate::clock::SharedClock;
use crate::ids::Ids;
use crate::ledger::Ledger;

/// The program: what every request reaches.
pub struct App {
    /// The present.
    pub clock: SharedClock,
    /// New ids.
    pub ids: Ids,
    /// All that happened.
    pub ledger: Ledger,
}
