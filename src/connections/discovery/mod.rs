//! Where people sign in to a remote MCP server, found through the server itself (`connections.md` 7; MCP authorization).
//!
//! Start with [`Connections::discover`]: [`protected`] asks the server who issues its tokens, [`metadata`] asks that issuer
//! where it does what, [`registration`] and [`clients`] make and keep a client there. Each address on the way was written by
//! somebody outside and is judged by [`learned`] before it is opened; what does not fit is [`Refused`].

mod challenge;
mod clients;
mod learned;
mod metadata;
mod protected;
mod refused;
mod registration;
mod scopes;
#[cfg(test)]
mod tests;

pub use challenge::Challenge;
pub use refused::Refused;

pub(super) use clients::FORGET_ORG;
pub(super) use learned::Learned;
pub(super) use metadata::Issuers;

use serde_json::Value;
use url::Url;
use zeroize::Zeroizing;

use super::catalogue::{ClientAuth, Provider, Registration, Way};
use super::oauth::{Authentication, Client, Refusal};
use super::{Connections, Found, Record};
use crate::config::Access;
use crate::error::{Problem, Result};
use clients::At;
use metadata::{Endpoints, Metadata};

/// Where the document about this client is.
pub const CLIENT_DOCUMENT: &str = "/oauth/client.json";

/// Ways of proving oneself that are asked for, the best first.
const METHODS: [(&str, ClientAuth); 3] = [
    ("none", ClientAuth::None),
    ("client_secret_basic", ClientAuth::ClientSecretBasic),
    ("client_secret_post", ClientAuth::ClientSecretPost),
];

impl Connections {
    /// Finds where people sign in to the server of a connection, and a client there.
    ///
    /// # Errors
    /// [`Refused`], before anybody is sent anywhere.
    pub async fn discover(&self, record: &Record, provider: &Provider, way: &Way) -> Result<Found, Refused> {
        self.look_through(record, provider, way).await.inspect_err(|refused| {
            tracing::warn!(?refused, connection.id = record.id, "where people sign in to a server could not be found");
        })
    }

    async fn look_through(&self, record: &Record, provider: &Provider, way: &Way) -> Result<Found, Refused> {
        let server = server_of(record)?;
        let learned = self.learned(&server);
        let now_ms = self.clock.now_ms();
        let protected = protected::ask(&learned).await?;
        let metadata = self.issuers.ask(&learned, &protected.issuer, now_ms).await?;
        let endpoints = metadata.endpoints(&learned)?;
        let at = At { org: record.org.clone(), issuer: protected.issuer, redirect: self.redirect() };
        let (client_id, client_auth) = self.client_at(&learned, (provider, way), &metadata, &endpoints, &at).await?;
        Ok(Found {
            issuer: at.issuer,
            authorize_url: endpoints.authorize.into(),
            token_url: endpoints.token.into(),
            revocation_url: endpoints.revocation.map(Into::into),
            says_issuer: metadata.says_issuer(),
            resource: Some(protected.resource),
            scopes: wanted(record, way, protected.scopes, &metadata),
            client_id,
            client_auth,
        })
    }

    /// The client: the operator's, else the document about this one, else one that the issuer registers.
    async fn client_at(
        &self,
        learned: &Learned<'_>,
        (provider, way): (&Provider, &Way),
        metadata: &Metadata,
        endpoints: &Endpoints,
        at: &At,
    ) -> Result<(String, ClientAuth), Refused> {
        if let Some(client) = self.client(provider, way) {
            return Ok((client.id, method_of(&client.authentication)));
        }
        let may = |registration| way.registration == registration || way.registration == Registration::Auto;
        if may(Registration::Document) && metadata.takes_documents() && self.is_public() {
            return Ok((format!("{}{CLIENT_DOCUMENT}", self.public_address), ClientAuth::None));
        }
        let Some(endpoint) = endpoints.registration.clone().filter(|_| may(Registration::Dynamic)) else {
            return Err(Refused::NoClient("the issuer registers nobody"));
        };
        let now_ms = self.clock.now_ms();
        if let Some(kept) = self.kept_client(at, now_ms).await? {
            return Ok(kept);
        }
        let method = METHODS.into_iter().find(|(name, _)| metadata.takes(name));
        let (method, _) = method.ok_or(Refused::NoClient("the issuer wants a proof that is not known here"))?;
        self.count_registration(at, now_ms).await?;
        let new = registration::register(learned, endpoint, &at.redirect, method, now_ms).await?;
        self.keep_client(at, &new).await?;
        Ok((new.id, new.method))
    }

