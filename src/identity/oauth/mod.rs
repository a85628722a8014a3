//! The built-in authorization server (OAuth 2.1, `identity.md` 7): its rules and its rows. The HTTP side is
//! `http/oauth_routes.rs`.
//!
//! Start with [`authorize`], which reads what a client asks; [`consent`], what the person answers; [`token`], what the
//! client gets. The pure rules stand apart from the rows: [`redirect_uri`], [`registration`], [`document`], [`refresh`],
//! [`signing`]. Of every code, token and secret the SHA-256 digest alone is kept.

pub mod access_token;
pub mod assertion;
pub mod authorize;
pub mod challenge;
pub mod client;
mod client_proof;
pub mod clients;
mod codes;
pub mod configured;
pub mod consent;
pub mod document;
pub mod documents;
mod ending;
mod families;
pub mod grants;
mod metadata;
pub mod parameters;
pub mod redirect_uri;
pub mod refresh;
pub mod refusal;
pub mod registration;
pub mod requests;
mod revocations;
pub mod scopes;
pub mod signing;
pub mod signing_keys;
mod successor;
mod sweep;
mod token;

use std::sync::Arc;

use serde_json::Value;

use crate::clock::SharedClock;
use crate::error::Result;
use crate::ids::Ids;
use crate::ledger::{Actor, Ledger};
use crate::secrets::SecretsStore;

pub use client_proof::client_named;
pub use revocations::Revocations;

use client::Client;
use documents::{Documents, Fetch};

/// The org of what belongs to none.
const SERVER: &str = "";
/// How far two clocks may differ, in milliseconds.
const SKEW_MS: i64 = 60 * 1_000;
/// The longest life of an access token any server may have set.
const LONGEST_TTL_MS: i64 = 60 * 60 * 1_000;

/// What the authorization server is built of.
pub struct Needs {
    /// Its issuer: the public URL, without a slash at its end.
    pub issuer: String,
    /// How long an access token is good, in milliseconds.
    pub access_token_ttl_ms: i64,
    /// Whether clients may register themselves.
    pub registers: bool,
    /// The clients of the settings.
    pub clients: Vec<Client>,
    /// Where everything is kept.
    pub ledger: Ledger,
    /// Where private keys are kept.
    pub secrets: SecretsStore,
    /// How clients' documents are fetched.
    pub fetch: Fetch,
    /// Told the published keys, as a JWK set, each time they were read.
    pub on_keys: OnKeys,
    /// The list of what was revoked, which whoever checks tokens holds too.
    pub revoked: Revocations,
    /// The present.
    pub clock: SharedClock,
    /// New ids.
    pub ids: Ids,
}

/// Whoever wants to know the published keys.
pub type OnKeys = Box<dyn Fn(&Value) + Send + Sync>;

/// The authorization server. Cheap to clone.
#[derive(Clone)]
pub struct AuthorizationServer(Arc<Inner>);

struct Inner {
    issuer: String,
    access_token_ttl_ms: i64,
    registers: bool,
    configured: Vec<Client>,
    ledger: Ledger,
    secrets: SecretsStore,
    documents: Documents,
    on_keys: OnKeys,
    clock: SharedClock,
    ids: Ids,
    keys: signing_keys::Held,
    revocations: Revocations,
}

impl AuthorizationServer {
    /// Builds it, reads keys and revocations, and makes the first key where there is none.
    pub async fn open(needs: Needs) -> Result<Self> {
        let server = Self::new(needs);
        server.refresh_signing_keys().await?;
        server.read_revocations().await?;
        Ok(server)
    }

    /// Builds it without reading anything: for a command, which serves nobody.
    pub fn new(needs: Needs) -> Self {
        Self(Arc::new(Inner {
            issuer: needs.issuer,
            access_token_ttl_ms: needs.access_token_ttl_ms.min(LONGEST_TTL_MS),
            registers: needs.registers,
            configured: needs.clients,
            ledger: needs.ledger,
            secrets: needs.secrets,
            documents: Documents::new(needs.fetch),
            on_keys: needs.on_keys,
            clock: needs.clock,
            ids: needs.ids,
            keys: signing_keys::Held::default(),
            revocations: needs.revoked,
        }))
    }

    /// Its issuer, which is the public URL.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// Whether clients may register themselves.
    pub fn registers(&self) -> bool {
        self.0.registers
    }

    /// How long an access token is good, in milliseconds.
    pub fn access_token_ttl_ms(&self) -> i64 {
        self.0.access_token_ttl_ms
    }

    /// Until when a grant revoked now stands on the list: whatever server issued its last access token, that one has
    /// ended by then.
    pub fn revoked_until(&self) -> i64 {
        self.now() + LONGEST_TTL_MS + SKEW_MS
    }

    fn now(&self) -> i64 {
        self.0.clock.now_ms()
    }
}

/// The person of an id as an actor, by the name they have now where that is known.
fn actor_of(person: &str, name: &str) -> Actor {
    let name = if name.is_empty() { person } else { name };
    Actor::new("person", format!("person:{person}"), name)
}
