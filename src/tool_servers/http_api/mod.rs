//! An HTTP API as a tool server: its document, and its calls with the entry's headers and credential.

mod document;
mod send;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use url::{Origin, Url};

pub(super) use document::placement_of_hand;
pub(super) use send::HttpAnswer;

use super::live;
use super::openapi::{Bounds, HintsGiven, Place, Placement};
use super::upstream::Trouble;
use crate::config::{Document, OpenApi};
use crate::connections::catalogue::{Resolved, Source, ValueIn};
use crate::connections::{Connections, Placed, Record};
use crate::egress::{self, Policy, Provenance};

const HOUR_MS: i64 = 3_600_000;

/// An HTTP API. It holds the credential, so it has no `Debug`.
pub(super) struct HttpApi {
    document: From,
    bounds: Bounds,
    placement: Placement,
    headers: HeaderMap,
    credential: Option<Placed>,
    /// Who wrote the address of the API itself.
    provenance: Provenance,
    request_id: Option<String>,
    refresh_ms: i64,
    egress: egress::Client,
    /// What the document's address can be asked by whether it changed (RFC 9110, section 13).
    marks: Mutex<HeaderMap>,
}

/// Where the document comes from.
pub(super) enum From {
    Address(Url, Provenance),
    File(PathBuf),
    Text(Arc<str>),
    Toolkit(Arc<str>, Url),
}

impl HttpApi {
    /// One the operator wrote.
    pub(super) fn of_operator(
        api: &OpenApi,
        request_id: Option<String>,
        egress: egress::Client,
    ) -> Result<Self, Trouble> {
        let (document, document_url) = match &api.document {
            Document::Address(url) => (From::Address(url.clone(), Provenance::Operator), Some(url.clone())),
            Document::File(path) => (From::File(path.clone()), None),
            Document::Text(text) => (From::Text(Arc::from(text.as_str())), None),
        };
        let hints = api.hints.iter().map(|(tool, hints)| {
            let given = HintsGiven {
                read_only: hints.read_only_hint,
                destructive: hints.destructive_hint,
                idempotent: hints.idempotent_hint,
            };
            (tool.clone(), given)
        });
        Ok(Self {
            document,
            bounds: Bounds::OPERATOR,
            placement: Placement {
                base_url: api.url.clone(),
                document_url,
                hosts: origins(&api.hosts),
                allow_http: true,
                server_variables: api.server_variables.clone(),
                credential: None,
                hints: hints.collect(),
                include: api.include.clone().map(|names| names.into_iter().collect()),
                exclude: api.exclude.iter().cloned().collect(),
                rename: api.rename.clone(),
            },
            headers: live::headers(api.headers.iter().map(|(name, value)| (name.as_str(), value.expose())))?,
            credential: None,
            provenance: Provenance::Operator,
            request_id,
            refresh_ms: i64::try_from(api.refresh.as_millis()).unwrap_or(24 * HOUR_MS),
            egress,
            marks: Mutex::default(),
        })
    }

