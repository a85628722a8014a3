//! The one way out: every HTTP request the server makes goes through [`Client`], which checks the address first.
//!
//! Start at [`Client::send`]. The text of an address is judged by `address`, each address a name resolves to by
//! `ranges`, and the sockets are opened only to what passed (`resolver`). The size, the ratio and the time of an answer
//! are bounded in [`Body`].

mod address;
mod body;
mod client;
mod exchange;
mod failure;
mod headers;
mod policy;
mod ranges;
mod redirect;
mod resolver;
#[cfg(test)]
mod tests;
mod trust;

pub use address::is_public;
pub use body::Body;
pub use client::Client;
pub use exchange::{Limits, Provenance, Redirects, Request, Response};
pub use failure::{BuildError, Failure};
pub use headers::{header_forbidden, header_of_message};
pub use policy::{HostRules, Policy, ProxySettings};
pub use resolver::{Resolver, SystemResolver};
