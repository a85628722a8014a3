//! The token endpoint (`identity.md` 7.4): a code or a refresh token in, an access token and a refresh token out.

use serde_json::json;
use zeroize::Zeroizing;

use super::AuthorizationServer;
use super::access_token::Subject;
use super::client::Client;
use super::codes::{Given, same_resource};
use super::families::Refreshed;
use super::grants::Grant;
use super::parameters::Parameters;
use super::refusal::{Code, Refusal, Result};
use super::scopes::Scopes;

impl AuthorizationServer {
    /// Answers a token request: the JSON body of its success, which holds tokens and is wiped when dropped.
    ///
    /// # Errors
    ///
    /// Those of RFC 6749 section 5.2 and RFC 8707.
    pub async fn token(&self, authorization: Option<&str>, parameters: &Parameters) -> Result<Zeroizing<String>> {
        if parameters.any_doubled() {
            return Err(Refusal::request("A parameter came twice"));
        }
        let client = self.proven_client(authorization, parameters).await?;
        // Before anything is used up.
        self.signing_key()?;
        match parameters.only("grant_type") {
            Some("authorization_code") => self.by_code(&client, parameters).await,
            Some("refresh_token") => self.by_refresh_token(&client, parameters).await,
            Some(_) => {
                Err(Refusal::new(Code::UnsupportedGrantType, "grant_type must be authorization_code or refresh_token"))
            }
            None => Err(Refusal::request("grant_type is missing")),
        }
    }

    async fn by_code(&self, client: &Client, parameters: &Parameters) -> Result<Zeroizing<String>> {
        let needed = |name: &'static str, words| parameters.only(name).ok_or_else(|| Refusal::request(words));
        let given = Given {
            code: Zeroizing::new(needed("code", "code is missing")?.to_owned()),
            redirect_uri: needed("redirect_uri", "redirect_uri is missing")?.to_owned(),
            verifier: Zeroizing::new(needed("code_verifier", "code_verifier is missing")?.to_owned()),
            resource: parameters.only("resource").map(str::to_owned),
        };
        let taken = self.take_code(client, given).await?;
        let scopes = taken.grant.scopes;
        self.answer_with(&taken.grant, scopes, taken.token.as_ref())
    }

    async fn by_refresh_token(&self, client: &Client, parameters: &Parameters) -> Result<Zeroizing<String>> {
        let given = parameters.only("refresh_token").ok_or_else(|| Refusal::request("refresh_token is missing"))?;
        if !client.gets_refresh_tokens() {
            return Err(Refusal::new(Code::UnauthorizedClient, "The client did not register for refresh tokens"));
        }
        let narrower = Scopes::known(parameters.only("scope").unwrap_or_default());
        let (resource, public_url) = (parameters.only("resource").map(str::to_owned), self.issuer().to_owned());
        let fits = move |grant: &Grant| {
            if !narrower.within(grant.scopes) {
                return Err(Refusal::new(Code::InvalidScope, "scope names more than was granted"));
            }
            same_resource(resource.as_deref(), &grant.resources, &public_url)
        };
        match self.use_refresh_token(given, &client.id, fits).await?? {
            Refreshed::Good { grant, token } => {
                let scopes = if narrower.is_empty() { grant.scopes } else { narrower.closure().and(grant.scopes) };
                self.answer_with(&grant, scopes, token.as_ref())
            }
            Refreshed::Bad | Refreshed::Reused { .. } => Err(Refusal::grant()),
        }
    }

    fn answer_with(
        &self,
        grant: &Grant,
        scopes: Scopes,
        refresh_token: Option<&Zeroizing<String>>,
    ) -> Result<Zeroizing<String>> {
        let subject = Subject {
            org: grant.org.clone(),
            grant: grant.id.clone(),
            person: grant.person.clone(),
            client: grant.client.clone(),
            resources: grant.resources.clone(),
            scopes,
            auth_time_ms: grant.auth_time,
        };
        let mut answer = json!({
            "access_token": self.issue(&subject)?,
            "token_type": "Bearer",
            "expires_in": self.access_token_ttl_ms() / 1_000,
        });
        if let Some(token) = refresh_token {
            answer["refresh_token"] = token.as_str().into();
        }
        answer["scope"] = scopes.to_string().into();
        Ok(Zeroizing::new(answer.to_string()))
    }
}
