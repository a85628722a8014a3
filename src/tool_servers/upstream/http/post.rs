//! One POST and what comes back for it.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::Shared;
use super::events::Events;
use super::session::Agreed;
use crate::egress::{Body, Failure, Limits, Redirects, Request, Response};
use crate::tool_servers::upstream::message::{self, Incoming, RpcError};

/// How long a stream is read on after its answer, so that its connection can be used again.
const DRAINING: Duration = Duration::from_secs(1);

/// A message on its way.
pub(super) struct Outgoing {
    /// The id, of a request.
    pub(super) id: Option<u64>,
    /// The message.
    pub(super) body: Value,
    /// What the protocol puts into headers.
    pub(super) headers: HeaderMap,
    /// The most bytes of the answer.
    pub(super) answer_bytes: usize,
    /// The most time of the exchange.
    pub(super) time: Duration,
}

/// What came back for a request.
pub(super) struct Posted {
    /// The status.
    pub(super) status: StatusCode,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// The answer in JSON-RPC, where there is one.
    pub(super) outcome: Option<Result<Value, RpcError>>,
}

impl Posted {
    /// The server's words for a refusal.
    pub(super) fn words(&self) -> String {
        match &self.outcome {
            Some(Err(error)) if !error.message.is_empty() => {
                format!("The server answered with status {}: {}", self.status.as_u16(), error.message)
            }
            _ => format!("The server answered with status {}.", self.status.as_u16()),
        }
    }
}

impl Shared {
    /// Sends one message and reads until its answer. `agreed` says whether the server may ask something back.
    pub(super) async fn post(&self, outgoing: &Outgoing, agreed: Option<&Agreed>) -> Result<Posted, Failure> {
        let Response { status, headers, body } = self.egress.send(self.request(outgoing)).await?;
        let Some(id) = outgoing.id else {
            return Ok(Posted { status, headers, outcome: None });
        };
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let outcome = if status.is_success() && kind.to_ascii_lowercase().starts_with("text/event-stream") {
            Some(self.read_stream(body, id, agreed).await?)
        } else {
            answer_in(&body.bytes().await?, id)
        };
        Ok(Posted { status, headers, outcome })
    }

    fn request(&self, outgoing: &Outgoing) -> Request {
        let mut headers = self.entry.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(outgoing.headers.clone());
        Request {
            method: Method::POST,
            url: self.entry.url.clone(),
            headers,
            body: Some(Bytes::from(outgoing.body.to_string())),
            provenance: self.entry.provenance,
            limits: Limits {
                connect: outgoing.time,
                first_byte: outgoing.time,
                whole: outgoing.time,
                body_bytes: outgoing.answer_bytes,
            },
            redirects: Redirects::None,
        }
    }

    async fn read_stream(
        &self,
        mut body: Body,
        id: u64,
        agreed: Option<&Agreed>,
    ) -> Result<Result<Value, RpcError>, Failure> {
        let mut events = Events::default();
        while let Some(piece) = body.chunk().await? {
            let messages = events.take(&piece).into_iter().filter_map(|data| Incoming::read(&data));
            for message in messages.flatten() {
                match message {
                    Incoming::Answer { id: given, outcome } if given.is_none_or(|given| given == id) => {
                        drain(body);
                        return Ok(outcome);
                    }
                    Incoming::Answer { .. } => {}
                    Incoming::Notification { method } => self.note(&method),
                    Incoming::Request { id, method } => {
                        if let Some(agreed) = agreed {
                            self.send_aside(agreed, message::answer_to(id, &method));
                        }
                    }
                }
            }
        }
        Err(Failure::Broken)
    }
}

/// The answer to request `id` in a body of JSON; an answer without id is to what was asked, there being nothing else.
fn answer_in(body: &[u8], id: u64) -> Option<Result<Value, RpcError>> {
    Incoming::read(body)?.into_iter().find_map(|message| match message {
        Incoming::Answer { id: given, outcome } if given.is_none_or(|given| given == id) => Some(outcome),
        _ => None,
    })
}

fn drain(mut body: Body) {
    tokio::spawn(tokio::time::timeout(DRAINING, async move { while let Ok(Some(_)) = body.chunk().await {} }));
}
