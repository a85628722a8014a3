//! What is asked and what comes back.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::Body;

/// Who wrote an address, which decides what it may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provenance {
    /// The operator, in the configuration: any http or https address.
    Operator,
    /// A person, as the address of the connection's own server: public ones, listed private origins and, in local
    /// mode, loopback.
    Person,
    /// A document, a challenge, a redirect or a token answer: public ones alone, even where the same text is listed.
    /// An address whose origin is that of the connection's own server is sent as [`Provenance::Person`] instead.
    Learned,
}

/// What to do with a 3xx answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// It is handed back like any answer.
    None,
    /// GET and HEAD follow at most so many hops on the same host, each checked anew and without a credential.
    SameHost(u8),
    /// As [`Redirects::SameHost`], and scheme and port stay the same too.
    SameOrigin(u8),
}

/// The bounds of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// To resolve, open the socket and agree on TLS.
    pub connect: Duration,
    /// From the start until the head of the answer is there.
    pub first_byte: Duration,
    /// From the start until the body is read.
    pub whole: Duration,
    /// The body in bytes, decompressed.
    pub body_bytes: usize,
}

impl Limits {
    /// A call of a tool.
    pub const CALL: Self = Self {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(30),
        whole: Duration::from_secs(30),
        body_bytes: 16 << 20,
    };
    /// An API document.
    pub const DOCUMENT: Self = Self {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(10),
        whole: Duration::from_secs(20),
        body_bytes: 4 << 20,
    };
    /// Metadata and token answers.
    pub const METADATA: Self = Self { body_bytes: 256 << 10, ..Self::DOCUMENT };
}

/// One request. It holds the caller's credential in its headers, so it has no `Debug`.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// The headers; `Host`, `Content-Length` and `Accept-Encoding` are set by the client.
    pub headers: HeaderMap,
    /// The body, if there is one.
    pub body: Option<Bytes>,
    /// Who wrote the address.
    pub provenance: Provenance,
    /// The bounds.
    pub limits: Limits,
    /// What to do with a 3xx answer.
    pub redirects: Redirects,
}

/// The head of an answer and its body, still to be read.
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers, without those of the encoding that was undone.
    pub headers: HeaderMap,
    /// The body, decompressed and bounded while it is read.
    pub body: Body,
}
