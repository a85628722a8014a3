//! Revocation (RFC 7009) and introspection (RFC 7662) (`identity.md` 7.1 and 7.5).

use serde_json::{Value, json};

use super::access_token::Claims;
use super::grants::{Because, Grant};
use super::parameters::Parameters;
use super::refusal::{Code, Refusal, Result};
use super::{AuthorizationServer, SKEW_MS, actor_of, families, revocations};
use crate::digest::sha256_hex;
use crate::ledger::{Actor, Changed, Event};

impl AuthorizationServer {
    /// Revokes what a client of its own has: a refresh token with its whole grant, an access token alone. An unknown or
    /// ended one is as good as revoked. Whether a credential came with it: the token itself, or a proof of the client.
    ///
    /// # Errors
    ///
    /// `invalid_client`, `invalid_request`, and `invalid_grant` for a token of another client.
    pub async fn revoke(&self, authorization: Option<&str>, parameters: &Parameters) -> Result<bool> {
        if parameters.any_doubled() {
            return Err(Refusal::request("A parameter came twice"));
        }
        let client = self.proven_client(authorization, parameters).await?;
        let token = parameters.only("token").ok_or_else(|| Refusal::request("token is missing"))?;
        let proven = !client.is_public();
        let foreign = || Refusal::new(Code::InvalidGrant, "The token was issued to another client");
        if let Some((org, id)) = self.place_of(token).await? {
            let Some(grant) = self.grant(&org, &id).await? else { return Ok(proven) };
            if grant.client != client.id {
                return Err(foreign());
            }
            self.revoke_grant(&org, &id, actor_of(&grant.person, ""), Because::ClientRevoked).await?;
            return Ok(true);
        }
        match self.own_claims(token) {
            Some(claims) if claims.client_id != client.id => Err(foreign()),
            Some(claims) => Ok(self.revoke_access_token(&claims).await.map(|()| true)?),
            None => Ok(proven),
        }
    }

    async fn revoke_access_token(&self, claims: &Claims) -> crate::error::Result<()> {
        let (org, jti, until) = (claims.org.clone(), claims.jti.clone(), claims.exp * 1_000 + SKEW_MS);
        let why = "one access token ends a little earlier than it would; its grant stands";
        self.0
            .ledger
            .store()
            .housekeeping(
                &claims.org,
                why,
                Box::new(move |connection| {
                    Box::pin(async move { revocations::revoke(connection, &org, &jti, until).await })
                }),
            )
            .await?;
        self.0.revocations.add(&claims.jti, until);
        Ok(())
    }

    /// What a token of `org` is good for; `{"active": false}` for any other and any that is not good. `actor` is the key
    /// that asks, and the audit says that it did.
    pub async fn introspect(&self, org: &str, actor: Actor, token: &str) -> crate::error::Result<Value> {
        let described = match self.place_of(token).await? {
            Some((of, id)) if of == org => {
                let grant = self.grant(org, &id).await?.filter(|grant| grant.is_live(self.now()));
                grant.map(|grant| self.described_grant(&grant))
            }
            Some(_) => None,
            None => self.described_access_token(org, token).await?,
        };
        let facts = json!({
            "token": sha256_hex(token)[..12],
            "active": described.is_some(),
            "grant": described.as_ref().and_then(|(grant, _)| grant.clone()),
        });
        let event = Event::audit("introspections", "introspected", actor, facts);
        self.0.ledger.commit(org, Box::new(move |_| Box::pin(async move { Ok(Changed::by((), event)) }))).await?;
        Ok(described.map_or_else(|| json!({ "active": false }), |(_, shown)| shown))
    }

    fn described_grant(&self, grant: &Grant) -> (Option<String>, Value) {
        let shown = json!({
            "active": true,
            "scope": grant.scopes,
            "client_id": grant.client,
            "token_type": "refresh_token",
            "exp": grant.expires_at / 1_000,
            "iat": grant.created_at / 1_000,
            "sub": grant.person,
            "aud": audience(&grant.resources),
            "iss": self.issuer(),
            "org": grant.org,
        });
        (Some(grant.id.clone()), shown)
    }

    async fn described_access_token(
        &self,
        org: &str,
        token: &str,
    ) -> crate::error::Result<Option<(Option<String>, Value)>> {
        if token.starts_with(families::PREFIX) {
            return Ok(None);
        }
        let now = self.now();
        let good = |claims: &Claims| {
            claims.org == org && now < claims.exp * 1_000 + SKEW_MS && !self.is_revoked(&claims.gid, &claims.jti)
        };
        let Some(claims) = self.own_claims(token).filter(good) else { return Ok(None) };
        let grant = self.grant(org, &claims.gid).await?.filter(|grant| grant.revoked_at.is_none());
        if grant.is_none() {
            return Ok(None);
        }
        let shown = json!({
            "active": true,
            "scope": claims.scope,
            "client_id": claims.client_id,
            "token_type": "Bearer",
            "exp": claims.exp,
            "iat": claims.iat,
            "sub": claims.sub,
            "aud": claims.aud,
            "iss": claims.iss,
            "jti": claims.jti,
            "org": claims.org,
        });
        Ok(Some((Some(claims.gid), shown)))
    }
}

fn audience(resources: &[String]) -> Value {
    match resources {
        [one] => one.as_str().into(),
        several => json!(several),
    }
}
