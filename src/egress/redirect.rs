//! Redirects of documents and metadata.

use http::header::{ACCEPT, ACCEPT_LANGUAGE, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::{Failure, Provenance, Redirects, Request};

/// The request for the next hop, or `None` where this answer is handed back.
///
/// # Errors
///
/// [`Failure::NotAllowed`] where the hop leads to another host, from https to http, or is one too many.
pub(super) fn next_hop(request: &Request, status: StatusCode, headers: &HeaderMap) -> Result<Option<Request>, Failure> {
    let (left, further): (u8, fn(u8) -> Redirects) = match request.redirects {
        Redirects::None => return Ok(None),
        Redirects::SameHost(left) => (left, Redirects::SameHost),
        Redirects::SameOrigin(left) => (left, Redirects::SameOrigin),
    };
    let repeatable = matches!(request.method, Method::GET | Method::HEAD);
    let redirects = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = headers.get(LOCATION).filter(|_| repeatable && redirects);
    let Some(location) = location else {
        return Ok(None);
    };
    let refused = |rule| Failure::NotAllowed { rule };
    let left = left.checked_sub(1).ok_or(refused("redirects"))?;
    let location = location.to_str().map_err(|_| refused("redirect_syntax"))?;
    let mut url = request.url.join(location).map_err(|_| refused("redirect_syntax"))?;
    url.set_fragment(None);
    if url.host() != request.url.host() {
        return Err(refused("redirect_host"));
    }
    if url.scheme() != request.url.scheme() && url.scheme() != "https" {
        return Err(refused("redirect_scheme"));
    }
    if matches!(request.redirects, Redirects::SameOrigin(_)) && url.origin() != request.url.origin() {
        return Err(refused("redirect_origin"));
    }
    Ok(Some(Request {
        method: request.method.clone(),
        provenance: provenance(request, &url),
        url,
        headers: harmless(&request.headers),
        body: None,
        limits: request.limits,
        redirects: further(left),
    }))
}

/// Another port is another server, which nobody but the answer named.
fn provenance(request: &Request, url: &Url) -> Provenance {
    if url.origin() == request.url.origin() { request.provenance } else { Provenance::Learned }
}

/// A credential may be in any header, so only those that certainly hold none go on.
fn harmless(headers: &HeaderMap) -> HeaderMap {
    let kept = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT].into_iter();
    kept.filter_map(|name| headers.get(&name).cloned().map(|value| (name, value))).collect()
}
