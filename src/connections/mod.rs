//! Connections: the services and tool servers people give their org through their agent.
//!
//! Start with [`Connections`], the rows and what changes them; then [`catalogue`], the providers a person may connect and
//! how each wants its credential; [`input`], what an agent may ask for; [`links`], the page's side; [`consent`], a person's
//! trip to a provider and back; [`discovery`], where people sign in to a server that says so itself; and [`oauth`], what is
//! asked of a provider's token endpoint. The secrets store
//! ([`crate::secrets`]) keeps what a person gives. A credential leaves this room only as a [`Placed`] value for the request
//! it belongs to.

pub mod catalogue;
mod changes;
pub mod consent;
pub mod credential_look;
pub mod discovery;
mod forgetting;
pub mod input;
pub mod links;
mod notice;
pub mod oauth;
mod record;
mod refresh;
mod request_state;
mod revocation;
mod rows;
mod scopes;
mod source;
mod standing;
mod sweep;

use std::sync::Arc;

use aws_lc_rs::hmac;
use zeroize::Zeroizing;

pub use changes::{Added, Kept, LINK_MS, Removal, is_id, unknown};
pub use input::Draft;
pub use record::{Because, Connect, Credential, Entry, Record, Status, View};
pub use request_state::RequestState;
pub use rows::Filter;
pub use scopes::Scopes;
pub use source::{Found, Source};

use crate::clock::SharedClock;
use crate::config::Settings;
use crate::digest::hex;
use crate::egress;
use crate::ids::Ids;
use crate::ledger::Ledger;
use crate::lifecycle::Lifecycle;
use crate::secrets::SecretsStore;
use crate::store::DatabaseClock;
use crate::telemetry::SecretRegistry;
use catalogue::{Catalogue, Kind, ValueIn};
use refresh::Renewals;

/// What connections, and the servers they lead to, are built over.
#[derive(Clone)]
pub struct Needs {
    /// All that happened.
    pub ledger: Ledger,
    /// Credentials at rest.
    pub secrets: SecretsStore,
    /// What the operator set.
    pub settings: Arc<Settings>,
    /// What the log takes out of every line.
    pub log_secrets: Arc<SecretRegistry>,
    /// The present.
    pub clock: SharedClock,
    /// The present that all servers of one database agree on.
    pub database_clock: DatabaseClock,
    /// New ids, and what is drawn at random.
    pub ids: Ids,
    /// The one way out.
    pub egress: egress::Client,
    /// Whether the server stops.
    pub lifecycle: Lifecycle,
    /// The address people and agents use, without a slash at its end.
    pub public_address: String,
}

/// Everything about connections that lives as long as the server. Cheap to clone.
#[derive(Clone)]
pub struct Connections {
    ledger: Ledger,
    secrets: SecretsStore,
    settings: Arc<Settings>,
    catalogue: Arc<Catalogue>,
    log_secrets: Arc<SecretRegistry>,
    clock: SharedClock,
    database_clock: DatabaseClock,
    renewals: Arc<Renewals>,
    ids: Ids,
    egress: egress::Client,
    issuers: discovery::Issuers,
    lifecycle: Lifecycle,
    public_address: Arc<str>,
}

/// A credential on its way into a request: the value as it is written there, scheme and all.
#[derive(Clone)]
pub struct Placed {
    /// Header, query or cookie.
    pub place: ValueIn,
    /// Its name there.
    pub name: String,
    /// What is written, such as `Bearer …`.
    pub written: Zeroizing<String>,
    /// The bare value, to be scrubbed from whatever comes back.
    pub bare: Zeroizing<String>,
    /// The version of the credential; 0 for one that is not kept.
    pub version: i64,
}

impl Connections {
    /// Over what they need, with the providers there are.
    pub fn new(needs: Needs, catalogue: Catalogue) -> Self {
        Self {
            ledger: needs.ledger,
            secrets: needs.secrets,
            settings: needs.settings,
            catalogue: Arc::new(catalogue),
            log_secrets: needs.log_secrets,
            clock: needs.clock,
            database_clock: needs.database_clock,
            renewals: Arc::new(Renewals::new(&needs.ids)),
            ids: needs.ids,
            egress: needs.egress,
            issuers: discovery::Issuers::default(),
            lifecycle: needs.lifecycle,
            public_address: needs.public_address.into(),
        }
    }

    /// The providers there are.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The one address a provider sends people back to (`connections.md` 9.3).
    pub fn redirect(&self) -> String {
        format!("{}/connect/return", self.public_address)
    }

    /// HMAC-SHA-256 of a text (RFC 2104), in hexadecimal, under a key of the secrets store for this purpose: it tells whether
    /// two texts are the same, and nothing to whoever has the database alone.
    fn keyed_digest(&self, purpose: &str, text: &str) -> crate::error::Result<String> {
        let key = self.secrets.derive(purpose)?;
        Ok(hex(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_slice()), text.as_bytes())))
    }

    /// The operator's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
