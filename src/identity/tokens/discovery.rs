//! What an issuer says of itself (RFC 8414; OpenID Connect Discovery), in the order MCP asks for it.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use url::Url;

use super::backoff::Backoff;
use super::fetch::{self, Fault};
use crate::clock::SharedClock;
use crate::config::secure_address;
use crate::egress;
use crate::well_known;

/// What an issuer says of itself, as far as this server asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// Where its keys are.
    pub jwks_uri: Url,
    /// Where people sign in.
    pub authorization_endpoint: Option<Url>,
    /// Where codes become tokens.
    pub token_endpoint: Option<Url>,
    /// Where clients register themselves (RFC 7591).
    pub registration_endpoint: Option<Url>,
    /// Where a person signs out (OpenID Connect RP-Initiated Logout).
    pub end_session_endpoint: Option<Url>,
    /// The ways of PKCE it takes (RFC 7636).
    pub code_challenge_methods_supported: Vec<String>,
    /// How clients prove themselves for a token (RFC 8414, section 2); empty where it does not say.
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// Whether a client's id may be the address of a document about it.
    pub client_id_metadata_document_supported: bool,
    /// Whether it names itself in its answers to an authorization request (RFC 9207).
    pub authorization_response_iss_parameter_supported: bool,
}

impl Metadata {
    /// Reads a document of the issuer called `issuer`.
    pub(super) fn read(issuer: &str, document: &Value) -> Result<Self, Fault> {
        // RFC 8414, section 3.3: a document of somebody else must not speak for the issuer.
        if document.get("issuer").and_then(Value::as_str) != Some(issuer) {
            return Err(Fault::Content("The document is of another issuer."));
        }
        let endpoint = |member: &str| document.get(member).and_then(Value::as_str).and_then(secure_address);
        let says = |member: &str| document.get(member) == Some(&Value::Bool(true));
        let words = |member: &str| -> Vec<String> {
            let list = document.get(member).and_then(Value::as_array);
            list.map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect()).unwrap_or_default()
        };
        Ok(Self {
            jwks_uri: endpoint("jwks_uri").ok_or(Fault::Content("The document has no jwks_uri with https."))?,
            authorization_endpoint: endpoint("authorization_endpoint"),
            token_endpoint: endpoint("token_endpoint"),
            registration_endpoint: endpoint("registration_endpoint"),
            end_session_endpoint: endpoint("end_session_endpoint"),
            code_challenge_methods_supported: words("code_challenge_methods_supported"),
            token_endpoint_auth_methods_supported: words("token_endpoint_auth_methods_supported"),
            client_id_metadata_document_supported: says("client_id_metadata_document_supported"),
            authorization_response_iss_parameter_supported: says("authorization_response_iss_parameter_supported"),
        })
    }

    /// What clients will stumble over, in words for the operator.
    pub fn shortcomings(&self) -> Vec<&'static str> {
        let mut found = Vec::new();
        if !self.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            found.push(
                "The issuer does not name S256 in code_challenge_methods_supported: MCP clients that check for PKCE, \
                 such as Claude and VS Code, refuse to sign in.",
            );
        }
        if self.registration_endpoint.is_none() && !self.client_id_metadata_document_supported {
            found.push(
                "The issuer registers no clients: MCP clients that bring no id of their own, such as Claude, Codex \
                 and Cursor, cannot sign in until they are given one.",
            );
        }
        found
    }
}

/// Asks an issuer what it says of itself, once; asks again after a failure, later and later.
pub struct Discovery {
    issuer: String,
    egress: egress::Client,
    clock: SharedClock,
    /// Held while asking, so that only one asks.
    asking: tokio::sync::Mutex<Backoff>,
    found: Mutex<Option<Arc<Metadata>>>,
}

impl Discovery {
    /// Of the issuer called `issuer`.
    pub fn new(issuer: &str, egress: egress::Client, clock: SharedClock) -> Self {
        let (asking, found) = (tokio::sync::Mutex::default(), Mutex::default());
        Self { issuer: issuer.to_owned(), egress, clock, asking, found }
    }

    /// What the issuer says of itself, from memory where it was asked before; `None` while it cannot be had.
    pub async fn metadata(&self) -> Option<Arc<Metadata>> {
        self.ask().await.ok()
    }

    /// The same, with the fault where there is none.
    pub(super) async fn ask(&self) -> Result<Arc<Metadata>, Fault> {
        if let Some(found) = self.remembered() {
            return Ok(found);
        }
        let mut backoff = self.asking.lock().await;
        if let Some(found) = self.remembered() {
            return Ok(found);
        }
        if !backoff.is_due(self.clock.now_ms()) {
            return Err(Fault::Waiting);
        }
        match self.ask_everywhere().await {
            Ok(metadata) => {
                backoff.succeeded();
                for shortcoming in metadata.shortcomings() {
                    tracing::warn!(issuer = self.issuer, "{shortcoming}");
                }
                let metadata = Arc::new(metadata);
                *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&metadata));
                Ok(metadata)
            }
            Err(fault) => {
                backoff.failed(self.clock.now_ms());
                tracing::warn!(issuer = self.issuer, cause = %fault, "the issuer's metadata cannot be had");
                Err(fault)
            }
        }
    }

    /// Forgets what was found, so that the next one who asks asks the issuer: its keys may have moved.
    pub(super) fn forget(&self) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn remembered(&self) -> Option<Arc<Metadata>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first good document; where there is none, the fault of the first address that answered with something.
    async fn ask_everywhere(&self) -> Result<Metadata, Fault> {
        let issuer = secure_address(&self.issuer).ok_or(Fault::Content("The issuer is no https address."))?;
        let mut telling = None;
        for address in well_known::of_issuer(&issuer) {
            let read = fetch::json(&self.egress, &address).await;
            match read.and_then(|fetched| Metadata::read(&self.issuer, &fetched.document)) {
                Ok(metadata) => return Ok(metadata),
                Err(fault) if matches!(fault, Fault::Content(_)) || telling.is_none() => telling = Some(fault),
                Err(_) => {}
            }
        }
        Err(telling.unwrap_or(Fault::Waiting))
    }
}
