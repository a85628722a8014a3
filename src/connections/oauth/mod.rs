//! OAuth as a client: what is asked of a provider's token endpoint, and what its answers mean (`connections.md` 6.4, 10.3).
//!
//! Start with [`ask`]: one request to an [`Endpoint`] for a [`Grant`], which answers [`Tokens`] or a [`Refusal`]. Providers
//! write token requests and answers in ways RFC 6749 does not know (JSON bodies, nested members, errors with status 200), so
//! both are described by the provider's file rather than by a library's types. Nothing here keeps anything.

mod answer;
mod assertion;
mod client;
mod endpoint;
mod refusal;
mod request;
mod revoke;
#[cfg(test)]
mod tests;
mod tokens;

pub use assertion::{Signer, SigningAlgorithm};
pub use client::{Authentication, Client};
pub use endpoint::Endpoint;
pub use refusal::Refusal;
pub use request::Grant;
pub use revoke::{Revocation, revoke};
pub use tokens::Tokens;

use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};

use crate::egress::{self, Limits, Redirects};

/// The bounds of a token request (`connections.md` 10.2, step 5).
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(20),
    whole: Duration::from_secs(20),
    body_bytes: 256 << 10,
};

/// Asks once for tokens; a request is never repeated here, since a code or a refresh token may be good for one alone.
///
/// # Errors
/// What the endpoint refused, or why nobody knows what it did; never a word of the provider's own.
pub async fn ask(
    egress: &egress::Client,
    endpoint: &Endpoint,
    grant: Grant<'_>,
    now_ms: i64,
) -> Result<Tokens, Refusal> {
    let (headers, body) = request::written(endpoint, grant, now_ms);
    let request = egress::Request {
        method: http::Method::POST,
        url: endpoint.url.clone(),
        headers,
        body: Some(body),
        provenance: endpoint.provenance,
        limits: LIMITS,
        redirects: Redirects::None,
    };
    let response = egress.send(request).await.map_err(|failure| Refusal::unclear(None, Some(failure)))?;
    let status = response.status.as_u16();
    let text = |name| response.headers.get(name).and_then(|value| value.to_str().ok());
    let (content_type, retry_after) = (text(CONTENT_TYPE).map(str::to_owned), text(RETRY_AFTER).and_then(seconds));
    let read = match response.body.bytes().await {
        Ok(body) => answer::read((status, content_type.as_deref(), &body), endpoint, now_ms),
        Err(failure) => Err(Refusal::unclear(Some(status), Some(failure))),
    };
    read.map_err(|refusal| Refusal { retry_after_s: retry_after, ..refusal })
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3), within what `connections.md` 10.3 obeys; a date is not looked at.
fn seconds(text: &str) -> Option<u64> {
    const MOST: u64 = 60 * 60;
    Some(text.trim().parse::<u64>().ok()?.clamp(1, MOST))
}
