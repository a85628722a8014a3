//! The client: judges, opens sockets to what passed, sends, and follows redirects where that is asked for.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderValue, TRANSFER_ENCODING};
use moka::future::Cache;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use super::address::Reach;
use super::body::Encoding;
use super::resolver::Guarded;
use super::{Body, BuildError, Failure, Policy, Provenance, Request, Response, redirect, trust};

/// How long a socket waits in the pool for its next request.
const IDLE: Duration = Duration::from_secs(60);

/// The most bytes of names and values in the head of an answer.
const MAX_HEADER_BYTES: usize = 32 << 10;

/// The most pools kept; one is made again when it is asked for.
const MAX_POOLS: u64 = 256;

/// The one HTTP client of the server; clones share its sockets.
#[derive(Clone)]
pub struct Client {
    policy: Arc<Policy>,
    tls: rustls::ClientConfig,
    pools: Cache<PoolKey, reqwest::Client>,
}

/// What the sockets of one pool have in common.
///
/// Sockets opened for the operator may lead where those of people must not, so the two never share a pool. The port
/// is part of it since a name alone does not tell whether its addresses are the server's own.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PoolKey {
    reach: Reach,
    port: u16,
    proxied: bool,
    connect: Duration,
}

impl Client {
    /// A client that keeps to `policy`.
    ///
    /// # Errors
    ///
    /// [`BuildError`] where the trusted certificates cannot be read or the proxy cannot be used.
    pub fn new(policy: Policy) -> Result<Self, BuildError> {
        let tls = trust::settings(policy.extra_ca_pem.as_deref())?;
        if let Some(proxy) = &policy.proxy {
            reqwest::Proxy::all(proxy.url.clone())
                .map_err(|_| BuildError("The address of the proxy cannot be used.".to_owned()))?;
        }
        let pools = Cache::builder().max_capacity(MAX_POOLS).time_to_idle(2 * IDLE).build();
        Ok(Self { policy: Arc::new(policy), tls, pools })
    }

    /// Sends `request` where its address is allowed, and answers as soon as the head of the answer is there.
    ///
    /// # Errors
    ///
    /// Every [`Failure`]; [`Failure::before_sending`] tells which ones are certainly without an effect.
    pub async fn send(&self, mut request: Request) -> Result<Response, Failure> {
        let deadline = Instant::now() + request.limits.whole;
        loop {
            let response =
                self.exchange(&request, deadline).await.inspect_err(|failure| log(&request.url, *failure))?;
            match redirect::next_hop(&request, response.status, &response.headers) {
                Ok(None) => return Ok(response),
                Ok(Some(next)) => request = next,
                Err(failure) => {
                    log(&request.url, failure);
                    return Err(failure);
                }
            }
        }
    }

    /// Judges the text of an address by the rules of `connections.md` 16.1, without asking any network.
    ///
    /// The address answered has no trailing dot in its host.
    ///
    /// # Errors
    ///
    /// [`Failure::NotAllowed`].
    pub fn check_address(&self, text: &str, provenance: Provenance) -> Result<Url, Failure> {
        let judged = self.policy.judge_text(text, provenance);
        judged.map(|(url, _)| url).inspect_err(|failure| {
            if let Failure::NotAllowed { rule } = failure {
                tracing::info!(rule, "the text of an address is refused");
            }
        })
    }

    /// Judges `url` and every address its host resolves to.
    ///
    /// # Errors
    ///
    /// [`Failure::NotAllowed`], or [`Failure::Resolve`] for a name that does not resolve.
    pub async fn check_resolved(&self, url: &Url, provenance: Provenance) -> Result<(), Failure> {
        let checked = async {
            let (url, reach) = self.policy.judge_url(url.clone(), provenance)?;
            self.judge_resolved(&url, reach).await
        };
        checked.await.inspect_err(|failure| log(url, *failure))
    }

