//! From the code a browser brought back to what the ID token says; every other token is dropped unread.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
};
use oauth2::{
    AuthType, AuthorizationCode, Client, ClientId, ClientSecret, ExtraTokenFields, HttpRequest, HttpResponse,
    PkceCodeVerifier, RedirectUrl, RequestTokenError, StandardRevocableToken, StandardTokenResponse, TokenUrl,
};
use serde::{Deserialize, Serialize};
use url::Url;

use super::attempts::Trip;
use super::{Trouble, Upstream};
use crate::egress::{self, Failure};
use crate::error::Problem;
use crate::identity::tokens::{self, Asked, Claims};

/// The bounds of an exchange: a person waits for it.
const LIMITS: egress::Limits = egress::Limits {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(10),
    whole: Duration::from_secs(10),
    body_bytes: 256 << 10,
};

/// The most levels of an answer.
const MAX_DEPTH: usize = 16;

/// The client of a provider.
pub(super) type Provider = Client<
    BasicErrorResponse,
    StandardTokenResponse<WithIdToken, BasicTokenType>,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
>;

/// What OpenID Connect adds to a token answer.
#[derive(Deserialize, Serialize)]
pub(super) struct WithIdToken {
    id_token: Option<String>,
}

impl fmt::Debug for WithIdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithIdToken")
    }
}

impl ExtraTokenFields for WithIdToken {}

impl Upstream {
    /// What the provider tells of whoever brought `code`.
    pub(super) async fn told(
        &self,
        code: &str,
        redirect: &str,
        trip: &Trip<'_>,
        anew_since_ms: Option<i64>,
    ) -> Result<Arc<Claims>, Trouble> {
        let token = self.exchange(code, redirect, trip.verifier()).await?;
        let asked = Asked { nonce: &trip.nonce(), anew_since_ms };
        self.tokens.check(&token, asked).await.map_err(|failure| match failure {
            tokens::Failure::Unavailable => Trouble::Unanswered,
            tokens::Failure::Refused(refused) => {
                tracing::warn!(provider = self.name, cause = refused.cause(), "an ID token is refused");
                if refused.is_of_place() { Trouble::NotInvited } else { Trouble::Untrusted }
            }
        })
    }

    /// The token request (RFC 6749, section 4.1.3), in the one way of proving the client that was chosen.
    async fn exchange(&self, code: &str, redirect: &str, verifier: String) -> Result<String, Trouble> {
        let metadata = self.tokens.published().discovery().metadata().await.ok_or(Trouble::Unanswered)?;
        let Some(endpoint) = metadata.token_endpoint.clone() else { return Err(self.has_no("token")) };
        let methods = &metadata.token_endpoint_auth_methods_supported;
        let takes = |method: &str| methods.iter().any(|known| known == method);
        // RFC 8414, section 2: who says nothing takes Basic.
        let in_form = takes("client_secret_post") && !takes("client_secret_basic");
        let client: Provider = Client::new(ClientId::new(self.client.id.clone()));
        let mut client = client
            .set_auth_type(if in_form { AuthType::RequestBody } else { AuthType::BasicAuth })
            .set_redirect_uri(RedirectUrl::new(redirect.to_owned()).map_err(Problem::internal)?);
        if let Some(secret) = &self.client.secret {
            client = client.set_client_secret(ClientSecret::new(secret.expose().to_owned()));
        }
        let client = client.set_token_uri(TokenUrl::from_url(endpoint));
        let send = |request| send(self.egress.clone(), request);
        let request = client.exchange_code(AuthorizationCode::new(code.to_owned()));
        let answer = request.set_pkce_verifier(PkceCodeVerifier::new(verifier)).request_async(&send).await;
        let answer = answer.map_err(|error| self.refused(&error))?;
        answer.extra_fields().id_token.clone().ok_or_else(|| {
            tracing::warn!(provider = self.name, "the provider's answer has no ID token");
            Trouble::Unanswered
        })
    }

    /// The log learns what kind of fault it was, and nothing the provider wrote.
    fn refused(&self, error: &RequestTokenError<Failure, BasicErrorResponse>) -> Trouble {
        let cause = match error {
            RequestTokenError::ServerResponse(_) => "it refused the code or the client",
            RequestTokenError::Request(failure) => {
                tracing::warn!(provider = self.name, %failure, "the provider's token endpoint cannot be used");
                return Trouble::Unanswered;
            }
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => "its answer is no token answer",
        };
        tracing::warn!(provider = self.name, cause, "the provider exchanged no code");
        Trouble::Unanswered
    }
}

/// Sends a request of the library through the one way out: the operator trusts the issuer that named the address.
async fn send(egress: egress::Client, request: HttpRequest) -> Result<HttpResponse, Failure> {
    let (head, body) = request.into_parts();
    let request = egress::Request {
        method: head.method,
        url: Url::parse(&head.uri.to_string()).map_err(|_| Failure::Broken)?,
        headers: head.headers,
        body: Some(Bytes::from(body)),
        provenance: egress::Provenance::Operator,
        limits: LIMITS,
        redirects: egress::Redirects::None,
    };
    let answer = egress.send(request).await?;
    let bytes = answer.body.bytes().await?;
    let text = std::str::from_utf8(&bytes).map_err(|_| Failure::Broken)?;
    // What two readers could read in two ways is refused, as in a token.
    if answer.status.is_success() && crate::json::strict(text, MAX_DEPTH).is_none() {
        return Err(Failure::Broken);
    }
    let mut response = HttpResponse::new(bytes.to_vec());
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    Ok(response)
}
