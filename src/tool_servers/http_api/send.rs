//! A call of an HTTP API: the request with headers and credential, and what is done when it fails (`tool-servers.md` 2.4).

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::{From, HttpApi};
use crate::clock::Clock;
use crate::connections::catalogue::ValueIn;
use crate::egress::{Limits, Provenance, Redirects, Request};
use crate::tool_servers::live;
use crate::tool_servers::openapi::{Outcome, Prepared, Tool};
use crate::tool_servers::patience::{Repeat, Tries, retry_after};
use crate::tool_servers::upstream::{Because, Trouble};

/// What a service answered, not scrubbed.
pub(in crate::tool_servers) struct HttpAnswer {
    pub(in crate::tool_servers) status: u16,
    pub(in crate::tool_servers) outcome: Outcome,
    pub(in crate::tool_servers) body: Bytes,
    pub(in crate::tool_servers) request_id: Option<String>,
    pub(in crate::tool_servers) retry_after: Option<Duration>,
}

impl HttpApi {
    /// Sends a request and reads its answer. `repeatable` where a second one does no harm.
    pub(in crate::tool_servers) async fn call(
        &self,
        clock: &dyn Clock,
        tool: &Tool,
        prepared: &Prepared,
        repeatable: bool,
    ) -> Result<HttpAnswer, Trouble> {
        let repeat = Repeat::of(tool.hints.read_only, repeatable);
        let mut tries = Tries::default();
        loop {
            let response = match self.egress.send(self.request(tool, prepared)?).await {
                Ok(response) => response,
                Err(failure) if tries.after(failure, repeat) => continue,
                Err(failure) => return Err(Trouble::from(failure)),
            };
            let (status, headers) = (response.status, response.headers);
            let retry_after = retry_after(clock, &headers);
            let wait = match status {
                StatusCode::UNAUTHORIZED => {
                    let refused = Trouble::new(Because::KeyRefused, "The service refuses the credential.");
                    return Err(refused.of_status(status));
                }
                StatusCode::TOO_MANY_REQUESTS => match tries.after_limit(retry_after) {
                    Some(wait) => Some(wait),
                    None => {
                        let because = Because::RateLimited { retry_after };
                        let limited = Trouble::new(because, "The service asks to be called less often.");
                        return Err(limited.of_status(status).after_sending());
                    }
                },
                StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                    tries.after_gateway(retry_after, repeat)
                }
                _ => None,
            };
            if let Some(wait) = wait {
                tokio::time::sleep(wait).await;
                continue;
            }
            let body = match response.body.bytes().await {
                Ok(body) => body,
                Err(failure) if tries.after(failure, repeat) => continue,
                Err(failure) => return Err(Trouble::from(failure).after_sending()),
            };
            let outcome = tool.answer(status.as_u16(), &headers, &body);
            let request_id = self.request_id.as_ref().and_then(|name| headers.get(name.as_str())?.to_str().ok());
            return Ok(HttpAnswer {
                status: status.as_u16(),
                outcome,
                body,
                request_id: request_id.map(|id| id.chars().take(256).collect()),
                retry_after,
            });
        }
    }

    /// The request with the entry's headers and the credential.
    fn request(&self, tool: &Tool, prepared: &Prepared) -> Result<Request, Trouble> {
        let mut url = prepared.url.clone();
        let mut headers = HeaderMap::new();
        for (name, value) in &prepared.headers {
            headers.insert(name.clone(), value.clone());
        }
        if let Some(body) = &prepared.body {
            let kind = HeaderValue::from_str(&body.media_type)
                .map_err(|_| Trouble::failing("The body's type cannot be sent."))?;
            headers.insert(CONTENT_TYPE, kind);
        }
        // Every tool's server is of the one base origin or of one the entry names: reading the document saw to it.
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.clone());
        }
        if let Some(placed) = &self.credential {
            if placed.place == ValueIn::Query && url.query_pairs().any(|(name, _)| name == placed.name.as_str()) {
                return Err(Trouble::failing("An argument stands where the credential belongs."));
            }
            live::place(placed, &mut headers, &mut url)?;
        }
        if let Some(cookies) = headers.get_mut(COOKIE) {
            cookies.set_sensitive(true);
        }
        Ok(Request {
            method: prepared.method.clone(),
            url,
            headers,
            body: prepared.body.as_ref().map(|body| Bytes::from(body.bytes.clone())),
            provenance: self.provenance_of(tool),
            limits: Limits::CALL,
            redirects: Redirects::None,
        })
    }

    /// Whoever wrote the entry answers for its own addresses; where a document chose the server, it was learned.
    fn provenance_of(&self, tool: &Tool) -> Provenance {
        let origin = tool.server.origin();
        let own = [&self.placement.base_url, &self.placement.document_url];
        let is_own =
            own.into_iter().flatten().any(|url| url.origin() == origin) || self.placement.hosts.contains(&origin);
        // A document in the operator's own file or settings is the operator's word.
        let written = self.provenance == Provenance::Operator && matches!(self.document, From::File(_) | From::Text(_));
        if is_own || written { self.provenance } else { Provenance::Learned }
    }
}
