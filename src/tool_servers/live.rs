//! Servers in use: opened with their credential, with the list they gave (`tool-servers.md` 4).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::ToolServers;
use super::http_api::{self, HttpApi};
use super::pace::Pace;
use super::registry::Server;
use super::scrub::Scrubber;
use super::tool::List;
use super::upstream::{HttpEntry, ProcessEntry, Scrub, Surroundings, Trouble, Upstream};
use crate::config::{Target, ToolServer};
use crate::connections::catalogue::ValueIn;
use crate::connections::{Placed, Record};
use crate::egress::Provenance;

/// How long a server nobody uses is kept, and with it its credential.
pub(super) const IDLE: Duration = Duration::from_secs(600);
/// How long a list is fresh where its server says nothing, and the most it may say.
const FRESH_MS: (i64, i64) = (60_000, 3_600_000);
/// How long a list of yesterday still serves a search.
const STALE_MS: i64 = 3_600_000;
/// How soon a list may be read again because a tool is not in it.
const AGAIN_MS: i64 = 5_000;
/// Failures in a row to read a document, within a minute, after which it is left alone for half of one.
const DOCUMENT_FAILURES: (u32, i64, i64) = (5, 60_000, 30_000);

/// One server with one credential: nothing of it is ever shared between orgs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    org: String,
    name: String,
    /// The connection with its revision and the version of its credential, or nothing for the operator's.
    state: String,
}

impl Key {
    fn of(server: &Server, credential: Option<&Placed>) -> Self {
        let state = server.connection.as_ref().map_or_else(String::new, |record| {
            // Tokens may have been renewed since the row was read.
            let version = credential.map_or(record.credential_version, |placed| placed.version);
            format!("{}.{}.{version}", record.id, record.revision)
        });
        Self { org: server.org.clone(), name: server.name.clone(), state }
    }
}

/// A server in use.
pub struct Live {
    key: Key,
    /// The version of the credential it was opened with.
    pub(super) version: i64,
    pub(super) wire: Wire,
    pub(super) scrubber: Arc<Scrubber>,
    pub(super) pace: Pace,
    /// Held while the list is read, so that callers share the reading.
    gate: tokio::sync::Mutex<()>,
    reads: Mutex<Reads>,
}

/// How readings of the list ended.
#[derive(Default)]
struct Reads {
    count: u64,
    last: Option<Result<Arc<List>, Trouble>>,
    last_at: i64,
    /// Failures in a row, and when the first of them was.
    failures: u32,
    failing_since: i64,
}

impl Reads {
    fn ended(&mut self, read: &Result<Arc<List>, Trouble>, now_ms: i64) {
        match read {
            Ok(_) => self.failures = 0,
            Err(_) if self.failures == 0 || now_ms - self.failing_since > DOCUMENT_FAILURES.1 => {
                (self.failures, self.failing_since) = (1, now_ms);
            }
            Err(_) => self.failures += 1,
        }
        self.count += 1;
        self.last_at = now_ms;
        self.last = Some(read.clone());
    }

    /// Whether reading has failed so often that it is left alone for now.
    fn is_paused(&self, now_ms: i64) -> bool {
        let (failures, _, pause) = DOCUMENT_FAILURES;
        self.failures >= failures && now_ms - self.last_at < pause
    }
}

pub(super) enum Wire {
    Mcp(Upstream),
    Http(Box<HttpApi>),
}

impl Live {
    fn reads(&self) -> std::sync::MutexGuard<'_, Reads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends its session or its process.
    pub(super) async fn close(&self) {
        if let Wire::Mcp(upstream) = &self.wire {
            upstream.close().await;
        }
    }

    fn is_fresh(&self, list: &List, now_ms: i64) -> bool {
        let same = match &self.wire {
            Wire::Mcp(upstream) => upstream.list_changes() == list.as_of_change,
            Wire::Http(_) => true,
        };
        same && now_ms < list.fresh_until
    }
}

impl ToolServers {
    /// The server in use, with `credential`; nothing is sent yet.
    pub(super) async fn live(&self, server: &Server, credential: Option<Placed>) -> Result<Arc<Live>, Trouble> {
        let key = Key::of(server, credential.as_ref());
        if let Some(live) = self.open.get(&key).await {
            return Ok(live);
        }
        let made = Arc::new(self.make(key.clone(), server, credential).await?);
        Ok(self.open.get_with(key, async { made }).await)
    }

