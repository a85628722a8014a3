//! Who sends a request, as far as its connection and its proxies tell, and whether a good credential came with it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Extensions, HeaderMap};

use super::serve::Peer;
use crate::app::App;

/// The sender of a request; every handler finds it among the request's extensions ([`Sender::of`]).
#[derive(Debug, Clone)]
pub struct Sender {
    /// The address that limits count by.
    pub address: IpAddr,
    known: Arc<AtomicBool>,
    spent: Arc<AtomicBool>,
}

impl Sender {
    /// The sender that a new request's connection and headers tell.
    pub(super) fn new(app: &App, headers: &HeaderMap, extensions: &Extensions) -> Self {
        // Without a connection, as in a test of the router alone, all senders are one.
        let peer = extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        Self { address: app.limits.client(peer, headers), known: Arc::default(), spent: Arc::default() }
    }

    /// The sender of a request that came in.
    pub fn of(extensions: &Extensions) -> Self {
        let nobody =
            || Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), known: Arc::default(), spent: Arc::default() };
        extensions.get::<Self>().cloned().unwrap_or_else(nobody)
    }

    /// Whoever found a good credential or session on the request says so here, so that the request does not count as one
    /// without.
    pub fn set_known(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    /// Whoever found the session of the request's cookie to have ended says so here, so that its browser forgets it.
    pub(super) fn set_spent(&self) {
        self.spent.store(true, Ordering::Relaxed);
    }

    /// Whether the session of the request's cookie was found to have ended.
    pub(super) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }

    /// Whether somebody did.
    pub(super) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }
}