    fn marks(&self) -> HeaderMap {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn mark(&self, marks: HeaderMap) {
        *self.marks.lock().unwrap_or_else(PoisonError::into_inner) = marks;
    }

    /// How long its list is fresh.
    pub(super) fn refresh_ms(&self) -> i64 {
        self.refresh_ms
    }
}

/// One a person connected, by a provider or by hand.
pub(super) async fn of_connection(
    connections: &Connections,
    egress: &egress::Client,
    record: &Record,
    credential: Option<Placed>,
) -> Result<HttpApi, Trouble> {
    let text = match record.provider {
        Some(_) => None,
        None => connections
            .document(&record.org, &record.id)
            .await
            .map_err(|_| Trouble::failing("Its document cannot be read just now."))?,
    };
    build(connections, egress, record, credential, text)
}

fn build(
    connections: &Connections,
    egress: &egress::Client,
    record: &Record,
    credential: Option<Placed>,
    text: Option<String>,
) -> Result<HttpApi, Trouble> {
    let place = credential.as_ref().map(|placed| (place_of(placed.place), placed.name.clone()));
    let by_hand = placement_of_hand(record.entry.url.as_deref(), record.entry.document.as_deref(), place.clone());
    let mut written = record.entry.headers.clone();
    let (document, bounds, placement, refresh_ms) = match resolved(connections, record)? {
        None => {
            let text = text.ok_or_else(|| Trouble::failing("The connection has no document."))?;
            (From::Text(Arc::from(text)), Bounds::PERSON, by_hand, 24 * HOUR_MS)
        }
        Some(resolved) => {
            let base = record.entry.url.clone().unwrap_or_else(|| resolved.url.clone());
            let base =
                Url::parse(&base).map_err(|_| Trouble::failing("The provider has no address that can be used."))?;
            written = resolved.headers.clone().into_iter().chain(written).collect();
            let hours = i64::from(resolved.server.refresh_hours());
            let document = from(&resolved, &base)?;
            (document, Bounds::OPERATOR, placement_of_provider(&resolved, base, place), hours * HOUR_MS)
        }
    };
    Ok(HttpApi {
        document,
        bounds,
        placement,
        headers: live::headers(written.iter().map(|(name, value)| (name.as_str(), value.as_str())))?,
        credential,
        provenance: Provenance::Person,
        request_id: None,
        refresh_ms,
        egress: egress.clone(),
        marks: Mutex::default(),
    })
}

/// The provider's server with the connection's placeholders filled in; `None` for one given by hand.
pub(super) fn resolved(connections: &Connections, record: &Record) -> Result<Option<Resolved>, Trouble> {
    let Some(provider) = &record.provider else { return Ok(None) };
    let gone = || Trouble::failing("The provider it came from is no longer what it was.");
    let catalogue = connections.catalogue();
    let provider = catalogue.get(provider).ok_or_else(gone)?;
    catalogue.resolve(provider, &record.placeholders).map(Some).map_err(|_| gone())
}

fn from(resolved: &Resolved, base: &Url) -> Result<From, Trouble> {
    match &resolved.source {
        Some(Source::Toolkit { text, .. }) => Ok(From::Toolkit(text.clone(), base.clone())),
        Some(Source::Document { text }) => Ok(From::Text(text.clone())),
        Some(Source::DocumentAt { url }) => {
            let url = Url::parse(url)
                .map_err(|_| Trouble::failing("The provider's document has no address that can be used."))?;
            Ok(From::Address(url, Provenance::Learned))
        }
        None => Err(Trouble::failing("The provider describes no tools.")),
    }
}

fn placement_of_provider(resolved: &Resolved, base: Url, credential: Option<(Place, String)>) -> Placement {
    let server = &resolved.server;
    let hints = server.hints.iter().map(|(tool, hints)| {
        let given = HintsGiven {
            read_only: hints.read_only_hint,
            destructive: hints.destructive_hint,
            idempotent: hints.idempotent_hint,
        };
        (tool.clone(), given)
    });
    Placement {
        base_url: Some(base),
        document_url: None,
        hosts: origins(&server.hosts),
        allow_http: false,
        server_variables: server.server_variables.clone(),
        credential,
        hints: hints.collect(),
        include: (!server.include.is_empty()).then(|| server.include.iter().cloned().collect()),
        exclude: server.exclude.iter().cloned().collect(),
        rename: server.rename.clone(),
    }
}

fn origins(hosts: &[String]) -> Vec<Origin> {
    hosts.iter().filter_map(|host| Policy::origin(host)).collect()
}

fn place_of(place: ValueIn) -> Place {
    match place {
        ValueIn::Header => Place::Header,
        ValueIn::Query => Place::Query,
        ValueIn::Cookie => Place::Cookie,
    }
}
