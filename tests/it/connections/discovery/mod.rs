//! Remote servers that say themselves where people sign in to them (`connections.md` 7): what is asked of whom, which client
//! Playmaker is there, and every lie that ends before anybody is sent anywhere.

mod clients;
mod lies;
mod trip;

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::Page;
use crate::support::app::TestApp;
use crate::support::people::Answer;
use crate::support::simulator::{CLIENT, Page as Answered, SECRET, Simulator};

const PROTECTED: &str = "/.well-known/oauth-protected-resource/mcp";
const PROTECTED_ROOT: &str = "/.well-known/oauth-protected-resource";
const ISSUER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// A server in local mode whose operator offers a remote server with discovery, and its provider.
struct Remote {
    simulator: Simulator,
    server: TestApp,
}

impl Remote {
    /// Nothing is set by the operator; the server and its issuer say all there is to say.
    async fn start() -> Self {
        let simulator = Simulator::start().await;
        simulator.set(|quirks| {
            quirks.pages.insert(PROTECTED.into(), Answered::json(&protected(&simulator)));
            quirks.pages.insert(ISSUER.into(), Answered::json(&metadata(&simulator)));
            quirks.pages.insert("/register".into(), Answered::json(&registered()));
        });
        let server = TestApp::with(&settings(&simulator, false)).await;
        simulator.follow(server.clock.clone());
        Self { simulator, server }
    }

    /// The same with a document changed.
    async fn with(path: &str, change: impl FnOnce(&mut Value)) -> Self {
        let remote = Self::start().await;
        remote.change(path, change);
        remote
    }

    fn change(&self, path: &str, change: impl FnOnce(&mut Value)) {
        self.simulator.set(|quirks| {
            let page = quirks.pages.get_mut(path).unwrap();
            let mut document = serde_json::from_str(&page.body).unwrap();
            change(&mut document);
            page.body = document.to_string();
        });
    }

    /// Another answer at a path.
    fn answers(&self, path: &str, status: u16, headers: &[(&'static str, String)], body: &str) {
        let page = Answered { status, headers: headers.to_vec(), body: body.to_owned() };
        self.simulator.set(|quirks| drop(quirks.pages.insert(path.to_owned(), page)));
    }

    /// Nothing is at a path any more.
    fn without(&self, path: &str) {
        self.simulator.set(|quirks| drop(quirks.pages.remove(path)));
    }

    /// A connection that waits for its person.
    async fn page(&self) -> Page {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("sim-{}", NUMBER.fetch_add(1, Ordering::SeqCst));
        Page::of(&self.server, &json!({ "provider": "sim", "name": name })).await
    }

    /// How often a path was asked for.
    fn asked(&self, path: &str) -> usize {
        self.simulator.requests().iter().filter(|request| request.path == path).count()
    }
}

async fn start(page: &Page) -> Answer {
    page.command("start", &json!({})).await
}

/// The settings of a server that offers the simulated one with discovery; its origin is listed where people sign in.
fn settings(simulator: &Simulator, has_client: bool) -> Vec<(&'static str, &'static str)> {
    let all = simulator.settings(|file| {
        file["ways"] = json!([{
            "kind": "authorization", "title": "Sign in with Simulated", "discovery": true, "registration": "auto",
            "values": [{ "name": "client_id", "optional": true },
                       { "name": "client_secret", "secret": true, "optional": true }],
        }]);
    });
    let kept = all.into_iter().filter(|(name, _)| has_client || !name.starts_with("PROVIDER_SIM"));
    // Settings live as long as the test's process.
    kept.map(|(name, value)| (name, &*value.leak())).collect()
}

fn protected(simulator: &Simulator) -> Value {
    json!({
        "resource": simulator.url("/mcp"), "authorization_servers": [simulator.issuer()],
        "scopes_supported": ["notes.read", "notes.write"],
    })
}

fn metadata(simulator: &Simulator) -> Value {
    json!({
        "issuer": simulator.issuer(),
        "authorization_endpoint": simulator.url("/authorize"), "token_endpoint": simulator.url("/token"),
        "registration_endpoint": simulator.url("/register"), "revocation_endpoint": simulator.url("/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["notes.read", "notes.write", "offline_access"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "authorization_response_iss_parameter_supported": true,
    })
}

fn registered() -> Value {
    json!({ "client_id": CLIENT, "client_secret": SECRET, "client_secret_expires_at": 0 })
}
