//! Names to addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{LOCALHOST, Reach};
use super::{Failure, Policy};

/// The longest a name may take to resolve.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most addresses a name may have.
const MAX_ADDRESSES: usize = 16;

/// Looks names up. The system's in production; tests put their own answers here.
pub trait Resolver: Send + Sync {
    /// Every address of `host`, a name without port or trailing dot.
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system.
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

impl Policy {
    /// Resolves `host` once and answers its addresses, where every one of them may be reached.
    pub(super) async fn resolve(&self, host: &str, reach: Reach, port: u16) -> Result<Vec<IpAddr>, Failure> {
        let found = if host == "localhost" && reach != Reach::Anywhere {
            LOCALHOST.to_vec()
        } else {
            let lookup = tokio::time::timeout(PATIENCE, self.resolver.lookup(host));
            lookup.await.map_err(|_| Failure::Resolve)?.map_err(|_| Failure::Resolve)?
        };
        if found.is_empty() || found.len() > MAX_ADDRESSES {
            return Err(Failure::Resolve);
        }
        for address in &found {
            self.judge_address(reach, *address, port)?;
        }
        Ok(found)
    }
}

/// Resolves for the sockets of one reach and port: what it answers was judged, and nothing else is dialled.
pub(super) struct Guarded {
    /// The rules.
    pub(super) policy: Arc<Policy>,
    /// Where the sockets may end.
    pub(super) reach: Reach,
    /// The port they are opened to.
    pub(super) port: u16,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, reach, port) = (Arc::clone(&self.policy), self.reach, self.port);
        Box::pin(async move {
            let found = policy.resolve(name.as_str(), reach, port).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(move |address| SocketAddr::new(address, port)));
            Ok(addresses)
        })
    }
}
