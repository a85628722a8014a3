//! Tokens as they come and as they are kept.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::super::Found;
use crate::secrets::Fields;

const ACCESS: &str = "access_token";
const REFRESH: &str = "refresh_token";
const GRANT: &str = "grant";

/// What a token endpoint gave (RFC 6749, section 5.1). Never printed.
#[derive(Clone)]
pub struct Tokens {
    /// Goes with each call.
    pub access_token: Zeroizing<String>,
    /// Gets the next access token.
    pub refresh_token: Option<Zeroizing<String>>,
    /// What is known of both, which is no secret.
    pub grant: Grant,
    /// What a person gave that tokens are asked for with, such as the secret of a client.
    pub given: Fields,
}

/// What is kept beside the tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// When the tokens came, in milliseconds since the epoch.
    pub obtained_at_ms: i64,
    /// When the access token ends; `None` when it does not, as far as anybody said.
    pub expires_at_ms: Option<i64>,
    /// What was granted; `None` where the answer did not say, which means as asked.
    pub scopes: Option<Vec<String>>,
    /// What was found of the issuer, where it was found through the server and not in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
}

impl Tokens {
    /// As the secrets store keeps them.
    pub fn fields(&self) -> Fields {
        let mut fields = self.given.clone();
        fields.insert(ACCESS.to_owned(), self.access_token.clone());
        if let Some(refresh) = &self.refresh_token {
            fields.insert(REFRESH.to_owned(), refresh.clone());
        }
        let grant = serde_json::to_string(&self.grant).unwrap_or_default();
        fields.insert(GRANT.to_owned(), Zeroizing::new(grant));
        fields
    }

    /// From the secrets store; `None` for a record that holds no tokens.
    pub fn of(mut fields: Fields) -> Option<Self> {
        let grant = serde_json::from_str(fields.remove(GRANT)?.as_str()).ok()?;
        let (access_token, refresh_token) = (fields.remove(ACCESS)?, fields.remove(REFRESH));
        Some(Self { access_token, refresh_token, grant, given: fields })
    }

    /// The same as the successor of `before`: what an answer leaves out stays as it was.
    pub fn after(self, before: &Self) -> Self {
        let life = before.grant.expires_at_ms.map(|end| end - before.grant.obtained_at_ms);
        let ends = self.grant.expires_at_ms.or_else(|| life.map(|life| self.grant.obtained_at_ms + life));
        Self {
            refresh_token: self.refresh_token.or_else(|| before.refresh_token.clone()),
            grant: Grant {
                expires_at_ms: ends,
                scopes: self.grant.scopes.or_else(|| before.grant.scopes.clone()),
                found: before.grant.found.clone(),
                ..self.grant
            },
            given: before.given.clone(),
            access_token: self.access_token,
        }
    }
}
