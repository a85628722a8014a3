//! Addresses that nobody here wrote: a server or its issuer names them (`connections.md` 16.3, provenance).

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use url::{Host, Url};

use super::Refused;
use crate::egress::{self, Limits, Provenance, Redirects};
use crate::json;

/// The most levels of a document.
const MAX_DEPTH: usize = 16;

/// Judges and reads what is named through the server of one connection.
#[derive(Clone, Copy)]
pub(in crate::connections) struct Learned<'a> {
    pub(super) egress: &'a egress::Client,
    /// The connection's own server.
    pub(super) server: &'a Url,
    /// Whether all of this is on the machine of the people it is for.
    pub(super) local_mode: bool,
}

impl Learned<'_> {
    /// Who counts as the writer of an address: the person for the origin they named, and for loopback where the server is
    /// there too and the people are at this machine (decision 0009); otherwise whoever said it.
    pub(in crate::connections) fn provenance(&self, url: &Url) -> Provenance {
        let both_here = self.local_mode && is_loopback(self.server) && is_loopback(url);
        if url.origin() == self.server.origin() || both_here { Provenance::Person } else { Provenance::Learned }
    }

    /// An address as it was written, if it may be opened.
    pub(super) fn address(&self, text: &str) -> Option<Url> {
        let url = Url::parse(text).ok()?;
        self.egress.check_address(text, self.provenance(&url)).ok()
    }

    /// The JSON object at an address; `None` where there is none.
    pub(super) async fn document(&self, url: Url, what: &'static str) -> Result<Option<Value>, Refused> {
        let request = egress::Request {
            method: Method::GET,
            headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
            body: None,
            provenance: self.provenance(&url),
            url,
            limits: Limits::METADATA,
            redirects: Redirects::SameHost(3),
        };
        let answer = self.egress.send(request).await.map_err(|failure| Refused::of(failure, what))?;
        if answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS {
            return Err(Refused::Unreachable(what));
        }
        if answer.status != StatusCode::OK {
            return Ok(None);
        }
        let body = answer.body.bytes().await.map_err(|failure| Refused::of(failure, what))?;
        // Some servers answer every path with a page for people: that is no document.
        Ok(std::str::from_utf8(&body).ok().and_then(|text| json::strict(text, MAX_DEPTH)).filter(Value::is_object))
    }
}

fn is_loopback(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && here
}
