//! Reading the document of an HTTP API, and those a person gives.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::header::{ACCEPT, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::time::timeout;
use url::Url;

use super::{From, HttpApi};
use crate::egress::{Limits, Provenance, Redirects, Request};
use crate::error::{Problem, Result};
use crate::tool_servers::ToolServers;
use crate::tool_servers::openapi::{self, Bounds, Document, Place, Placement};
use crate::tool_servers::upstream::{Because, Trouble};

/// The most hops to a document.
const HOPS: u8 = 3;
/// To read a document, once it is there.
const READING: Duration = Duration::from_secs(20);

impl ToolServers {
    /// The document of an HTTP API, read anew; `None` where its address says that it is as it was.
    ///
    /// `has_list` tells whether there is a list to keep in that case.
    pub(in crate::tool_servers) async fn read_document(
        &self,
        api: &HttpApi,
        has_list: bool,
    ) -> Result<Option<Document>, Trouble> {
        let (text, toolkit) = match &api.document {
            From::Address(url, provenance) => {
                let marks = if has_list { api.marks() } else { HeaderMap::new() };
                let fetched = self.fetch(url.clone(), *provenance, api.bounds.bytes, marks).await?;
                let Some((text, marks)) = fetched else { return Ok(None) };
                api.mark(marks);
                (text, None)
            }
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
        Ok(Some(document))
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
        let fetched = self.fetch(url, Provenance::Person, Bounds::PERSON.bytes, HeaderMap::new()).await;
        let fetched = fetched.map_err(|trouble| match trouble.because {
            Because::Unreachable => {
                Problem::unavailable("The document cannot be fetched just now, so nothing was added.")
            }
            _ => Problem::invalid(AT, trouble.detail),
        })?;
        fetched.map(|(text, _)| text).ok_or_else(|| Problem::invalid(AT, "holds no document"))
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

    /// The text at an address with the marks it can be asked again by; `None` where `marks` still hold.
    async fn fetch(
        &self,
        url: Url,
        provenance: Provenance,
        bytes: usize,
        marks: HeaderMap,
    ) -> Result<Option<(String, HeaderMap)>, Trouble> {
        let (mut headers, is_again) = (marks.clone(), !marks.is_empty());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, application/yaml;q=0.9, */*;q=0.5"));
        let limits = Limits { body_bytes: bytes, ..Limits::DOCUMENT };
        let redirects = Redirects::SameHost(HOPS);
        let request = Request { method: Method::GET, url, headers, body: None, provenance, limits, redirects };
        let response = self.needs.egress.send(request).await?;
        if response.status == StatusCode::NOT_MODIFIED && is_again {
            return Ok(None);
        }
        if response.status != StatusCode::OK {
            return Err(Trouble::failing(format!(
                "The address of the document answered {}.",
                response.status.as_u16()
            )));
        }
        let mut marks = HeaderMap::new();
        for (theirs, ours) in [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)] {
            if let Some(value) = response.headers.get(theirs) {
                marks.insert(ours, value.clone());
            }
        }
        let bytes = response.body.bytes().await?;
        let text = String::from_utf8(bytes.into());
        text.map(|text| Some((text, marks))).map_err(|_| Trouble::failing("The document is not text in UTF-8."))
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
