//! How a request came, told to the audit with whatever its caller does.

use std::sync::Arc;

use http::header::USER_AGENT;
use http::{Extensions, HeaderMap};

use super::Sender;
use super::entrance::RequestId;
use crate::identity::Caller;
use crate::ledger::{Origin, Via};

/// The origin of a request that came `via`.
pub fn origin(via: Via, headers: &HeaderMap, extensions: &Extensions) -> Origin {
    let id = extensions.get::<RequestId>().map_or_else(|| Arc::from(""), |id| id.0.clone());
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    Origin::of_request(via, &id, address(extensions), agent)
}

/// The caller, acting through this request.
pub fn through(caller: &Caller, via: Via, headers: &HeaderMap, extensions: &Extensions) -> Arc<Caller> {
    Arc::new(caller.through(origin(via, headers, extensions)))
}

/// The address a request came from, where its connection tells one.
fn address(extensions: &Extensions) -> Option<std::net::IpAddr> {
    extensions.get::<Sender>().map(|sender| sender.address)
}