    /// The same, for one use alone.
    pub(super) async fn unkept(&self, server: &Server, credential: Option<Placed>) -> Result<Live, Trouble> {
        self.make(Key::of(server, credential.as_ref()), server, credential).await
    }

    async fn make(&self, key: Key, server: &Server, credential: Option<Placed>) -> Result<Live, Trouble> {
        let scrubber = Arc::new(match (server.configured(), &credential) {
            (Some(entry), _) => Scrubber::new(entry.secrets.iter().map(|secret| secret.expose().as_bytes())),
            (None, Some(placed)) => Scrubber::new([placed.bare.as_bytes(), placed.written.as_bytes()]),
            (None, None) => Scrubber::new::<&[u8]>([]),
        });
        let version = credential.as_ref().map_or(0, |placed| placed.version);
        let provider = server.provider.as_deref().filter(|_| server.connection.is_some());
        let provider = provider.and_then(|name| self.needs.connections.catalogue().get(name));
        let pace = Pace::of(provider.and_then(|provider| provider.server.limits));
        let wire = match (server.configured(), &server.connection) {
            (Some(entry), _) => self.of_operator(entry, &scrubber)?,
            (None, Some(record)) => self.of_connection(record, credential, &scrubber).await?,
            (None, None) => return Err(Trouble::failing("The server is no longer set up.")),
        };
        Ok(Live { key, version, wire, scrubber, pace, gate: tokio::sync::Mutex::new(()), reads: Mutex::default() })
    }

    fn of_operator(&self, entry: &ToolServer, scrubber: &Arc<Scrubber>) -> Result<Wire, Trouble> {
        Ok(match &entry.target {
            Target::Remote(remote) => Wire::Mcp(Upstream::http(
                HttpEntry {
                    url: remote.url.clone(),
                    headers: headers(remote.headers.iter().map(|(name, value)| (name.as_str(), value.expose())))?,
                    provenance: Provenance::Operator,
                    request_id: entry.request_id.clone(),
                },
                self.needs.egress.clone(),
                self.surroundings(scrubber),
            )),
            Target::Process(process) => Wire::Mcp(Upstream::process(
                ProcessEntry {
                    command: process.command.clone(),
                    args: process.args.clone(),
                    env: process.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
                    request_id: entry.request_id.clone(),
                },
                self.surroundings(scrubber),
            )),
            Target::OpenApi(api) => {
                Wire::Http(Box::new(HttpApi::of_operator(api, entry.request_id.clone(), self.needs.egress.clone())?))
            }
        })
    }

