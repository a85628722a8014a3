//! ID tokens: what a provider tells Studio of who has just signed in there (OpenID Connect Core, section 3.1.3.7). The
//! checks are those of access tokens, and that it was made for this client and this very attempt.

use std::sync::Arc;

use serde_json::Value;

use super::check::{self, SKEW_MS};
use super::claims::Claims;
use super::published::Published;
use super::refused::{Cause, Failure, Refused};
use super::rules::Rules;
use super::unverified::Unverified;
use crate::clock::SharedClock;
use crate::config::Issuer;

/// Takes the ID tokens of one issuer for one client.
pub struct IdTokens {
    rules: Rules,
    client: String,
    keys: Arc<Published>,
    clock: SharedClock,
}

/// The attempt a token has to be an answer to.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What was sent along, to come back in the token.
    pub nonce: &'a str,
    /// When a new proof was asked for, in milliseconds since the Unix epoch; none where any sign-in at the issuer does.
    pub anew_since_ms: Option<i64>,
}

impl IdTokens {
    /// Those of a provider called `issuer`, for the client of this id.
    pub fn of_provider(issuer: &str, client: &str, keys: Arc<Published>, clock: SharedClock) -> Self {
        Self { rules: Rules::provider(issuer), client: client.to_owned(), keys, clock }
    }

    /// Those of the issuer outside, whose claims mean what the operator says.
    pub fn of_issuer(issuer: &Issuer, client: &str, keys: Arc<Published>, clock: SharedClock) -> Self {
        Self { rules: Rules::external_identity(issuer), client: client.to_owned(), keys, clock }
    }

    /// What the issuer publishes.
    pub fn published(&self) -> &Published {
        &self.keys
    }

    /// The claims of a token that is good and answers what was asked.
    ///
    /// # Errors
    ///
    /// [`Failure`], as for an access token.
    pub async fn check(&self, text: &str, asked: Asked<'_>) -> Result<Arc<Claims>, Failure> {
        let token = Unverified::read(text, &self.rules)?;
        let keys = self.keys.for_key(token.key_id.as_deref()).await?;
        let claims = check::verify(&token, &keys, &self.rules, self.clock.now_ms())?.claims;
        answers(&token.claims, &claims, &self.client, asked)?;
        Ok(claims)
    }
}

/// Whether a token is for `client` and for the attempt.
fn answers(payload: &Value, claims: &Claims, client: &str, asked: Asked<'_>) -> Result<(), Refused> {
    let azp = payload.get("azp");
    let among = claims.audiences.iter().any(|audience| audience == client);
    // Of several audiences the issuer has to say whom it gave the token to.
    let given_to_us = match azp {
        None => claims.audiences.len() == 1,
        Some(azp) => azp.as_str() == Some(client),
    };
    if !among || !given_to_us {
        return Err(Refused(Cause::Client));
    }
    if payload.get("nonce").and_then(Value::as_str) != Some(asked.nonce) {
        return Err(Refused(Cause::Nonce));
    }
    match (asked.anew_since_ms, claims.auth_time_ms) {
        (Some(since), Some(at)) if at < since - SKEW_MS => Err(Refused(Cause::Stale)),
        _ => Ok(()),
    }
}
