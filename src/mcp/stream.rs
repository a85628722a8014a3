//! The body of an answer still being worked on: heartbeats until the event comes, then the end (`mcp.md` 2.5 and 2.6).
//!
//! The body owns the handler's future. Nothing is spawned: the connection drives the work by asking for the next frame,
//! and a connection that breaks drops the body, which drops the future and so cancels the request.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::Stopping;
use super::rpc::RpcError;
use super::wire::{HEARTBEAT_COMMENT, error_event};

/// The work on an answer: ready with its event.
pub(super) type Work = Pin<Box<dyn Future<Output = Bytes> + Send>>;

/// Heartbeats, then one event, then the end.
pub(super) struct Answering {
    work: Option<Work>,
    id: Value,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    silence: Pin<Box<Sleep>>,
    heartbeat: Duration,
}

impl Answering {
    pub(super) fn new(work: Work, id: Value, stopping: &Stopping, heartbeat: Duration) -> Self {
        Self {
            work: Some(work),
            id,
            stopped: Box::pin(stopping.stopped()),
            silence: Box::pin(tokio::time::sleep(heartbeat)),
            heartbeat,
        }
    }
}

impl Body for Answering {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let Some(work) = this.work.as_mut() else {
            return Poll::Ready(None);
        };
        // The work first: what is finished is still answered when the server stops in the same moment.
        let last = match work.as_mut().poll(cx) {
            Poll::Ready(event) => Some(event),
            Poll::Pending if this.stopped.as_mut().poll(cx).is_ready() => {
                Some(error_event(&this.id, &RpcError::stopping()))
            }
            Poll::Pending => None,
        };
        if let Some(event) = last {
            this.work = None;
            return Poll::Ready(Some(Ok(Frame::data(event))));
        }
        if this.silence.as_mut().poll(cx).is_ready() {
            this.silence.as_mut().reset(Instant::now() + this.heartbeat);
            return Poll::Ready(Some(Ok(Frame::data(HEARTBEAT_COMMENT))));
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.work.is_none()
    }
}