    async fn of_connection(
        &self,
        record: &Record,
        credential: Option<Placed>,
        scrubber: &Arc<Scrubber>,
    ) -> Result<Wire, Trouble> {
        if record.kind == crate::config::ServerType::Openapi {
            let api = http_api::of_connection(&self.needs.connections, &self.needs.egress, record, credential).await?;
            return Ok(Wire::Http(Box::new(api)));
        }
        let mut written: BTreeMap<String, String> = BTreeMap::new();
        let mut address = record.entry.url.clone();
        if let Some(resolved) = http_api::resolved(&self.needs.connections, record)? {
            written.extend(resolved.headers);
            address.get_or_insert(resolved.url);
        }
        written.extend(record.entry.headers.clone());
        let address = address.and_then(|url| Url::parse(&url).ok());
        let mut url = address.ok_or_else(|| Trouble::failing("The connection has no address that can be used."))?;
        let mut headers = headers(written.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
        if let Some(placed) = &credential {
            place(placed, &mut headers, &mut url)?;
        }
        let entry = HttpEntry { url, headers, provenance: Provenance::Person, request_id: None };
        Ok(Wire::Mcp(Upstream::http(entry, self.needs.egress.clone(), self.surroundings(scrubber))))
    }

    fn surroundings(&self, scrubber: &Arc<Scrubber>) -> Surroundings {
        let scrubber = scrubber.clone();
        let scrub: Scrub = Arc::new(move |text| scrubber.text(text));
        Surroundings::new(self.needs.clock.clone(), scrub)
    }

    /// The server's list, read when there is no fresh one; callers of one moment share the reading.
    pub(super) async fn list(&self, live: &Live) -> Result<Arc<List>, Trouble> {
        let seen = live.reads().count;
        if let Some(list) = self.lists.get(&live.key).await
            && live.is_fresh(&list, self.now_ms())
        {
            return Ok(list);
        }
        self.read(live, seen).await
    }

    /// The list once more, because a tool is not in the fresh one; at most every five seconds.
    pub(super) async fn list_again(&self, live: &Live, had: &Arc<List>) -> Result<Arc<List>, Trouble> {
        let (seen, last_at) = {
            let reads = live.reads();
            (reads.count, reads.last_at)
        };
        if self.now_ms() - last_at < AGAIN_MS {
            return Ok(had.clone());
        }
        self.read(live, seen).await
    }

    /// For a search: where the list cannot be read, the last one up to an hour old, with since when it is stale.
    pub(super) async fn list_or_stale(&self, live: &Live) -> Result<(Arc<List>, Option<i64>), Trouble> {
        let trouble = match self.list(live).await {
            Ok(list) => return Ok((list, None)),
            Err(trouble) => trouble,
        };
        match self.lists.get(&live.key).await {
            Some(list) if self.now_ms() - list.fresh_until < STALE_MS => {
                let since = list.fresh_until.min(self.now_ms());
                Ok((list, Some(since)))
            }
            _ => Err(trouble),
        }
    }

    async fn read(&self, live: &Live, seen: u64) -> Result<Arc<List>, Trouble> {
        let _gate = live.gate.lock().await;
        {
            let reads = live.reads();
            // An MCP server has a breaker of its own, below.
            let paused = matches!(live.wire, Wire::Http(_)) && reads.is_paused(self.now_ms());
            if (reads.count != seen || paused)
                && let Some(last) = &reads.last
            {
                return last.clone();
            }
        }
        let read = self.read_anew(live).await;
        if let Ok(list) = &read {
            self.lists.insert(live.key.clone(), list.clone()).await;
        }
        live.reads().ended(&read, self.now_ms());
        read
    }

    async fn read_anew(&self, live: &Live) -> Result<Arc<List>, Trouble> {
        match &live.wire {
            Wire::Mcp(upstream) => {
                let listing = upstream.list().await?;
                let ttl =
                    listing.ttl_ms.map_or(FRESH_MS.0, |ttl| i64::try_from(ttl).unwrap_or(i64::MAX).min(FRESH_MS.1));
                Ok(Arc::new(List::of_listing(listing, &live.scrubber, self.now_ms(), ttl)))
            }
            Wire::Http(api) => {
                let had = self.lists.get(&live.key).await;
                let now = self.now_ms();
                match (self.read_document(api, had.is_some()).await, had) {
                    (Ok(Some(document)), _) => {
                        Ok(Arc::new(List::of_document(document, &live.scrubber, now, api.refresh_ms())))
                    }
                    (Ok(None), Some(list)) => Ok(Arc::new(list.kept(now, api.refresh_ms()))),
                    (Ok(None), None) => Err(Trouble::failing("The document could not be read.")),
                    // A document that was good once stays in use while it cannot be read again.
                    (Err(_), Some(list)) => Ok(Arc::new(list.kept_stale(now, FRESH_MS.0))),
                    (Err(trouble), None) => Err(Trouble { detail: live.scrubber.text(&trouble.detail), ..trouble }),
                }
            }
        }
    }
}

/// Headers as they are sent; they may hold credentials and are never shown.
pub(super) fn headers<'a>(written: impl Iterator<Item = (&'a str, &'a str)>) -> Result<HeaderMap, Trouble> {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        let (Ok(name), Ok(mut value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) else {
            return Err(Trouble::failing("A header of the server's entry cannot be sent."));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Puts a credential where its server wants it.
pub(super) fn place(placed: &Placed, headers: &mut HeaderMap, url: &mut Url) -> Result<(), Trouble> {
    let unfit = || Trouble::failing("The credential cannot be sent where it belongs.");
    let (name, text) = match placed.place {
        ValueIn::Header => {
            (HeaderName::from_bytes(placed.name.as_bytes()).map_err(|_| unfit())?, placed.written.to_string())
        }
        ValueIn::Cookie => {
            let cookie = format!("{}={}", placed.name, placed.written.as_str());
            let had = headers.get(http::header::COOKIE).and_then(|had| had.to_str().ok());
            (http::header::COOKIE, had.map_or_else(|| cookie.clone(), |had| format!("{had}; {cookie}")))
        }
        ValueIn::Query => {
            url.query_pairs_mut().append_pair(&placed.name, &placed.written);
            return Ok(());
        }
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| unfit())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}
