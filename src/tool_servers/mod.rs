//! Tool servers: MCP servers and HTTP APIs whose tools a playbook may call.
//!
//! Start with [`ToolServers`]: it knows the servers of an org ([`registry`]), keeps the open ones and their lists
//! ([`live`]), checks whether a call may be made ([`check`]), finds tools by words ([`search`]) and makes a call with its
//! record ([`execute`]). How a server is spoken to is below: [`upstream`] for MCP, [`openapi`] with `http_api` for HTTP
//! APIs. Nothing that leaves this room holds a secret of a server: [`scrub`] sees to it.

pub mod check;
pub mod execute;
mod http_api;
pub mod live;
pub mod openapi;
mod pace;
mod patience;
mod places;
pub mod probe;
pub mod registry;
mod renewed;
pub mod scrub;
pub mod search;
pub mod tool;
pub mod upstream;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use moka::future::Cache;
use tokio::sync::Semaphore;

use crate::clock::SharedClock;
use crate::config::Settings;
use crate::connections::{self, Connections};
use crate::egress;
use crate::ids::Ids;
use crate::ledger::Ledger;
use crate::lifecycle::Lifecycle;
use live::{Key, Live};
use places::Places;
use tool::List;

/// The most servers kept open.
const OPEN_SERVERS: u64 = 10_000;
/// The most bytes of lists kept; the least used go first.
const LIST_BYTES: u64 = 256 << 20;
/// Documents read at once.
const PARSES: usize = 2;

/// What the room needs of the program.
#[derive(Clone)]
pub struct Needs {
    /// What the operator set, tool servers among it.
    pub settings: Arc<Settings>,
    /// What people connected.
    pub connections: Connections,
    /// The way out.
    pub egress: egress::Client,
    /// Where calls are recorded.
    pub ledger: Ledger,
    /// The present.
    pub clock: SharedClock,
    /// New ids.
    pub ids: Ids,
    /// Whether the server stops.
    pub lifecycle: Lifecycle,
}

impl Needs {
    /// Over what connections are built over, and those themselves.
    pub fn of(needs: connections::Needs, connections: Connections) -> Self {
        let connections::Needs { settings, egress, ledger, clock, ids, lifecycle, .. } = needs;
        Self { settings, connections, egress, ledger, clock, ids, lifecycle }
    }
}

/// The tool servers of every org. Cheap to clone.
#[derive(Clone)]
pub struct ToolServers {
    needs: Needs,
    open: Cache<Key, Arc<Live>>,
    lists: Cache<Key, Arc<List>>,
    places: Arc<Places>,
    parses: Arc<Semaphore>,
}

impl ToolServers {
    /// Nothing is opened before it is first needed.
    pub fn new(needs: Needs) -> Self {
        Self {
            needs,
            open: Cache::builder().max_capacity(OPEN_SERVERS).time_to_idle(live::IDLE).build(),
            lists: Cache::builder()
                .max_capacity(LIST_BYTES)
                .weigher(|_: &Key, list: &Arc<List>| u32::try_from(list.bytes).unwrap_or(u32::MAX))
                .build(),
            places: Arc::new(Places::default()),
            parses: Arc::new(Semaphore::new(PARSES)),
        }
    }

    /// Ends every session and every process, for a stop.
    pub async fn close(&self) {
        let open: Vec<Arc<Live>> = self.open.iter().map(|(_, live)| live).collect();
        self.open.invalidate_all();
        futures_util::future::join_all(open.iter().map(|live| live.close())).await;
    }

    fn now_ms(&self) -> i64 {
        self.needs.clock.now_ms()
    }
}
