//! A person leaves for a provider (RFC 6749, section 4.1.1): the address their browser goes to, and what is kept meanwhile.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use url::Url;
use zeroize::Zeroizing;

use super::super::catalogue::{Kind, Pkce};
use super::super::changes::event;
use super::super::discovery::Refused;
use super::super::links::Opened;
use super::super::{Connections, Found, Record, Source, links};
use super::AWAY_MS;
use super::attempts::{self, Attempt, Trip};
use crate::digest::{sha256, sha256_hex};
use crate::egress::Provenance;
use crate::error::{Problem, Reason, Result};
use crate::ledger::{Actor, Changed};

/// The most starts of a link (`connections.md` 17).
const MAX_STARTS: i64 = 10;
/// The random bytes of a state, of a verifier and of what the browser holds: 256 bits each.
const BYTES: usize = 32;

/// A browser about to leave. Never printed.
pub struct Departure {
    /// Where it goes.
    pub address: Url,
    /// When it must be back, in milliseconds since the epoch.
    pub expires_at_ms: i64,
    /// The digest of the state it brings back.
    pub state: String,
    /// What its cookie holds until then.
    pub browser: Zeroizing<String>,
}

impl Connections {
    /// Begins a trip for the person of an open link; one begun before counts no more.
    ///
    /// # Errors
    /// When the provider is not set up any more, or the link was started too often.
    pub async fn leave(&self, opened: &Opened, link: &str, actor: Actor, now_ms: i64) -> Result<Departure> {
        let record = &opened.record;
        let found = match self.found_at_start(record).await {
            Ok(found) => found,
            Err(refused) => {
                self.tell_not_found(record, link, actor, refused.code()).await?;
                return Err(refused.into());
            }
        };
        let source = self.source(record, Kind::Authorization, found.as_ref()).await?;
        let secret = || Zeroizing::new(URL_SAFE_NO_PAD.encode(self.ids.bytes::<BYTES>()));
        let (state, browser) = (secret(), secret());
        let verifier = (source.pkce == Pkce::S256).then(secret);
        let redirect = self.redirect();
        let address = self.address(&source, &redirect, &state, verifier.as_deref().map(String::as_str))?;
        let attempt = Attempt {
            org: record.org.clone(),
            digest: sha256_hex(state.as_bytes()),
            link: links::digest(link),
            connection: record.id.clone(),
            person: actor.id.clone(),
            browser: sha256_hex(browser.as_bytes()),
            issuer: source.issuer.clone(),
            client: source.endpoint.client.id.clone(),
            token_url: source.endpoint.url.to_string(),
            redirect,
            requested: serde_json::to_string(&source.scopes)?,
            found: found.as_ref().map(serde_json::to_string).transpose()?,
            started_at: now_ms,
            expires_at: now_ms + AWAY_MS,
            ..Attempt::default()
        };
        let departure =
            Departure { address, expires_at_ms: attempt.expires_at, state: attempt.digest.clone(), browser };
        let trip = Trip { verifier, link: Zeroizing::new(link.to_owned()) };
        self.begin(attempt, trip, actor, source.scopes).await?;
        Ok(departure)
    }

    /// What the server and its issuer say, where the provider's file leaves that to them.
    async fn found_at_start(&self, record: &Record) -> Result<Option<Found>, Refused> {
        match self.way_of(record, Kind::Authorization) {
            Some((provider, way)) if way.discovery => self.discover(record, provider, way).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Nobody left, since nothing was found: the link tells it, and so does the audit.
    async fn tell_not_found(&self, record: &Record, link: &str, actor: Actor, code: &'static str) -> Result<()> {
        let (org, id, digest) = (record.org.clone(), record.id.clone(), links::digest(link));
        self.ledger
            .commit(
                &record.org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        links::tell(connection, &org, &digest, code).await?;
                        let facts = json!({ "stage": "discovery", "code": code });
                        Ok(Changed::by((), event(&id, "connection_attempt_failed", actor, facts)))
                    })
                }),
            )
            .await
    }

    /// The authorization request. What the protocol says wins over what the provider's file adds.
    fn address(&self, source: &Source, redirect: &str, state: &str, verifier: Option<&str>) -> Result<Url> {
        let mut address = source.authorize_url.clone().ok_or_else(not_set_up)?;
        // A browser is sent to https alone, or where the operator or the people of this machine have their own servers.
        if address.scheme() != "https" && self.egress.check_address(address.as_str(), Provenance::Person).is_err() {
            return Err(not_set_up());
        }
        let (scope_name, between) = &source.scope_parameter;
        let scopes = source.scopes.join(&between.to_string());
        let challenge = verifier.map(|verifier| URL_SAFE_NO_PAD.encode(sha256(verifier)));
        let mut own = vec![
            ("response_type", "code"),
            ("client_id", source.endpoint.client.id.as_str()),
            ("redirect_uri", redirect),
            ("state", state),
        ];
        if !scopes.is_empty() {
            own.push((scope_name, &scopes));
        }
        if let Some(challenge) = &challenge {
            own.extend([("code_challenge", challenge.as_str()), ("code_challenge_method", "S256")]);
        }
        if let Some(resource) = &source.endpoint.resource {
            own.push(("resource", resource));
        }
        let fixed = source.authorize_params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let added: Vec<_> = fixed.filter(|(name, _)| !own.iter().any(|(ours, _)| ours == name)).collect();
        address.query_pairs_mut().extend_pairs(added).extend_pairs(&own);
        Ok(address)
    }

    async fn begin(&self, attempt: Attempt, trip: Trip, actor: Actor, scopes: Vec<String>) -> Result<()> {
        let (org, secrets) = (attempt.org.clone(), self.secrets.clone());
        self.ledger
            .commit(
                &org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        if attempts::starts(connection, &attempt.org, &attempt.link).await? >= MAX_STARTS {
                            return Err(too_often());
                        }
                        attempts::void(connection, &attempt.org, &attempt.connection, attempt.started_at).await?;
                        attempts::insert(connection, &secrets, &attempt, trip).await?;
                        let facts = json!({ "issuer": attempt.issuer, "scopes": scopes });
                        let kind = "connection_authorization_started";
                        Ok(Changed::by((), event(&attempt.connection, kind, actor, facts)))
                    })
                }),
            )
            .await
    }
}

fn too_often() -> Problem {
    let words = "This link was started ten times, the most there may be. Cancel, and ask your agent to add it again.";
    Problem::new(Reason::TooManyRequests, words).retry_after(60)
}

fn not_set_up() -> Problem {
    Problem::unavailable("This service is not set up here any more. Whoever runs the server can set it up again.")
}