    /// Forgets the registered client of what was found where its issuer says that it does not know it (RFC 6749, section
    /// 5.2), so that the next start registers another.
    pub(super) async fn heed(&self, org: &str, found: Option<&Found>, refusal: &Refusal) {
        let unknown = matches!(refusal.code.as_deref(), Some("invalid_client" | "unauthorized_client"));
        if let Some(found) = found.filter(|_| unknown)
            && let Err(problem) = self.drop_client(&self.at(org, found), &found.client_id).await
        {
            tracing::warn!(%problem, "a client that its issuer does not know could not be forgotten");
        }
    }

    /// The client of what was found, with its secret.
    pub(super) async fn client_of(
        &self,
        org: &str,
        (provider, way): (&Provider, &Way),
        found: &Found,
    ) -> Result<Option<Client>> {
        if let Some(client) = self.client(provider, way).filter(|client| client.id == found.client_id) {
            return Ok(Some(client));
        }
        let secret: Option<Zeroizing<String>> = match found.client_auth {
            ClientAuth::None => None,
            _ => self.client_secret(&self.at(org, found), &found.client_id).await?,
        };
        let authentication = match (found.client_auth, secret) {
            (ClientAuth::None, _) => Authentication::None,
            (ClientAuth::ClientSecretBasic, Some(secret)) => Authentication::Basic(secret),
            (ClientAuth::ClientSecretPost, Some(secret)) => Authentication::Post(secret),
            _ => return Ok(None),
        };
        Ok(Some(Client { id: found.client_id.clone(), authentication }))
    }

    /// What this client tells of itself at [`CLIENT_DOCUMENT`] (OAuth Client ID Metadata Document).
    pub fn client_document(&self) -> Value {
        let mut document = registration::members(&self.redirect(), "none");
        document["client_id"] = format!("{}{CLIENT_DOCUMENT}", self.public_address).into();
        document
    }

    /// Who judges what is named through a server.
    pub(super) fn learned<'a>(&'a self, server: &'a Url) -> Learned<'a> {
        Learned { egress: &self.egress, server, local_mode: self.settings.access() == Access::Local }
    }

    fn at(&self, org: &str, found: &Found) -> At {
        At { org: org.to_owned(), issuer: found.issuer.clone(), redirect: self.redirect() }
    }

    /// Whether an issuer outside can read the document about this client.
    fn is_public(&self) -> bool {
        self.settings.public_url.as_deref().is_some_and(crate::egress::is_public)
    }
}

/// The server of a connection.
///
/// # Errors
/// When it has no address, which a way with discovery always has.
pub(super) fn server_of(record: &Record) -> Result<Url> {
    let url = record.entry.url.as_deref().and_then(|text| Url::parse(text).ok());
    url.ok_or_else(|| Problem::internal("a connection with discovery has no address"))
}

/// Scopes to ask for: what the server wants, what its file insists on, and what the issuer wants for lasting tokens. A
/// connection that stands asks for what it has and lacks too.
fn wanted(record: &Record, way: &Way, asked: Vec<String>, metadata: &Metadata) -> Vec<String> {
    let file = way.scopes.iter().flat_map(|scopes| scopes.default.iter().chain(&scopes.required));
    let before = record.scopes.iter().flat_map(|scopes| scopes.requested.iter().chain(&scopes.missing));
    let lasting = Some("offline_access".to_owned()).filter(|scope| metadata.has_scope(scope));
    let all: Vec<String> = asked.into_iter().chain(file.cloned()).chain(before.cloned()).chain(lasting).collect();
    scopes::of(all.iter().map(String::as_str))
}

const fn method_of(authentication: &Authentication) -> ClientAuth {
    match authentication {
        Authentication::Basic(_) => ClientAuth::ClientSecretBasic,
        Authentication::Post(_) => ClientAuth::ClientSecretPost,
        Authentication::PrivateKeyJwt(_) => ClientAuth::PrivateKeyJwt,
        Authentication::None => ClientAuth::None,
    }
}
