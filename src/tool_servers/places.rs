//! Places for calls in flight, shared by all orgs (`tool-servers.md` 11).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Calls in flight on this machine.
const ALL: usize = 1_024;
/// … of one org.
const PER_ORG: usize = 64;
/// … of one server of an org.
const PER_SERVER: usize = 16;
/// … of one process.
const PER_PROCESS: usize = 8;
/// Calls of an org that may wait.
const WAITING: usize = 256;
/// How long one waits.
const WAIT: Duration = Duration::from_secs(10);
/// Orgs kept without a call in flight before they are forgotten.
const IDLE_ORGS: usize = 4_096;
/// Servers of an org kept without a call before they are forgotten.
const IDLE_SERVERS: usize = 256;

/// No place came free in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Busy;

/// The places of this machine.
pub(super) struct Places {
    all: Arc<Semaphore>,
    orgs: Mutex<HashMap<String, Arc<Org>>>,
}

struct Org {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    servers: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place; dropped, it is free again.
pub(super) struct Place {
    _server: OwnedSemaphorePermit,
    _org: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
    /// Keeps the org's counts alive.
    _of: Arc<Org>,
}

impl Default for Places {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(ALL)), orgs: Mutex::default() }
    }
}

/// One caller fewer waits, however the waiting ends.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Places {
    /// A place for a call of `server`, waited for at most ten seconds.
    pub(super) async fn take(&self, org: &str, server: &str, is_process: bool) -> Result<Place, Busy> {
        let of = self.org(org);
        let queue = of.server(server, is_process);
        if of.waiting.fetch_add(1, Ordering::SeqCst) >= WAITING {
            of.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err(Busy);
        }
        let waiting = Waiting(&of.waiting);
        // The server's place first: calls that queue for one server take nothing from the org's others.
        let places = async {
            let server = queue.acquire_owned().await.ok()?;
            let org = of.places.clone().acquire_owned().await.ok()?;
            let all = self.all.clone().acquire_owned().await.ok()?;
            Some((server, org, all))
        };
        let (server, org, all) = timeout(WAIT, places).await.ok().flatten().ok_or(Busy)?;
        drop(waiting);
        Ok(Place { _server: server, _org: org, _all: all, _of: of })
    }

    fn org(&self, org: &str) -> Arc<Org> {
        let mut orgs = self.orgs.lock().unwrap_or_else(PoisonError::into_inner);
        if orgs.len() > IDLE_ORGS {
            orgs.retain(|_, of| Arc::strong_count(of) > 1);
        }
        let of = orgs.entry(org.to_owned()).or_insert_with(|| {
            Arc::new(Org {
                places: Arc::new(Semaphore::new(PER_ORG)),
                waiting: AtomicUsize::new(0),
                servers: Mutex::default(),
            })
        });
        of.clone()
    }
}

impl Org {
    fn server(&self, server: &str, is_process: bool) -> Arc<Semaphore> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if servers.len() > IDLE_SERVERS {
            // Calls in flight and those that wait hold on to theirs.
            servers.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = if is_process { PER_PROCESS } else { PER_SERVER };
        servers.entry(server.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(places))).clone()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::task::unconstrained;

    use super::*;

    /// The place, where there is one at once. Unconstrained: a test that takes very many in a row is no greedy task.
    async fn at_once(places: &Places, org: &str, server: &str) -> Option<Place> {
        unconstrained(places.take(org, server, false)).now_or_never().and_then(Result::ok)
    }

    #[tokio::test]
    async fn a_server_at_its_bound_makes_wait_and_another_does_not() {
        let places = Places::default();
        let mut held = Vec::new();
        for _ in 0..PER_SERVER {
            held.push(at_once(&places, "acme", "crm").await.unwrap());
        }
        assert!(at_once(&places, "acme", "crm").await.is_none());
        assert!(at_once(&places, "acme", "mail").await.is_some());
        held.pop();
        assert!(at_once(&places, "acme", "crm").await.is_some());
    }

    #[tokio::test]
    async fn an_org_at_its_bound_leaves_places_to_others() {
        let places = Places::default();
        let mut held = Vec::new();
        for call in 0..PER_ORG {
            held.push(at_once(&places, "acme", &format!("s{call}")).await.unwrap());
        }
        assert!(at_once(&places, "acme", "another").await.is_none());
        assert!(at_once(&places, "globex", "crm").await.is_some());
    }

    #[tokio::test]
    async fn servers_nobody_calls_are_forgotten_and_the_others_keep_their_count() {
        let places = Places::default();
        let mut held = Vec::new();
        for _ in 0..PER_SERVER {
            held.push(at_once(&places, "acme", "crm").await.unwrap());
        }
        for call in 0..3 * IDLE_SERVERS {
            assert!(at_once(&places, "acme", &format!("s{call}")).await.is_some());
        }
        assert!(places.org("acme").servers.lock().unwrap().len() <= IDLE_SERVERS + 1);
        assert!(at_once(&places, "acme", "crm").await.is_none());
    }

    #[tokio::test]
    async fn too_many_that_wait_are_refused_at_once() {
        let places = Places::default();
        let mut held = Vec::new();
        for _ in 0..PER_SERVER {
            held.push(at_once(&places, "acme", "crm").await.unwrap());
        }
        let mut waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(places.take("acme", "crm", false))).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        let refused = unconstrained(places.take("acme", "crm", false)).now_or_never();
        assert_eq!(refused.and_then(Result::err), Some(Busy));
    }
}
