//! What a server says about who may call it (RFC 9728).

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use url::Url;

use super::learned::Learned;
use super::{Challenge, Refused, scopes};
use crate::egress::{self, Limits, Redirects};
use crate::well_known;

/// The most issuers of a document that are looked at.
const MOST_ISSUERS: usize = 16;
const WHAT: &str = "the server's own metadata";
/// The first request of any client: a server that wants a sign-in answers it with a challenge.
const FIRST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"playmaker","version":"1"}}}"#;

/// A protected server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Protected {
    /// What tokens are asked for (RFC 8707), as the server writes it.
    pub(super) resource: String,
    /// Who issues them, as it is written there.
    pub(super) issuer: String,
    /// Scopes to ask for.
    pub(super) scopes: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    resource: String,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
}

/// Asks the server, without a credential, and reads the document that tells who signs people in.
pub(super) async fn ask(learned: &Learned<'_>) -> Result<Protected, Refused> {
    let challenge = challenge(learned).await?;
    let document = document(learned, &challenge).await?;
    if let Some(document) = &document
        && !covers(&document.resource, learned.server)
    {
        return Err(Refused::MetadataMismatch("the metadata is of another resource"));
    }
    let (resource, issuers, supported) = match document {
        Some(document) => (document.resource, document.authorization_servers, document.scopes_supported),
        None => (canonical(learned.server), None, None),
    };
    let issuer = match issuers.filter(|issuers| !issuers.is_empty()) {
        None => learned.server.origin().ascii_serialization(),
        Some(issuers) => issuers
            .into_iter()
            .take(MOST_ISSUERS)
            .find(|issuer| learned.address(issuer).is_some_and(|url| url.query().is_none()))
            .ok_or(Refused::MetadataMismatch("no issuer of the server may be asked"))?,
    };
    let scopes = challenge.scopes.unwrap_or_else(|| scopes::of(supported.iter().flatten().map(String::as_str)));
    Ok(Protected { resource, issuer, scopes })
}

/// A server's address as clients name it: without the slash of an empty path.
fn canonical(server: &Url) -> String {
    match (server.path(), server.query()) {
        ("/", None) => server.origin().ascii_serialization(),
        _ => server.to_string(),
    }
}

/// The challenge of a server that is called without a credential.
async fn challenge(learned: &Learned<'_>) -> Result<Challenge, Refused> {
    let request = egress::Request {
        method: Method::POST,
        url: learned.server.clone(),
        headers: HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
        ]),
        body: Some(Bytes::from_static(FIRST.as_bytes())),
        provenance: learned.provenance(learned.server),
        limits: Limits::METADATA,
        redirects: Redirects::None,
    };
    let answer = learned.egress.send(request).await.map_err(|failure| Refused::of(failure, "the server"))?;
    if answer.status.is_server_error() {
        return Err(Refused::Unreachable("the server"));
    }
    Ok(if answer.status == StatusCode::UNAUTHORIZED { Challenge::of(&answer.headers) } else { Challenge::default() })
}

/// The document that the challenge names, on the server's own origin; where it names none, that of the well-known places.
async fn document(learned: &Learned<'_>, challenge: &Challenge) -> Result<Option<Document>, Refused> {
    let named = challenge.resource_metadata.as_deref().and_then(|text| learned.address(text));
    let named = named.filter(|url| url.origin() == learned.server.origin());
    let addresses = named.map_or_else(|| well_known::of_resource(learned.server), |named| vec![named]);
    for address in addresses {
        if let Some(value) = learned.document(address, WHAT).await? {
            let unreadable = |_| Refused::MetadataMismatch("the server's metadata has another form");
            return serde_json::from_value(value).map(Some).map_err(unreadable);
        }
    }
    Ok(None)
}

/// Whether a resource is the server or holds it: the same origin, and its path or one above it, up to a boundary.
pub(super) fn covers(resource: &str, server: &Url) -> bool {
    let odd = |character: char| character.is_whitespace() || character.is_control() || matches!(character, '\\' | '#');
    let Ok(url) = Url::parse(resource) else { return false };
    if resource.contains(odd) || !url.username().is_empty() || url.password().is_some() {
        return false;
    }
    if url.origin() != server.origin() || !url.origin().is_tuple() {
        return false;
    }
    if url.path() == server.path() && url.query() == server.query() {
        return true;
    }
    let rest = server.path().strip_prefix(url.path());
    url.query().is_none()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || url.path().ends_with('/'))
}
