//! Accepting connections: HTTP/1.1, small packets at once, bounded headers and waits, a clean end.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

use crate::app::App;
use crate::mcp::{STALLED_AFTER, TakenWithin};

/// How long a client may take to send its headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// The most bytes of a request's head.
const LARGEST_HEAD: usize = 64 * 1024;

/// Serves `listener` until the program has stopped. While it stops, open requests end, and whoever comes new is answered
/// that it stops.
pub async fn serve(app: Arc<App>, listener: TcpListener) {
    let router = super::router(app.clone());
    loop {
        let stream = tokio::select! {
            () = app.lifecycle.ended() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, mostly: the next accept would fail at once too.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (router, stop) = (router.clone(), app.lifecycle.token().clone());
        if stop.is_cancelled() {
            // The stop does not wait for these: one that never sends its request would hold it up.
            tokio::spawn(refused(stream, router));
        } else {
            app.lifecycle.spawn(async move { connection(stream, router, stop).await });
        }
    }
}

/// Serves one request, which is told that the program stops.
async fn refused(stream: TcpStream, router: axum::Router) {
    let mut builder = builder();
    let served = builder.keep_alive(false).serve_connection(io(stream), TowerToHyperService::new(router));
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn connection(stream: TcpStream, router: axum::Router, stop: tokio_util::sync::CancellationToken) {
    let builder = builder();
    let mut served = std::pin::pin!(builder.serve_connection(io(stream), TowerToHyperService::new(router)));
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

fn io(stream: TcpStream) -> TokioIo<TakenWithin<TcpStream>> {
    // Without it an answer of two small writes waits for the peer's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    TokioIo::new(TakenWithin::new(stream, STALLED_AFTER))
}

fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(LARGEST_HEAD);
    builder
}
