//! Trying a connection before it stands: does its server answer, and does it take the credential (`connections.md` 8).

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method as HttpMethod};
use serde_json::Value;
use url::Url;

use super::live::{self, Live, Wire};
use super::registry::Server;
use super::scrub::Scrubber;
use super::upstream::{Because, Trouble};
use super::{ToolServers, http_api};
use crate::connections::catalogue::{Method, Resolved};
use crate::connections::{Placed, Record};
use crate::egress::{Failure, Limits, Provenance, Redirects, Request};

/// Why a connection did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// The server refuses the credential.
    Refused,
    /// The server cannot be reached or does not answer as it should; the words are scrubbed.
    Unreachable(String),
    /// The rules of outgoing requests refuse its address.
    NotAllowed,
}

impl From<Trouble> for Probe {
    fn from(trouble: Trouble) -> Self {
        match trouble.because {
            Because::KeyRefused => Self::Refused,
            Because::NotAllowed => Self::NotAllowed,
            _ => Self::Unreachable(trouble.detail),
        }
    }
}

impl From<Failure> for Probe {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotAllowed { .. } => Self::NotAllowed,
            other => Self::Unreachable(other.to_string()),
        }
    }
}

/// An account at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// What it is called, for people.
    pub label: String,
    /// Its stable id, where the provider says it.
    pub id: Option<String>,
}

/// What a request of a provider's file asks for.
struct Asking<'a> {
    method: Method,
    url: &'a str,
    headers: &'a std::collections::BTreeMap<String, String>,
    body: Option<&'a Value>,
}

impl ToolServers {
    /// Opens the server of `record` with `placed` and lists its tools; a provider's own proving request goes first.
    ///
    /// # Errors
    /// 401 is [`Probe::Refused`]; a 403 counts as reached, with no tool known.
    pub async fn probe(&self, record: &Record, placed: Option<Placed>) -> Result<usize, Probe> {
        let resolved = http_api::resolved(&self.needs.connections, record)?;
        if let Some(resolved) = &resolved {
            self.verify(resolved, placed.as_ref()).await?;
        }
        let server = Server::of_connection(record.clone(), &self.needs.settings);
        // Not the kept one: what is tried here may never stand.
        let live: Live = self.unkept(&server, placed).await?;
        let listed = match &live.wire {
            Wire::Mcp(upstream) => {
                let listed = upstream.list().await.map(|listing| listing.tools.len());
                live.close().await;
                listed
            }
            Wire::Http(api) => {
                self.read_document(api, false).await.map(|document| document.map_or(0, |document| document.tools.len()))
            }
        };
        match listed {
            Err(trouble) if trouble.is_forbidden() => Ok(0),
            listed => Ok(listed?),
        }
    }

    /// The account a provider's file says to ask for; `None` where it does not say, or the asking fails.
    pub async fn identity(&self, record: &Record, placed: Option<&Placed>) -> Option<Account> {
        let resolved = http_api::resolved(&self.needs.connections, record).ok()??;
        let identity = resolved.identity.as_ref()?;
        let asking = Asking {
            method: identity.method.unwrap_or(Method::Get),
            url: identity.url.as_deref()?,
            headers: &identity.headers,
            body: identity.body.as_ref(),
        };
        let (status, answer) = self.ask_provider(&resolved, asking, placed).await.ok()?;
        if !(200..300).contains(&status) {
            return None;
        }
        let (label, id) = identity.read(&answer);
        let label = label.or_else(|| id.clone())?;
        let scrubber = Scrubber::new(placed.map(|placed| placed.bare.as_bytes().to_vec()));
        let label = scrubber.text(&label).chars().filter(|character| !character.is_control()).collect();
        Some(Account { label, id })
    }

    async fn verify(&self, resolved: &Resolved, placed: Option<&Placed>) -> Result<(), Probe> {
        let Some(verify) = &resolved.verify else { return Ok(()) };
        let asking =
            Asking { method: verify.method, url: &verify.url, headers: &verify.headers, body: verify.body.as_ref() };
        let (status, answer) = self.ask_provider(resolved, asking, placed).await?;
        if verify.is_refused(status) || (verify.is_ok(status) && !verify.holds(&answer)) {
            return Err(Probe::Refused);
        }
        // 403: the service knows the credential, and its rights are the person's matter.
        if verify.is_ok(status) || status == 403 {
            return Ok(());
        }
        Err(Probe::Unreachable(format!("The service answered {status}.")))
    }

    async fn ask_provider(
        &self,
        resolved: &Resolved,
        asking: Asking<'_>,
        placed: Option<&Placed>,
    ) -> Result<(u16, Value), Probe> {
        let unusable = || Probe::Unreachable("The provider's request has no address that can be used.".into());
        let mut url = Url::parse(asking.url).map_err(|_| unusable())?;
        let written = resolved.headers.iter().chain(asking.headers);
        let mut headers: HeaderMap = live::headers(written.map(|(name, value)| (name.as_str(), value.as_str())))?;
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let body = asking.body.map(|body| Bytes::from(body.to_string()));
        if body.is_some() {
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        let own = Url::parse(&resolved.url).is_ok_and(|base| base.origin() == url.origin());
        if let Some(placed) = placed {
            // The loader of provider files sees to it that these addresses are the provider's own.
            live::place(placed, &mut headers, &mut url)?;
        }
        let request = Request {
            method: match asking.method {
                Method::Get => HttpMethod::GET,
                Method::Post => HttpMethod::POST,
            },
            url,
            headers,
            body,
            provenance: if own { Provenance::Person } else { Provenance::Learned },
            limits: Limits::METADATA,
            redirects: Redirects::None,
        };
        let response = self.needs.egress.send(request).await?;
        let status = response.status.as_u16();
        let bytes = response.body.bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }
}
