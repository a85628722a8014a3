//! How requests leave this machine: proxy and further certificate authorities.

use url::Url;

use super::secret::Secret;

/// Settings of every outbound request.
#[derive(Clone, Default)]
pub struct Outbound {
    /// The proxy's address; it may hold a password.
    pub https_proxy: Option<Secret>,
    /// Hosts reached without it: exact names, or `.suffix`.
    pub no_proxy: Vec<String>,
    /// Certificates trusted besides the usual ones.
    pub extra_ca_certs: Option<ExtraCa>,
}

/// A file of certificates, read at start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraCa {
    /// The file.
    pub path: std::path::PathBuf,
    /// Its text, one or more PEM certificates.
    pub pem: String,
}

impl Outbound {
    /// The proxy as an address, where one is set.
    pub fn proxy_url(&self) -> Option<Url> {
        self.https_proxy.as_ref().and_then(|text| Url::parse(text.expose()).ok())
    }
}
