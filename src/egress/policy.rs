//! What the operator allows.

use std::net::SocketAddr;
use std::sync::Arc;

use url::Url;

use super::{Resolver, SystemResolver};

/// What the operator allows, fixed at the start.
#[derive(Clone)]
pub struct Policy {
    /// Whether the server runs for the people of this machine, who may connect servers on loopback.
    pub local_mode: bool,
    /// `CONNECTIONS_PRIVATE_HOSTS`: origins that may have private addresses ([`Policy::origin`] reads one).
    pub private_origins: Vec<url::Origin>,
    /// `CONNECTIONS_HOSTS`.
    pub hosts: HostRules,
    /// Where this server itself listens; refused always. An unspecified address stands for every one of the machine.
    pub own_addresses: Vec<SocketAddr>,
    /// `EXTRA_CA_CERTS`: a PEM file of certificates to trust besides those of the system.
    pub extra_ca_pem: Option<Vec<u8>>,
    /// How names become addresses.
    pub resolver: Arc<dyn Resolver>,
    /// `HTTPS_PROXY` and `NO_PROXY`.
    pub proxy: Option<ProxySettings>,
}

impl Default for Policy {
    /// Every public host, nothing private, no proxy.
    fn default() -> Self {
        Self {
            local_mode: false,
            private_origins: Vec::new(),
            hosts: HostRules::default(),
            own_addresses: Vec::new(),
            extra_ca_pem: None,
            resolver: Arc::new(SystemResolver),
            proxy: None,
        }
    }
}

impl Policy {
    /// Reads one origin, such as `https://crm.internal:8443`; `None` where the text is not just an http or https origin.
    pub fn origin(text: &str) -> Option<url::Origin> {
        let url = Url::parse(text).ok()?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let plain = url.username().is_empty() && url.password().is_none();
        (matches!(url.scheme(), "http" | "https") && bare && plain).then(|| url.origin())
    }
}

/// `CONNECTIONS_HOSTS`: the hosts a connection's server, issuer and document may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRules(Vec<String>);

impl Default for HostRules {
    /// Every public host.
    fn default() -> Self {
        Self(vec!["*".to_owned()])
    }
}

/// The proxy every outbound call takes, and the names that go without it.
#[derive(Clone)]
pub struct ProxySettings {
    /// The proxy's address; it may hold a user and a password.
    pub url: Url,
    /// Exact names, or `.suffix`.
    pub no_proxy: Vec<String>,
}
