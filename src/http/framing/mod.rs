//! The guard on framing: between the connection and the parser, so that no request is read whose end is in doubt.
//!
//! The parser merges equal lengths and drops a length beside chunks before anybody sees them (security case 64). This
//! guard follows the stream request by request and passes the bytes on unchanged. A head that arrives whole, as nearly
//! all do, is looked at where it lies; the beginning of one that does not is kept here until the rest has come, so that
//! the parser sees whole heads alone. In place of a head that is refused the parser reads a request of ours, which is
//! answered like any other, in its turn, and is the connection's last.

mod scan;
#[cfg(test)]
mod tests;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::response::Response;
use bytes::{Buf, BytesMut};
use http::{HeaderMap, HeaderName, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use scan::{Fault, Found, Scanned, Scanner};

use super::problems;
use crate::error::{Problem, Reason};

/// The most bytes of a request's head.
pub(super) const LARGEST_HEAD: usize = 64 * 1024;
/// How long what the client still sends is taken and dropped when the connection ends with a request unread, as after a
/// refusal: closing on it would reset the connection and could take the answer away before the client reads it.
const LINGER: Duration = Duration::from_secs(1);
/// The most bytes that are dropped so.
const MOST_DROPPED: usize = 1024 * 1024;

/// Marks the request that stands in the place of a refused one. A client that sends it is told the same.
const MARK: HeaderName = HeaderName::from_static("playmaker-refused-framing");

/// Wraps a connection, of which the parser reads.
#[derive(Debug)]
pub(super) struct Guarded<C> {
    connection: C,
    scanner: Scanner,
    /// Bytes that were read and not passed on.
    held: BytesMut,
    /// How many of them may be.
    clean: usize,
    ended: Option<Ended>,
    linger: Option<Pin<Box<Sleep>>>,
    dropped: usize,
}

/// Why nothing more is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Refused,
    Broken,
}

impl<C> Guarded<C> {
    pub(super) fn new(connection: C) -> Self {
        let (scanner, held) = (Scanner::new(), BytesMut::new());
        Self { connection, scanner, held, clean: 0, ended: None, linger: None, dropped: 0 }
    }

    /// Takes what lies in `out` after `before`; leaves there what may be passed on at once.
    fn take(&mut self, out: &mut ReadBuf<'_>, before: usize) {
        let new = &out.filled()[before..];
        let at_once = self.held.is_empty();
        let found = if at_once {
            let Scanned { clean, found } = self.scanner.scan(new, 0);
            self.held.extend_from_slice(&new[clean..]);
            out.set_filled(before + clean);
            found
        } else {
            let seen = self.held.len();
            self.held.extend_from_slice(new);
            out.set_filled(before);
            let Scanned { clean, found } = self.scanner.scan(&self.held, seen);
            self.clean = clean;
            found
        };
        match found {
            Found::Nothing => {}
            Found::Broken => {
                self.held.truncate(self.clean);
                self.ended = Some(Ended::Broken);
            }
            Found::Refused(fault) => {
                tracing::debug!(?fault, "a request was refused for its framing");
                self.held.truncate(self.clean);
                self.held.extend_from_slice(instead(fault));
                self.clean = self.held.len();
                self.ended = Some(Ended::Refused);
            }
        }
    }

    /// Passes on what was held and is clean.
    fn pass(&mut self, out: &mut ReadBuf<'_>) {
        let length = self.clean.min(out.remaining());
        out.put_slice(&self.held[..length]);
        self.held.advance(length);
        self.clean -= length;
        if self.held.is_empty() {
            // Nearly no request needs it: an idle connection keeps no room for it.
            self.held = BytesMut::new();
        }
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Guarded<C> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = out.filled().len();
        loop {
            if this.clean > 0 {
                this.pass(out);
                return Poll::Ready(Ok(()));
            }
            match this.ended {
                None => {}
                Some(Ended::Broken) => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                // The answer to the last request ends the connection.
                Some(Ended::Refused) => return Poll::Pending,
            }
            ready!(Pin::new(&mut this.connection).poll_read(cx, out))?;
            if out.filled().len() == before {
                return Poll::Ready(Ok(()));
            }
            this.take(out, before);
            if out.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin> Guarded<C> {
    /// Drops what the client still sends, until it ends or for as long as is bearable.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 4096];
        let linger = self.linger.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        if linger.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while self.dropped < MOST_DROPPED {
            let mut out = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut self.connection).poll_read(cx, &mut out)) {
                Ok(()) if !out.filled().is_empty() => self.dropped += out.filled().len(),
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<C> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.connection).poll_shutdown(cx))?;
        }
        if this.ended.is_some() || this.scanner.in_body() {
            ready!(this.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }
}

/// What the parser reads in the place of a refused request.
const fn instead(fault: Fault) -> &'static [u8] {
    match fault {
        Fault::Malformed => {
            b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nplaymaker-refused-framing: head\r\n\r\n"
        }
        Fault::Length => {
            b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nplaymaker-refused-framing: length\r\n\r\n"
        }
        Fault::Large => {
            b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nplaymaker-refused-framing: size\r\n\r\n"
        }
    }
}

/// The answer to a request that stands in the place of a refused one.
pub(super) fn refusal(headers: &HeaderMap) -> Option<Response> {
    let words = match headers.get(MARK)?.as_bytes() {
        b"size" => return Some(too_large()),
        b"length" => "The body's length must be told once: one Content-Length of digits, or chunks, and not both.",
        _ => {
            "The request's head is not plain HTTP/1.1: whole lines, names right before their colons, no control bytes."
        }
    };
    Some(problems::response(&Problem::new(Reason::BadRequest, words)))
}

/// 431 (RFC 6585, section 5), which no reason of ours has: `bad_request` with that status.
fn too_large() -> Response {
    let words = "The request's head is larger than 64 KiB or has more than 100 lines. Send less.";
    let mut document = Problem::new(Reason::BadRequest, words).document();
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    document["status"] = status.as_u16().into();
    let mut response = problems::response(&Problem::new(Reason::BadRequest, words));
    *response.status_mut() = status;
    *response.body_mut() = document.to_string().into();
    response
}
