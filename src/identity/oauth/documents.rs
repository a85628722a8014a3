//! Fetching what clients publish about themselves: their metadata documents and key sets (`identity.md` 7.7, security
//! case 43). Public addresses alone, no redirect, five kibibytes, five seconds; only what is valid is kept for long.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use moka::future::Cache;
use serde_json::Value;
use url::Url;

use super::client::{Client, is_public_key_set};
use super::{AuthorizationServer, document};
use crate::egress::{self, Limits, Provenance, Redirects, Request};

/// The shortest and the longest a document is kept, in milliseconds.
const KEPT_MS: (i64, i64) = (5 * 60 * 1_000, 24 * 60 * 60 * 1_000);
/// How long a failure is kept.
const FAILED_MS: i64 = 60 * 1_000;
/// How long a key set is taken as it is, even for a key it does not have.
const KEYS_COOL_MS: i64 = 30 * 1_000;
/// The most documents, and the most key sets, kept.
const MOST: u64 = 1_000;
/// The most bytes of a key set.
const LONGEST_KEYS: usize = 64 << 10;
/// How long a fetch may take in all.
const WITHIN: Duration = Duration::from_secs(5);

/// What was found at an address: its media type, what it says of its age, and itself.
pub struct Found {
    /// `Content-Type` and `Cache-Control`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Why nothing usable was found.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Words for the log.
    pub words: String,
    /// Whether nobody was asked, so that the next request may ask at once.
    pub passes: bool,
}

impl Fault {
    /// Nobody was asked.
    pub fn passing(words: &str) -> Self {
        Self { words: words.to_owned(), passes: true }
    }
}

impl<W: std::fmt::Display> From<W> for Fault {
    fn from(words: W) -> Self {
        Self { words: words.to_string(), passes: false }
    }
}

/// How an address is asked: at most so many bytes of it.
pub type Fetch = Arc<dyn Fn(Url, usize) -> BoxFuture<'static, Result<Found, Fault>> + Send + Sync>;

/// What is kept of one address.
struct Kept<T> {
    found: Option<T>,
    read_at: i64,
    until: i64,
}

/// What was fetched, until it is too old.
pub(super) struct Documents {
    fetch: Fetch,
    clients: Cache<String, Arc<Kept<Client>>>,
    keys: Cache<Url, Arc<Kept<Value>>>,
}

impl Documents {
    pub(super) fn new(fetch: Fetch) -> Self {
        let cache = || Cache::builder().max_capacity(MOST);
        Self { fetch, clients: cache().build(), keys: Cache::builder().max_capacity(MOST).build() }
    }
}

/// Asks through the guard of outgoing requests.
pub fn guarded(client: egress::Client) -> Fetch {
    Arc::new(move |url, most| {
        let client = client.clone();
        async move {
            let request = Request {
                method: Method::GET,
                url,
                headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
                body: None,
                provenance: Provenance::Learned,
                limits: Limits { connect: WITHIN, first_byte: WITHIN, whole: WITHIN, body_bytes: most },
                redirects: Redirects::None,
            };
            let answer = client.send(request).await?;
            if answer.status != StatusCode::OK {
                return Err(format!("the answer has the status {}", answer.status.as_u16()).into());
            }
            let body = answer.body.bytes().await?;
            Ok(Found { headers: answer.headers, body })
        }
        .boxed()
    })
}

impl AuthorizationServer {
    /// The client whose document lies at `address`; `None` where there is no good one.
    pub(super) async fn document(&self, id: &str, address: Url) -> Option<Client> {
        let now = self.now();
        let fetch = async {
            let found = match self.fetched(address, document::LONGEST).await {
                Ok(found) => document::read(id, &found.body).map(|client| (client, found.headers)).map_err(Fault::from),
                Err(fault) => Err(fault),
            };
            Arc::new(match found {
                Ok((client, headers)) => Kept { found: Some(client), read_at: now, until: now + age(&headers) },
                Err(Fault { words, passes }) => {
                    tracing::info!(client.id = %host_of(id), words, "a client's metadata document is not good");
                    Kept { found: None, read_at: now, until: if passes { now } else { now + FAILED_MS } }
                }
            })
        };
        let entry = self.0.documents.clients.entry_by_ref(id).or_insert_with_if(fetch, |kept| kept.until <= now).await;
        entry.into_value().found.clone()
    }

    /// The key set at `address`; read anew where it is old, or where `wanted` is not in it and it is not brand new.
    pub(super) async fn keys_at(&self, address: &Url, wanted: impl Fn(&Value) -> bool + Send + Sync) -> Option<Value> {
        let now = self.now();
        let fetch = async {
            let found = match self.fetched(address.clone(), LONGEST_KEYS).await {
                Ok(found) => {
                    serde_json::from_slice(&found.body).ok().filter(is_public_key_set).map(|set| (set, found.headers))
                }
                Err(fault) => {
                    tracing::info!(words = fault.words, "a client's key set cannot be read");
                    None
                }
            };
            Arc::new(match found {
                Some((set, headers)) => Kept { found: Some(set), read_at: now, until: now + age(&headers) },
                None => Kept { found: None, read_at: now, until: now + FAILED_MS },
            })
        };
        let old = |kept: &Arc<Kept<Value>>| {
            let lacks = kept.found.as_ref().is_some_and(|set| !wanted(set));
            kept.until <= now || (lacks && kept.read_at + KEYS_COOL_MS <= now)
        };
        let entry = self.0.documents.keys.entry_by_ref(address).or_insert_with_if(fetch, old).await;
        entry.into_value().found.clone()
    }

    async fn fetched(&self, address: Url, most: usize) -> Result<Found, Fault> {
        let found = (self.0.documents.fetch)(address, most).await?;
        if is_json(&found.headers) { Ok(found) } else { Err("the answer is no JSON".into()) }
    }
}

/// The host of an id, for the log: the rest of the address is the client's own affair.
fn host_of(id: &str) -> String {
    Url::parse(id).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type == "application/json" || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

/// How long an answer may be kept, in milliseconds (RFC 9111, section 5.2.2), within the bounds.
fn age(headers: &HeaderMap) -> i64 {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives: Vec<String> =
        values.flat_map(|value| value.split(',')).map(|directive| directive.trim().to_ascii_lowercase()).collect();
    let named = directives
        .iter()
        .find_map(|directive| directive.strip_prefix("max-age=")?.trim_matches('"').parse::<i64>().ok());
    let kept = directives.iter().all(|directive| directive != "no-store" && directive != "no-cache");
    let seconds = named.filter(|_| kept).unwrap_or(0);
    seconds.saturating_mul(1_000).clamp(KEPT_MS.0, KEPT_MS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cache: &str) -> HeaderMap {
        HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_str(cache).unwrap())])
    }

    #[test]
    fn a_document_is_kept_as_long_as_it_says_within_bounds() {
        for (cache, minutes) in [
            ("max-age=60", 5),
            ("public, max-age=3600", 60),
            ("max-age=99999999", 24 * 60),
            ("no-store, max-age=3600", 5),
            ("max-age=-1", 5),
            ("max-age=x", 5),
            ("", 5),
        ] {
            assert_eq!(age(&headers(cache)), minutes * 60_000, "{cache}");
        }
    }

    #[test]
    fn only_json_is_read() {
        let json =
            |value: &'static str| is_json(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]));
        assert!(json("application/json") && json("Application/JSON; charset=utf-8") && json("application/cimd+json"));
        assert!(!json("text/html") && !json("text/json") && !json("") && !is_json(&HeaderMap::new()));
    }
}
