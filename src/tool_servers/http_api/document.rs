//! Reading the document of an HTTP API, and those a person gives.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::time::timeout;
use url::Url;

use super::{From, HttpApi};
use crate::egress::{Limits, Provenance, Redirects, Request};
use crate::error::{Problem, Result};
use crate::tool_servers::ToolServers;
use crate::tool_servers::openapi::{self, Bounds, Document, Place, Placement};
use crate::tool_servers::upstream::Trouble;

/// The most hops to a document.
const HOPS: u8 = 3;
/// To read a document, once it is there.
const READING: Duration = Duration::from_secs(20);

impl ToolServers {
    /// The document of an HTTP API, fetched and read anew.
    pub(in crate::tool_servers) async fn read_document(&self, api: &HttpApi) -> Result<Document, Trouble> {
        let (text, toolkit) = match &api.document {
            From::Address(url, provenance) => (self.fetch(url.clone(), *provenance).await?, None),
            From::File(path) => {
                let read = tokio::fs::read_to_string(path).await;
                (read.map_err(|_| Trouble::failing("The file of the server's document cannot be read."))?, None)
            }
            From::Text(text) => (text.to_string(), None),
            From::Toolkit(text, base) => (text.to_string(), Some(base.clone())),
        };
        let (bounds, placement) = (api.bounds, api.placement.clone());
        let document = self
            .parse(move || match toolkit {
                Some(base) => openapi::toolkit(&text, &base),
                None => openapi::read(&text, bounds, &placement),
            })
            .await?
            .map_err(|refusal| Trouble::failing(refusal.detail))?;
        if document.tools.is_empty() {
            return Err(Trouble::failing("The document describes no operation that can be called."));
        }
        Ok(document)
    }

    /// The text of a document a person named.
    ///
    /// # Errors
    /// `invalid_input` at `/entry/document` when the address is not allowed or holds no text within the bounds; 503
    /// when it cannot be reached.
    pub async fn fetch_document(&self, url: &str) -> Result<String> {
        const AT: &str = "/entry/document";
        let egress = &self.needs.egress;
        let url = egress
            .check_address(url, Provenance::Person)
            .map_err(|failure| Problem::invalid(AT, failure.to_string()))?;
        self.fetch(url, Provenance::Person).await.map_err(|trouble| match trouble.because {
            crate::tool_servers::upstream::Because::Unreachable => {
                Problem::unavailable("The document cannot be fetched just now, so nothing was added.")
            }
            _ => Problem::invalid(AT, trouble.detail),
        })
    }

    /// The base address of a document a person gave, when it can become tools of a connection; else why it cannot.
    pub async fn check_document(
        &self,
        text: &str,
        url: Option<&str>,
        document_url: Option<&str>,
    ) -> Result<Url, String> {
        let (text, placement) = (text.to_owned(), placement_of_hand(url, document_url, None));
        let parsed = self.parse(move || openapi::read(&text, Bounds::PERSON, &placement)).await;
        let document = parsed.map_err(|trouble| trouble.detail)?.map_err(|refusal| refusal.detail)?;
        match document.unusable.first() {
            _ if !document.tools.is_empty() => Ok(document.base_url),
            Some(first) => Err(format!(
                "describes no operation that can be called; {} {}, for one: {}",
                first.method, first.path, first.detail
            )),
            None => Err("describes no operation".to_owned()),
        }
    }

    async fn fetch(&self, url: Url, provenance: Provenance) -> Result<String, Trouble> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, application/yaml;q=0.9, */*;q=0.5"));
        let limits = match provenance {
            Provenance::Operator => Limits { body_bytes: Bounds::OPERATOR.bytes, ..Limits::DOCUMENT },
            Provenance::Person | Provenance::Learned => Limits::DOCUMENT,
        };
        let redirects = Redirects::SameHost(HOPS);
        let request = Request { method: Method::GET, url, headers, body: None, provenance, limits, redirects };
        let response = self.needs.egress.send(request).await?;
        if response.status != StatusCode::OK {
            return Err(Trouble::failing(format!(
                "The address of the document answered {}.",
                response.status.as_u16()
            )));
        }
        let bytes = response.body.bytes().await?;
        String::from_utf8(bytes.into()).map_err(|_| Trouble::failing("The document is not text in UTF-8."))
    }

    async fn parse<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
        let late = || Trouble::failing("The document could not be read in time.");
        let place = self.parses.clone().acquire_owned();
        let place = timeout(READING, place).await.map_err(|_| late())?.map_err(|_| late())?;
        let task = tokio::task::spawn_blocking(move || {
            let read = read();
            drop(place);
            read
        });
        timeout(READING, task)
            .await
            .map_err(|_| late())?
            .map_err(|_| Trouble::failing("The document could not be read."))
    }
}

/// Where the operations of a document given by hand are sent.
pub(in crate::tool_servers) fn placement_of_hand(
    url: Option<&str>,
    document_url: Option<&str>,
    credential: Option<(Place, String)>,
) -> Placement {
    let parse = |text: &str| Url::parse(text).ok();
    let base_url = url.and_then(parse);
    Placement {
        allow_http: base_url.as_ref().is_some_and(|url| url.scheme() == "http"),
        base_url,
        document_url: document_url.and_then(parse),
        hosts: Vec::new(),
        server_variables: BTreeMap::new(),
        credential,
        hints: BTreeMap::new(),
        include: None,
        exclude: BTreeSet::new(),
        rename: BTreeMap::new(),
    }
}
