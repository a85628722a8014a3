//! What an issuer says of itself (RFC 8414; OpenID Connect Discovery 1.0).

use std::sync::Arc;

use moka::sync::Cache;
use serde::Deserialize;
use url::Url;

use super::Refused;
use super::learned::Learned;
use crate::egress::Provenance;
use crate::well_known;

const WHAT: &str = "the issuer's metadata";
/// How long it is remembered.
const FRESH_MS: i64 = 10 * 60 * 1_000;
/// The most issuers remembered.
const MOST: u64 = 64;

/// An issuer's metadata, as far as a client asks.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    client_id_metadata_document_supported: Option<bool>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

/// Where an issuer does what, each address judged.
#[derive(Debug)]
pub(super) struct Endpoints {
    pub(super) authorize: Url,
    pub(super) token: Url,
    pub(super) registration: Option<Url>,
    pub(super) revocation: Option<Url>,
}

impl Metadata {
    /// The endpoints; each may be opened and takes what Playmaker insists on.
    pub(super) fn endpoints(&self, learned: &Learned<'_>) -> Result<Endpoints, Refused> {
        let judged = |text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => {
                learned.address(text).map(Some).ok_or(Refused::MetadataMismatch("an endpoint is not allowed"))
            }
        };
        let missing = Refused::MetadataMismatch("an endpoint is missing");
        let (Some(authorize), Some(token)) = (judged(&self.authorization_endpoint)?, judged(&self.token_endpoint)?)
        else {
            return Err(missing);
        };
        let endpoints = Endpoints {
            authorize,
            token,
            registration: judged(&self.registration_endpoint)?,
            revocation: judged(&self.revocation_endpoint)?,
        };
        let methods = self.code_challenge_methods_supported.iter().flatten();
        if methods.into_iter().any(|method| method == "S256") { Ok(endpoints) } else { Err(Refused::PkceMissing) }
    }

    /// Whether it takes the address of a document for a client's id.
    pub(super) fn takes_documents(&self) -> bool {
        self.client_id_metadata_document_supported == Some(true)
    }

    /// Whether it names itself on the way back (RFC 9207, section 3).
    pub(super) fn says_issuer(&self) -> bool {
        self.authorization_response_iss_parameter_supported == Some(true)
    }

    /// Whether it has a scope.
    pub(super) fn has_scope(&self, scope: &str) -> bool {
        self.scopes_supported.iter().flatten().any(|supported| supported == scope)
    }

    /// Whether a client may prove itself this way; the default is RFC 8414's.
    pub(super) fn takes(&self, method: &str) -> bool {
        match &self.token_endpoint_auth_methods_supported {
            Some(methods) => methods.iter().any(|offered| offered == method),
            None => method == "client_secret_basic",
        }
    }
}

/// What issuers said lately.
#[derive(Clone)]
pub(in crate::connections) struct Issuers(Cache<(bool, String), (i64, Arc<Metadata>)>);

impl Default for Issuers {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl Issuers {
    /// The metadata of an issuer, from memory where it is fresh.
    pub(super) async fn ask(&self, learned: &Learned<'_>, issuer: &str, now_ms: i64) -> Result<Arc<Metadata>, Refused> {
        let url = learned.address(issuer).ok_or(Refused::MetadataMismatch("the issuer is not allowed"))?;
        // What was read as a person's own address must not be known to those who may not read it.
        let key = (learned.provenance(&url) == Provenance::Learned, issuer.to_owned());
        if let Some((at, metadata)) = self.0.get(&key)
            && (0..FRESH_MS).contains(&(now_ms - at))
        {
            return Ok(metadata);
        }
        let metadata = Arc::new(read(learned, issuer, &url).await?);
        self.0.insert(key, (now_ms, metadata.clone()));
        Ok(metadata)
    }
}

async fn read(learned: &Learned<'_>, issuer: &str, url: &Url) -> Result<Metadata, Refused> {
    for address in well_known::of_issuer(url) {
        let Some(value) = learned.document(address, WHAT).await? else { continue };
        let unreadable = |_| Refused::MetadataMismatch("the issuer's metadata has another form");
        let metadata: Metadata = serde_json::from_value(value).map_err(unreadable)?;
        // RFC 8414, section 3.3: a document of somebody else must not speak for the issuer.
        if metadata.issuer != issuer {
            return Err(Refused::MetadataMismatch("the metadata is of another issuer"));
        }
        return Ok(metadata);
    }
    Err(Refused::MetadataMismatch("the issuer has no metadata"))
}
