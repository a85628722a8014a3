//! Names to addresses.

use std::io;
use std::net::IpAddr;

use futures_util::future::BoxFuture;

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
