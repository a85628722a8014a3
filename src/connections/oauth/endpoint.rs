//! The token endpoint of a connection: where it is, who asks, how requests are written and answers read.

use std::collections::BTreeMap;

use url::Url;

use super::Client;
use crate::connections::catalogue::{RequestBody, TokenAnswer};
use crate::egress::Provenance;

/// A token endpoint (RFC 6749, section 3.2).
#[derive(Clone)]
pub struct Endpoint {
    /// Its address.
    pub url: Url,
    /// Who wrote the address.
    pub provenance: Provenance,
    /// Who asks.
    pub client: Client,
    /// How requests are written.
    pub body: RequestBody,
    /// How answers are read.
    pub answer: TokenAnswer,
    /// Fixed parameters of an exchange.
    pub token_params: BTreeMap<String, String>,
    /// Fixed parameters of a refresh.
    pub refresh_params: BTreeMap<String, String>,
    /// The resource the tokens are for (RFC 8707).
    pub resource: Option<String>,
}
