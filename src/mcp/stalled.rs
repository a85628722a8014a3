//! A connection whose peer must take what is written: the answer to a reader that stalls (`mcp.md` 2.5).
//!
//! A body cannot see this: it hands its frames to the connection and is not told when they are taken. So the bound lies
//! around the connection itself.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Wraps a connection: a write that waits longer than its bound fails, which ends the connection and cancels what it serves.
#[derive(Debug)]
pub struct TakenWithin<C> {
    connection: C,
    bound: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<C> TakenWithin<C> {
    /// Wraps `connection`, whose peer takes each write within `bound`.
    pub fn new(connection: C, bound: Duration) -> Self {
        Self { connection, bound, waiting: None }
    }

    fn bounded<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let bound = self.bound;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(bound)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for TakenWithin<C> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(cx, out)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for TakenWithin<C> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write(cx, bytes);
        self.bounded(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write_vectored(cx, slices);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.connection).poll_flush(cx);
        self.bounded(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.connection).poll_shutdown(cx);
        self.bounded(cx, shut)
    }
}
