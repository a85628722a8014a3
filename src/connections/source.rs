//! Where a connection's tokens come from: what a sign-in, a renewal and a revocation need to know of the provider
//! (`connections.md` 6.4, 7).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::Connections;
use super::catalogue::{ClientAuth, Kind, Pkce, Provider, Refresh, Revoke, Separator, Way};
use super::discovery::server_of;
use super::oauth::{Authentication, Client, Endpoint, Revocation};
use super::record::Record;
use crate::egress::Provenance;
use crate::error::{Problem, Result};

/// What was found of an issuer through the server itself (`connections.md` 7); kept with the tokens it gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The issuer.
    pub issuer: String,
    /// Where the person signs in.
    pub authorize_url: String,
    /// Where a code becomes tokens.
    pub token_url: String,
    /// Where tokens are revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_url: Option<String>,
    /// Whether the issuer says that it names itself on the way back (RFC 9207).
    #[serde(default)]
    pub says_issuer: bool,
    /// The resource the tokens are for (RFC 8707).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Scopes to ask for.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The client there.
    pub client_id: String,
    /// How it proves itself.
    pub client_auth: ClientAuth,
}

/// Everything that is asked of a provider for one connection.
#[derive(Clone)]
pub struct Source {
    /// The issuer expected to name itself on the way back, where it is known.
    pub issuer: Option<String>,
    /// Whether an answer that does not name the issuer is refused (RFC 9207, section 2.4).
    pub says_issuer: bool,
    /// Where the person signs in; none where nobody does.
    pub authorize_url: Option<Url>,
    /// Fixed parameters of the sign-in.
    pub authorize_params: BTreeMap<String, String>,
    /// Scopes asked for.
    pub scopes: Vec<String>,
    /// Those without which the connection is of no use.
    pub required: Vec<String>,
    /// The parameter that names them, and what stands between them.
    pub scope_parameter: (String, char),
    /// Proof key for the code exchange.
    pub pkce: Pkce,
    /// Where tokens come from.
    pub endpoint: Endpoint,
    /// How tokens are renewed.
    pub refresh: Refresh,
    /// Where tokens are revoked, and how.
    pub revocation: Option<(Url, Revoke)>,
}

impl Source {
    /// Where and how its grants are ended; `None` where nobody can.
    pub fn revoked(&self) -> Option<Revocation> {
        let (url, rules) = self.revocation.clone()?;
        let (provenance, client) = (self.endpoint.provenance, self.endpoint.client.clone());
        Some(Revocation { url, provenance, rules, client })
    }
}

impl Connections {
    /// The source of a connection whose provider's way says where its tokens come from, or leaves it to be found; then
    /// `found` is what was.
    ///
    /// # Errors
    /// When the provider, its way, a value of the operator or the client is no longer there.
    pub async fn source(&self, record: &Record, kind: Kind, found: Option<&Found>) -> Result<Source> {
        let (provider, way) = self.way_of(record, kind).ok_or_else(no_longer)?;
        match (way.discovery, found) {
            (false, _) => self.written_source(record, provider, way),
            (true, Some(found)) => self.found_source(record, (provider, way), found).await,
            (true, None) => Err(no_longer()),
        }
    }

    fn written_source(&self, record: &Record, provider: &Provider, way: &Way) -> Result<Source> {
        let resolved = self.catalogue.resolve(provider, &record.placeholders).map_err(|_| no_longer())?;
        let filled = |text: &Option<String>| text.as_deref().and_then(|text| Url::parse(&resolved.fill(text)?).ok());
        let resource = match way.resource.as_deref() {
            Some("omit") | None => None,
            Some("server") => record.entry.url.clone(),
            Some(resource) => Some(resource.to_owned()),
        };
        let scopes = way.scopes.clone().unwrap_or_default();
        let written = Written {
            issuer: way.issuer.clone(),
            says_issuer: false,
            authorize_url: filled(&way.authorize_url),
            token_url: filled(&way.token_url).ok_or_else(no_longer)?,
            revocation_url: filled(&way.revocation_url),
            provenance: Provenance::Person,
            client: self.client(provider, way).ok_or_else(no_longer)?,
            resource,
            scopes: union(&scopes.default, &scopes.required),
        };
        Ok(written.by(way))
    }

