//! Accepting connections, as many as may be: HTTP/1.1, plain framing alone, small packets at once, bounded headers and
//! waits, a clean end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::framing::{Guarded, LARGEST_HEAD};
use crate::app::App;
use crate::mcp::{STALLED_AFTER, TakenWithin};

/// The most connections that are open at one time; each takes a descriptor of the process and some memory.
pub const MOST_CONNECTIONS: usize = 4_096;
/// How long a client may take to send its headers; as long may a connection lie idle between requests.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);

/// Whose connection a request came over: the address of the peer, which may be a proxy's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// The router, for one connection: each of its requests tells whose it is.
struct Door {
    router: TowerToHyperService<axum::Router>,
    peer: Peer,
}

impl Door {
    fn new(router: axum::Router, peer: SocketAddr) -> Self {
        // A listener of both families sees an IPv4 peer under an IPv6 address.
        Self { router: TowerToHyperService::new(router), peer: Peer(peer.ip().to_canonical()) }
    }
}

impl Service<Request<Incoming>> for Door {
    type Response = <TowerToHyperService<axum::Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<axum::Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<axum::Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}

/// Serves `listener` until the program has stopped. While it stops, open requests end, and whoever comes new is answered
/// that it stops.
pub async fn serve(app: Arc<App>, listener: TcpListener) {
    serve_at_most(app, listener, MOST_CONNECTIONS).await;
}

/// The same with at most `most` connections open at one time. Whoever comes then waits in the system's own queue until one
/// ends: idle ones do within [`HEADERS_WITHIN`], whatever their clients want.
pub async fn serve_at_most(app: Arc<App>, listener: TcpListener, most: usize) {
    let router = super::router(app.clone());
    let room = Arc::new(Semaphore::new(most));
    let mut told = false;
    loop {
        if room.available_permits() > 0 {
            told = false;
        } else if !std::mem::replace(&mut told, true) {
            tracing::warn!(most, "as many connections are open as may be; whoever comes new waits");
        }
        let place = tokio::select! {
            () = app.lifecycle.ended() => return,
            place = room.clone().acquire_owned() => place,
        };
        let (stream, peer) = tokio::select! {
            () = app.lifecycle.ended() => return,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, mostly: the next accept would fail at once too.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (door, stop) = (Door::new(router.clone(), peer), app.lifecycle.token().clone());
        if stop.is_cancelled() {
            // The stop does not wait for these: one that never sends its request would hold it up.
            tokio::spawn(async move {
                refused(stream, door).await;
                drop(place);
            });
        } else {
            app.lifecycle.spawn(async move {
                connection(stream, door, stop).await;
                drop(place);
            });
        }
    }
}

/// Serves one request, which is told that the program stops.
async fn refused(stream: TcpStream, door: Door) {
    let mut builder = builder();
    let served = builder.keep_alive(false).serve_connection(io(stream), door);
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn connection(stream: TcpStream, door: Door, stop: tokio_util::sync::CancellationToken) {
    let builder = builder();
    let mut served = std::pin::pin!(builder.serve_connection(io(stream), door));
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn io(stream: TcpStream) -> TokioIo<Guarded<TakenWithin<TcpStream>>> {
    // Without it an answer of two small writes waits for the peer's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    TokioIo::new(Guarded::new(TakenWithin::new(stream, STALLED_AFTER)))
}

fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(LARGEST_HEAD);
    builder
}
