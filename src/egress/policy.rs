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

impl HostRules {
    /// Reads a comma-separated list of exact hosts, `*.suffix` and `*`; answers the item that is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(Self::item).collect::<Result<_, _>>().map(Self)
    }

    fn item(item: &str) -> Result<String, String> {
        let (star, name) = match item.strip_prefix("*.") {
            Some(rest) => ("*.", rest),
            None if item == "*" => return Ok(item.to_owned()),
            None => ("", item),
        };
        match url::Host::parse(name) {
            Ok(url::Host::Domain(name)) if !name.contains('*') => {
                Ok(format!("{star}{}", name.strip_suffix('.').unwrap_or(&name)))
            }
            Ok(host) if star.is_empty() && !matches!(host, url::Host::Domain(_)) => Ok(host.to_string()),
            _ => Err(item.to_owned()),
        }
    }

    /// Whether `host`, lower case and without a trailing dot, is among them.
    pub(super) fn allow(&self, host: &str) -> bool {
        self.0.iter().any(|rule| match rule.strip_prefix('*') {
            Some("") => true,
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => rule == host,
        })
    }
}

/// Hosts that answer this machine alone, so that a proxy must not be asked for them.
const NEVER_PROXIED: [&str; 4] = ["169.254.169.254", "169.254.170.2", "169.254.170.23", "metadata.google.internal"];

impl ProxySettings {
    /// Whether a request to `host` takes the proxy.
    pub(super) fn takes(&self, host: &str) -> bool {
        let exempt = self.no_proxy.iter().any(|entry| {
            let entry = entry.to_ascii_lowercase();
            entry == "*" || entry == host || (entry.starts_with('.') && host.ends_with(&entry))
        });
        !exempt && !NEVER_PROXIED.contains(&host)
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

#[cfg(test)]
mod tests {
    use super::{HostRules, Policy, ProxySettings};

    #[test]
    fn host_rules_are_exact_or_below_a_suffix() {
        let rules = HostRules::parse("api.example.com, *.Example.org,203.0.114.7").unwrap();
        for host in ["api.example.com", "a.example.org", "a.b.example.org", "203.0.114.7"] {
            assert!(rules.allow(host), "{host}");
        }
        for host in ["example.com", "b.api.example.com", "example.org", "badexample.org", "203.0.114.8"] {
            assert!(!rules.allow(host), "{host}");
        }
        assert!(HostRules::default().allow("anything.example"));
    }

    #[test]
    fn a_host_rule_that_is_no_host_is_told() {
        for item in ["*.", "a*.example.com", "**", "https://example.com", "example.com:443", "*.1.2.3.4"] {
            assert_eq!(HostRules::parse(item), Err(item.to_owned()), "{item}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port_alone() {
        assert_eq!(Policy::origin("https://crm.internal"), Policy::origin("https://CRM.internal:443/"));
        for text in ["crm.internal", "ftp://crm.internal", "https://crm.internal/a", "https://a@crm.internal", ""] {
            assert!(Policy::origin(text).is_none(), "{text}");
        }
    }

    #[test]
    fn some_names_go_without_the_proxy() {
        let proxy = ProxySettings {
            url: "http://proxy.example:3128".parse().unwrap(),
            no_proxy: vec!["exact.example".to_owned(), ".Corp.example".to_owned()],
        };
        for host in ["exact.example", "a.corp.example", "169.254.169.254", "metadata.google.internal"] {
            assert!(!proxy.takes(host), "{host}");
        }
        for host in ["a.exact.example", "corp.example", "api.example.com"] {
            assert!(proxy.takes(host), "{host}");
        }
    }
}