    async fn found_source(&self, record: &Record, (provider, way): (&Provider, &Way), found: &Found) -> Result<Source> {
        let address = |text: &str| Url::parse(text).map_err(|_| no_longer());
        let server = server_of(record)?;
        let token_url = address(&found.token_url)?;
        // Both are sent to as the token endpoint is, so one that others wrote must not pass for one that the person did.
        let provenance = self.learned(&server).provenance(&token_url);
        let revocation_url = found.revocation_url.as_deref().map(address).transpose()?;
        let revocation_url = revocation_url.filter(|url| self.learned(&server).provenance(url) == provenance);
        let client = self.client_of(&record.org, (provider, way), found).await?.ok_or_else(no_longer)?;
        let written = Written {
            issuer: Some(found.issuer.clone()),
            says_issuer: found.says_issuer,
            authorize_url: Some(address(&found.authorize_url)?),
            provenance,
            token_url,
            revocation_url,
            client,
            resource: found.resource.clone(),
            scopes: found.scopes.clone(),
        };
        Ok(written.by(way))
    }

    /// The provider of a connection and its way of a kind.
    pub(super) fn way_of(&self, record: &Record, kind: Kind) -> Option<(&Provider, &Way)> {
        let provider = self.catalogue.get(record.provider.as_deref()?)?;
        Some((provider, provider.way(kind)?))
    }

    /// The client of the operator's values.
    pub(super) fn client(&self, provider: &Provider, way: &Way) -> Option<Client> {
        let value = |name| self.settings.provider_values.value(&provider.name, name);
        let id = value("client_id")?.expose().to_owned();
        let secret = value("client_secret").map(|secret| Zeroizing::new(secret.expose().to_owned()));
        let authentication = match (way.client_auth, secret) {
            (Some(ClientAuth::None), _) | (None, None) => Authentication::None,
            (Some(ClientAuth::ClientSecretPost), Some(secret)) => Authentication::Post(secret),
            (Some(ClientAuth::ClientSecretBasic) | None, Some(secret)) => Authentication::Basic(secret),
            (Some(ClientAuth::PrivateKeyJwt), _) | (Some(_), None) => return None,
        };
        Some(Client { id, authentication })
    }
}

/// What differs between what a file says and what was found.
struct Written {
    issuer: Option<String>,
    says_issuer: bool,
    authorize_url: Option<Url>,
    token_url: Url,
    revocation_url: Option<Url>,
    provenance: Provenance,
    client: Client,
    resource: Option<String>,
    scopes: Vec<String>,
}

impl Written {
    /// With all else as the way says.
    fn by(self, way: &Way) -> Source {
        let scopes = way.scopes.clone().unwrap_or_default();
        Source {
            issuer: self.issuer,
            says_issuer: self.says_issuer,
            authorize_url: self.authorize_url,
            authorize_params: way.authorize_params.clone(),
            scopes: self.scopes,
            required: scopes.required,
            scope_parameter: (
                scopes.parameter.unwrap_or_else(|| "scope".to_owned()),
                if scopes.separator == Separator::Comma { ',' } else { ' ' },
            ),
            pkce: way.pkce,
            endpoint: Endpoint {
                url: self.token_url,
                provenance: self.provenance,
                client: self.client,
                body: way.request_body,
                answer: way.token.clone().unwrap_or_default(),
                codes: codes(way),
                token_params: way.token_params.clone(),
                refresh_params: way.refresh_params.clone(),
                resource: self.resource,
            },
            refresh: way.refresh.clone().unwrap_or_default(),
            revocation: self.revocation_url.map(|url| (url, way.revoke.clone().unwrap_or_default())),
        }
    }
}

/// Error codes that this provider alone has.
fn codes(way: &Way) -> Vec<String> {
    way.refresh.iter().flat_map(|refresh| refresh.terminal.iter().chain(&refresh.transient)).cloned().collect()
}

/// All of both, each once, in order.
fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    one.iter().chain(other).filter(|scope| seen.insert(scope.as_str())).cloned().collect()
}

fn no_longer() -> Problem {
    Problem::unavailable("This service is not set up here any more. Whoever runs the server can set it up again.")
}
