//! The body of an answer still being worked on: heartbeats until the event comes, then the end (`mcp.md` 2.5 and 2.6).
//!
//! The body owns the handler's future. Nothing is spawned: the connection drives the work by asking for the next frame,
//! and a connection that breaks drops the body, which drops the future and so cancels the request.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::Stopping;
use super::rpc::RpcError;
use super::service::Watch;
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
    watch: Option<Watch>,
    /// The question whether the caller may still be answered, between a silence and its heartbeat.
    asked: Option<BoxFuture<'static, bool>>,
}

impl Answering {
    pub(super) fn new(work: Work, id: Value, stopping: &Stopping, heartbeat: Duration, watch: Option<Watch>) -> Self {
        Self {
            work: Some(work),
            id,
            stopped: Box::pin(stopping.stopped()),
            silence: Box::pin(tokio::time::sleep(heartbeat)),
            heartbeat,
            watch,
            asked: None,
        }
    }

    /// Whether a heartbeat is due, and with it whether the caller may still be answered: a credential that was taken away
    /// ends its streams (`identity.md` 3.4).
    fn beat(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.asked.is_none() {
            ready!(self.silence.as_mut().poll(cx));
            self.asked = self.watch.as_ref().map(|watch| watch());
        }
        let good = match &mut self.asked {
            Some(asked) => ready!(asked.as_mut().poll(cx)),
            None => true,
        };
        self.asked = None;
        self.silence.as_mut().reset(Instant::now() + self.heartbeat);
        Poll::Ready(good)
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
        let frame = match last {
            Some(event) => event,
            None if ready!(this.beat(cx)) => return Poll::Ready(Some(Ok(Frame::data(HEARTBEAT_COMMENT)))),
            None => error_event(&this.id, &RpcError::no_longer_welcome()),
        };
        this.work = None;
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.work.is_none()
    }
}