    async fn judge_resolved(&self, url: &Url, reach: Reach) -> Result<(), Failure> {
        let port = url.port_or_known_default().unwrap_or_default();
        match url.host() {
            Some(Host::Domain(name)) => self.policy.resolve(name, reach, port).await.map(drop),
            _ => Ok(()),
        }
    }

    async fn exchange(&self, request: &Request, deadline: Instant) -> Result<Response, Failure> {
        let limits = request.limits;
        let head_by = deadline.min(Instant::now() + limits.first_byte);
        let (url, reach) = self.policy.judge_url(request.url.clone(), request.provenance)?;
        let proxied = self.takes_proxy(&url, reach);
        if proxied
            && reach != Reach::Anywhere
            && let Err(refused @ Failure::NotAllowed { .. }) = self.judge_resolved(&url, reach).await
        {
            // The proxy resolves anew, perhaps where this server cannot: only a bad answer counts, not a missing one.
            return Err(refused);
        }
        let key =
            PoolKey { reach, port: url.port_or_known_default().unwrap_or_default(), proxied, connect: limits.connect };
        let pool = self.pool(key).await?;
        let mut outgoing = pool
            .request(request.method.clone(), url)
            .headers(sendable(&request.headers))
            .header(ACCEPT_ENCODING, HeaderValue::from_static(Encoding::ACCEPTED));
        if let Some(body) = &request.body {
            outgoing = outgoing.body(body.clone());
        }
        let mut answer = timeout_at(head_by, outgoing.send())
            .await
            .map_err(|_| Failure::TimedOut)?
            .map_err(|error| trust::failure_of(&error))?;
        let status = answer.status();
        let mut headers = std::mem::take(answer.headers_mut());
        if headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>() > MAX_HEADER_BYTES {
            return Err(Failure::TooLarge);
        }
        let encoding = Encoding::of(&headers)?;
        if encoding != Encoding::Plain {
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
        }
        let body = Body::new(answer, encoding, limits.body_bytes, deadline);
        Ok(Response { status, headers, body })
    }

    /// Loopback of this machine is not that of the proxy, so it is always dialled from here.
    fn takes_proxy(&self, url: &Url, reach: Reach) -> bool {
        let host = url.host_str().unwrap_or_default();
        reach != Reach::Loopback && self.policy.proxy.as_ref().is_some_and(|proxy| proxy.takes(host))
    }

    async fn pool(&self, key: PoolKey) -> Result<reqwest::Client, Failure> {
        let build = async { self.build_pool(&key) };
        self.pools.try_get_with(key.clone(), build).await.map_err(|error| {
            tracing::error!(%error, "an HTTP client cannot be built");
            Failure::Connect
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that makes HTTP clients, with the guard")]
    fn build_pool(&self, key: &PoolKey) -> reqwest::Result<reqwest::Client> {
        let proxy = self.policy.proxy.as_ref().filter(|_| key.proxied).map(|proxy| &proxy.url);
        let (reach, port) = match proxy {
            // The only host dialled is the proxy, which the operator wrote.
            Some(proxy) => (Reach::Anywhere, proxy.port_or_known_default().unwrap_or_default()),
            None => (key.reach, key.port),
        };
        let guard = Guarded { policy: Arc::clone(&self.policy), reach, port };
        let builder = reqwest::Client::builder()
            .user_agent(concat!("playmaker/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(guard)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .http1_only()
            .tcp_nodelay(true)
            .connect_timeout(key.connect)
            .pool_idle_timeout(IDLE);
        match proxy {
            Some(proxy) => builder.proxy(reqwest::Proxy::all(proxy.clone())?).build(),
            None => builder.build(),
        }
    }
}

/// The headers without those that say where the request goes and how it is framed.
fn sendable(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, ACCEPT_ENCODING] {
        headers.remove(name);
    }
    headers
}

/// The log alone learns the rule; the path and the query may hold a credential and are left out.
fn log(url: &Url, failure: Failure) {
    if let Failure::NotAllowed { rule } = failure {
        tracing::info!(rule, host = url.host_str(), "an outgoing address is refused");
    }
}
