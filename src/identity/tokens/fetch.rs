//! Fetches a small JSON document of an issuer, bounded in size and time and never from another origin.

use std::fmt;
use std::time::Duration;

use http::header::{ACCEPT, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use url::Url;

use crate::egress;

/// From the start until the body is read, redirects included; 256 KiB at most.
const LIMITS: egress::Limits = egress::Limits {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(5),
    whole: Duration::from_secs(5),
    body_bytes: 256 << 10,
};

/// The most redirects, each on the same origin.
const REDIRECTS: egress::Redirects = egress::Redirects::SameOrigin(3);

/// The most levels of arrays and objects.
const MAX_DEPTH: usize = 16;

/// A document of an issuer and the head it came with.
pub(super) struct Fetched {
    pub(super) headers: HeaderMap,
    pub(super) document: Value,
}

/// Why a document of an issuer could not be had; words for the log.
#[derive(Debug)]
pub(super) enum Fault {
    /// No usable answer.
    Egress(egress::Failure),
    /// Another status than 200.
    Status(StatusCode),
    /// Not an object of JSON with each member once.
    NotJson,
    /// JSON, but not what it has to be.
    Content(&'static str),
    /// It failed before and is not tried again yet.
    Waiting,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Egress(failure) => failure.fmt(f),
            Self::Status(status) => write!(f, "The issuer answered with status {}.", status.as_u16()),
            Self::NotJson => f.write_str("The issuer's answer is no object of JSON."),
            Self::Content(what) => f.write_str(what),
            Self::Waiting => f.write_str("The last try failed and the next one is not due yet."),
        }
    }
}

/// The document at `url`, an address the operator wrote or the issuer they trust named.
pub(super) async fn json(egress: &egress::Client, url: &Url) -> Result<Fetched, Fault> {
    let request = egress::Request {
        method: Method::GET,
        url: url.clone(),
        headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
        body: None,
        provenance: egress::Provenance::Operator,
        limits: LIMITS,
        redirects: REDIRECTS,
    };
    let answer = egress.send(request).await.map_err(Fault::Egress)?;
    if answer.status != StatusCode::OK {
        return Err(Fault::Status(answer.status));
    }
    let body = answer.body.bytes().await.map_err(Fault::Egress)?;
    let text = std::str::from_utf8(&body).map_err(|_| Fault::NotJson)?;
    let document = crate::json::strict(text, MAX_DEPTH).filter(Value::is_object).ok_or(Fault::NotJson)?;
    Ok(Fetched { headers: answer.headers, document })
}
