//! Signing in at a provider of identities, or at the issuer outside (`identity.md` 8.5).

mod again;
mod browsing;
mod outside;
mod people;
mod returning;

use playmaker::ledger::Row;
use serde_json::{Value, json};

use super::tab::Tab;
use crate::support::app::{OWN_ORIGIN, TestApp};
use crate::support::people::Answer;
use crate::support::provider::{Provider, SECRET};

/// Where a browser leaves for the provider.
const AWAY: &str = "/sign-in/upstream/acme";

/// A server with Ada of `acme` who has a password, and a provider.
struct Scene {
    server: TestApp,
    provider: Provider,
}

impl Scene {
    async fn new() -> Self {
        Self::with(json!({})).await
    }

    async fn with(entry: Value) -> Self {
        let provider = Provider::start().await;
        let providers = json!([provider.entry("acme", entry)]).to_string();
        let settings = [("SIGN_IN_PROVIDERS", providers.as_str()), ("ACME_SECRET", SECRET)];
        let (server, _) = TestApp::set_up_by_ada(&settings).await;
        Self { server, provider }
    }

    /// People of the provider as of an issuer outside.
    async fn outside(more: &[(&str, &str)]) -> Self {
        let provider = Provider::start().await;
        let issuer = provider.issuer();
        let settings = [
            ("PUBLIC_URL", OWN_ORIGIN),
            ("IDENTITY_ISSUER", issuer.as_str()),
            ("IDENTITY_CLIENT_ID", "studio"),
            ("IDENTITY_CLIENT_SECRET", SECRET),
        ];
        let server = TestApp::with(&[&settings, more].concat()).await;
        Self { server, provider }
    }

    fn now_ms(&self) -> i64 {
        self.server.app.clock.now_ms()
    }

    /// Somebody of these claims goes there and comes back.
    async fn signs_in(&self, tab: &Tab, claims: Value) -> Answer {
        self.signs_in_at(tab, AWAY, claims).await
    }

    async fn signs_in_at(&self, tab: &Tab, away: &str, claims: Value) -> Answer {
        let visited = leaves(tab, away).await;
        tab.get(&self.provider.signs_in(&visited, self.now_ms(), claims)).await
    }

    async fn audit(&self) -> Vec<Row> {
        self.server.audit("").await
    }

    async fn last(&self) -> Row {
        self.audit().await.pop().unwrap()
    }
}

/// A browser leaves; the address it is sent to.
async fn leaves(tab: &Tab, path: &str) -> String {
    let left = tab.get(path).await;
    assert_eq!(left.status, 303, "{}", left.text);
    left.header("location").to_owned()
}

/// What the provider tells of somebody with a verified email.
fn claims(name: &str) -> Value {
    json!({ "sub": name, "name": name, "email": format!("{name}@acme.test"), "email_verified": true })
}
