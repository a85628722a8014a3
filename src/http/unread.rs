//! Whether a request's body was read to its end. A connection on which it was not cannot carry another request, and its
//! client has to be told so (RFC 9112, section 9.6): one that is not sends the next request into a closed connection.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::{Frame, SizeHint};

/// Tells whether the body of a request was read to its end.
#[derive(Clone)]
pub(super) struct Reading(Arc<AtomicBool>);

struct Watched {
    body: Body,
    ended: Arc<AtomicBool>,
}

/// The same request, and what tells how far its body was read.
pub(super) fn watched(request: Request) -> (Request, Reading) {
    let (parts, body) = request.into_parts();
    let ended = Arc::new(AtomicBool::new(body.is_end_stream()));
    let reading = Reading(ended.clone());
    (Request::from_parts(parts, Body::new(Watched { body, ended })), reading)
}

impl Reading {
    /// Says with the answer that the connection ends, where something of the request is still on its way.
    pub(super) fn conclude(&self, response: &mut Response) {
        if !self.0.load(Ordering::Acquire) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.ended.store(true, Ordering::Release);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn connection(body: Body, reads: bool) -> Option<HeaderValue> {
        let (request, reading) = watched(Request::new(body));
        if reads {
            axum::body::to_bytes(request.into_body(), 1_024).await.expect("a body");
        }
        let mut response = Response::new(Body::empty());
        reading.conclude(&mut response);
        response.headers().get(CONNECTION).cloned()
    }

    #[tokio::test]
    async fn a_connection_ends_with_a_body_that_nobody_read() {
        assert_eq!(connection(Body::from("unread"), false).await, Some(HeaderValue::from_static("close")));
        assert_eq!(connection(Body::from("read"), true).await, None);
        assert_eq!(connection(Body::empty(), false).await, None);
    }
}
