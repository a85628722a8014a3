//! A browser leaves for a provider: the address it goes to, and what is kept until it is back.

use oauth2::{AuthUrl, Client, ClientId, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope};
use url::Url;

use super::attempts::{Away, Kind, SECRET_LENGTH, Trip, is_secret};
use super::exchange::Provider;
use super::{Trouble, Upstream};
use crate::digest::sha256_hex;
use crate::error::Problem;
use crate::identity::Identity;
use crate::identity::sign_in::sessions::Session;
use crate::identity::sign_in::throttle::{Subject, UPSTREAM};

/// How long a browser may be away, in milliseconds.
pub const AWAY_MS: i64 = 10 * 60 * 1_000;

/// A browser about to leave.
pub struct Departure {
    /// Where it goes.
    pub address: Url,
    /// The secret its cookie holds until it is back.
    pub browser: String,
}

impl Identity {
    /// Lets a browser leave for `upstream`, to come back at `redirect`. `before` is the session it has: then its person shows
    /// anew that it is still them. `held` is the secret it has already, from a page beside this one.
    ///
    /// # Errors
    /// 429 for too many from one address; [`Trouble::Unanswered`] while the provider cannot be asked.
    pub async fn depart(
        &self,
        upstream: &Upstream,
        redirect: &str,
        held: Option<&str>,
        before: Option<&Session>,
        address: &str,
    ) -> Result<Departure, Trouble> {
        self.count_in(vec![(Subject::of("upstream", address), UPSTREAM)]).await?;
        let browser = held.filter(|held| is_secret(held)).map(str::to_owned);
        let browser = browser.unwrap_or_else(|| self.ids().base62("", SECRET_LENGTH));
        let state = self.ids().base62("", SECRET_LENGTH);
        let trip = Trip { browser: &browser, state: &state };
        let address = upstream.address(&trip, redirect, before.is_some()).await?;
        let now = self.now_ms();
        let away = Away { provider: upstream.name.clone(), browser: sha256_hex(&browser), since_ms: now };
        let person = before.map(|session| session.person.clone());
        self.keep_attempt(Kind::Away, &state, person, &away, now + AWAY_MS).await?;
        Ok(Departure { address, browser })
    }
}

impl Upstream {
    /// The authorization request (RFC 6749, section 4.1.1; RFC 7636; OpenID Connect Core, section 3.1.2.1).
    async fn address(&self, trip: &Trip<'_>, redirect: &str, anew: bool) -> Result<Url, Trouble> {
        let metadata = self.tokens.published().discovery().metadata().await.ok_or(Trouble::Unanswered)?;
        let Some(endpoint) = metadata.authorization_endpoint.clone() else { return Err(self.has_no("authorization")) };
        let redirect = RedirectUrl::new(redirect.to_owned()).map_err(Problem::internal)?;
        let client: Provider = Client::new(ClientId::new(self.client.id.clone()));
        let client = client.set_auth_uri(AuthUrl::from_url(endpoint)).set_redirect_uri(redirect);
        let verifier = PkceCodeVerifier::new(trip.verifier());
        let state = CsrfToken::new(trip.state.to_owned());
        let mut request = client
            .authorize_url(|| state)
            .add_scopes(self.scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .add_extra_param("nonce", trip.nonce());
        if anew {
            request = request.add_extra_param("prompt", "login").add_extra_param("max_age", "0");
        }
        Ok(request.url().0)
    }

    /// The operator's issuer lacks an endpoint that nobody can sign in without.
    pub(super) fn has_no(&self, endpoint: &'static str) -> Trouble {
        tracing::error!(provider = self.name, endpoint, "the provider's metadata names no such endpoint with https");
        Trouble::Unanswered
    }
}
