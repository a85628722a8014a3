//! Connections: the services and tool servers people give their org through their agent.
//!
//! Start with [`Connections`], the rows and what changes them; then [`catalogue`], the providers a person may connect and
//! how each wants its credential; [`input`], what an agent may ask for; [`links`], the page's side; and [`oauth`], what is
//! asked of a provider's token endpoint. The secrets store
//! ([`crate::secrets`]) keeps what a person gives. A credential leaves this room only as a [`Placed`] value for the request
//! it belongs to.

pub mod catalogue;
mod changes;
pub mod credential_look;
mod forgetting;
pub mod input;
pub mod links;
mod notice;
pub mod oauth;
mod record;
mod rows;
mod standing;
mod sweep;

use std::sync::Arc;

use zeroize::Zeroizing;

pub use changes::{Added, LINK_MS, Removal, is_id, unknown};
pub use input::Draft;
pub use record::{Because, Connect, Credential, Entry, Record, Status, View};
pub use rows::Filter;

use crate::config::Settings;
use crate::ledger::Ledger;
use crate::secrets::SecretsStore;
use crate::telemetry::SecretRegistry;
use catalogue::{Catalogue, ValueIn};

/// Everything about connections that lives as long as the server.
#[derive(Clone)]
pub struct Connections {
    ledger: Ledger,
    secrets: SecretsStore,
    settings: Arc<Settings>,
    catalogue: Arc<Catalogue>,
    log_secrets: Arc<SecretRegistry>,
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
}

impl Connections {
    /// Over the ledger and the secrets store, under the operator's rules.
    pub fn new(
        ledger: Ledger,
        secrets: SecretsStore,
        settings: Arc<Settings>,
        catalogue: Catalogue,
        log_secrets: Arc<SecretRegistry>,
    ) -> Self {
        Self { ledger, secrets, settings, catalogue: Arc::new(catalogue), log_secrets }
    }

    /// The providers there are.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The operator's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
