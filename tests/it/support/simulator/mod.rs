//! A provider of OAuth with an API behind it, inside the test: whatever providers in the world do, it does when told to.
//!
//! [`Simulator::start`] listens; [`Simulator::settings`] are those of a server whose operator offers it;
//! [`Simulator::set`] changes how it behaves ([`Quirks`]); [`Simulator::allows`] and [`Simulator::denies`] are the person at
//! its page, where no browser is wanted. Each request is kept, so that a test can say how many there were and what went
//! along. Its lifetimes follow the clock it is given; nothing in it waits by itself.

mod authorize;
mod grants;
mod protected;
mod quirks;
mod requests;
mod tokens;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Method, StatusCode, Uri};
use playmaker::clock::{ManualClock, SharedClock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::app::BEGINNING_MS;
use grants::Grants;
pub use quirks::{Answers, Fault, Issuer, Page, Proof, Quirks, Reuse, Rotation, WORDS};
pub use requests::Request;

/// Playmaker's client there.
pub const CLIENT: &str = "playmaker-at-sim";
/// Its secret, with a character that has to be encoded.
pub const SECRET: &str = "sim secret:with/signs";

/// The provider. It ends with the test.
pub struct Simulator {
    address: SocketAddr,
    state: Arc<State>,
    folder: TempDir,
}

struct State {
    issuer: String,
    quirks: Mutex<Quirks>,
    grants: Mutex<Grants>,
    requests: Mutex<Vec<Request>>,
    clock: Mutex<SharedClock>,
    /// A permit for each held answer that may go.
    released: Semaphore,
    held: Mutex<usize>,
}

impl Simulator {
    /// One on a port of its own, kind in everything.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            issuer: format!("http://{address}"),
            quirks: Mutex::default(),
            grants: Mutex::default(),
            requests: Mutex::default(),
            clock: Mutex::new(Arc::new(ManualClock::at(BEGINNING_MS))),
            released: Semaphore::new(0),
            held: Mutex::default(),
        });
        let shared = state.clone();
        let router = Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let state = shared.clone();
            async move { state.answer(&method, &uri, &headers, &body).await }
        });
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state, folder: tempfile::tempdir().unwrap() }
    }

    /// Its identifier, which is its origin too.
    pub fn issuer(&self) -> String {
        self.state.issuer.clone()
    }

    /// The address of a path there.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on its tokens end by this clock.
    pub fn follow(&self, clock: SharedClock) {
        *self.state.clock.lock().unwrap() = clock;
    }

    /// Changes how it behaves from now on.
    pub fn set(&self, change: impl FnOnce(&mut Quirks)) {
        change(&mut self.state.quirks.lock().unwrap());
    }

    /// The file of the provider `sim`: an MCP server behind the tokens, one way, by signing in.
    pub fn file(&self) -> Value {
        json!({
            "name": "sim", "title": "Simulated", "description": "A provider of the tests.",
            "server": { "type": "mcp", "url": self.url("/mcp") },
            "ways": [{
                "kind": "authorization", "title": "Sign in with Simulated",
                "values": [{ "name": "client_id" }, { "name": "client_secret", "secret": true, "optional": true }],
                "authorize_url": self.url("/authorize"), "token_url": self.url("/token"),
                "revocation_url": self.url("/revoke"), "issuer": self.issuer(),
                "scopes": { "required": ["notes.read"], "default": ["notes.read", "notes.write"] },
            }],
            "identity": { "method": "GET", "url": self.url("/userinfo"), "label": ["/email"], "id": "/sub" },
        })
    }

    /// Settings of a server whose operator offers it, as [`Self::file`] has it and `change` makes it.
    pub fn settings(&self, change: impl FnOnce(&mut Value)) -> Vec<(&'static str, String)> {
        let mut file = self.file();
        change(&mut file);
        std::fs::write(self.folder.path().join("sim.yaml"), file.to_string()).unwrap();
        vec![
            ("CONNECTIONS_PROVIDERS_DIR", self.folder.path().display().to_string()),
            ("CONNECTIONS_PRIVATE_HOSTS", self.url("")),
            ("PROVIDER_SIM_CLIENT_ID", CLIENT.to_owned()),
            ("PROVIDER_SIM_CLIENT_SECRET", SECRET.to_owned()),
        ]
    }

    /// Everything it was asked, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// What its token endpoint was asked, in order.
    pub fn token_requests(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.path == "/token").collect()
    }

    /// The tokens it was told to revoke, in order.
    pub fn revoked(&self) -> Vec<String> {
        let at = self.requests().into_iter().filter(|request| request.path == "/revoke");
        at.filter_map(|request| request.members.get("token").cloned()).collect()
    }

    /// Whether a token it gave is still taken, access or refresh.
    pub fn lives(&self, token: &str) -> bool {
        let now = self.state.now_ms();
        self.state.grants().lives(token, now)
    }

    /// Every token it ever gave, access and refresh.
    pub fn given(&self) -> Vec<String> {
        self.state.grants().given()
    }

    /// From now on no access token given before is taken, whatever was said of its end; refresh tokens are.
    pub fn ends_access_tokens(&self) {
        self.state.grants().end_access();
    }

    /// How many answers are held back by [`Fault::Hang`] just now.
    pub fn held(&self) -> usize {
        *self.state.held.lock().unwrap()
    }

    /// Lets one held answer go, or the next that would be held.
    pub fn release(&self) {
        self.state.released.add_permits(1);
    }
}

impl State {
    async fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Response {
        let request = Request::of(method, uri, headers, body);
        self.requests.lock().unwrap().push(request.clone());
        if let Some(page) = self.quirks().pages.get(&request.path) {
            return page.answer();
        }
        match request.path.as_str() {
            "/authorize" => self.authorize_page(&request),
            "/decide" => self.decided(&request),
            "/token" => self.token(&request).await,
            "/revoke" => self.revoke(&request),
            "/userinfo" => self.userinfo(&request),
            "/mcp" => self.mcp(&request),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    /// A copy, since nothing may be locked across an await.
    fn quirks(&self) -> Quirks {
        self.quirks.lock().unwrap().clone()
    }

    fn grants(&self) -> MutexGuard<'_, Grants> {
        self.grants.lock().unwrap()
    }

    fn now_ms(&self) -> i64 {
        self.clock.lock().unwrap().now_ms()
    }
}
