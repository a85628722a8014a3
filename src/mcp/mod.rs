//! The Model Context Protocol, inbound: one POST in, one event stream with one answer out, no sessions.
//!
//! The endpoint code is generic over a [`Service`], made for one request and its checked caller, so that the product
//! and the conformance fixture are served by the same lines. What an endpoint offers (tools, guides, prompts) is the
//! service's; which bytes, headers, codes and revisions carry it is decided here and nowhere else.
//!
//! Start reading at [`serve`], then follow a request through `message` (is it JSON-RPC), `agreement` (which revision, do
//! the headers agree), `methods` (what it asks) and `stream` (how the answer travels). `README.md` tells the six
//! revisions apart. Origin, credential, org and playbook are checked before [`serve`] is called.

mod agent;
mod agreement;
pub mod instructions;
mod media;
mod message;
mod methods;
mod revision;
mod rpc;
mod serve;
mod service;
mod stalled;
mod stopping;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

pub use agent::{Agent, endpoint_playbook};
pub use revision::{Era, Revision};
pub use rpc::RpcError;
pub use serve::{admit, serve};
pub use service::{
    CallRequest, CallResult, Capabilities, Content, InputRequired, Json, PromptMessages, ServerInfo, Service,
};
pub use stalled::TakenWithin;
pub use stopping::Stopping;

use std::time::Duration;

/// The most bytes of a request's body; more is answered 413 (`mcp.md` 2.2).
pub const MAX_BODY_BYTES: usize = 1_048_576;

/// The most levels of arrays and objects in a body, of which an input may take 512 (`mcp.md` 2.2).
pub const MAX_DEPTH: usize = 640;

/// How long a stream stays silent before it carries a heartbeat (`mcp.md` 2.5).
pub const HEARTBEAT: Duration = Duration::from_secs(5);

/// How long a written byte may go untaken before the connection is closed (`mcp.md` 2.5).
pub const STALLED_AFTER: Duration = Duration::from_secs(30);
