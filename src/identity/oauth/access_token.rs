//! Access tokens: JWTs of the profile of RFC 9068, signed ES256 (`identity.md` 7.4). They say who, for whom, where and
//! until when; name, email and role are read at use.

use jsonwebtoken::{Algorithm, Header, Validation};
use serde::{Deserialize, Serialize};

use super::AuthorizationServer;
use super::scopes::Scopes;
use crate::error::{Problem, Result};

/// One resource as text, or the list of the two where the client named none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Audience {
    /// The one.
    One(String),
    /// The several.
    Several(Vec<String>),
}

/// The claims of an access token; times in seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// This server.
    pub iss: String,
    /// The person.
    pub sub: String,
    /// The resources it reaches.
    pub aud: Audience,
    /// The client it was issued to.
    pub client_id: String,
    /// What it may do.
    pub scope: Scopes,
    /// The org it acts in.
    pub org: String,
    /// When it was issued.
    pub iat: i64,
    /// When it ends.
    pub exp: i64,
    /// Its own id.
    pub jti: String,
    /// The grant it comes from.
    pub gid: String,
    /// When the person signed in, before they consented.
    pub auth_time: i64,
}

/// What a token is issued for.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The org.
    pub org: String,
    /// The grant.
    pub grant: String,
    /// The person.
    pub person: String,
    /// The client.
    pub client: String,
    /// The resources, in canonical form.
    pub resources: Vec<String>,
    /// What it may do.
    pub scopes: Scopes,
    /// When the person signed in, in milliseconds.
    pub auth_time_ms: i64,
}

impl AuthorizationServer {
    /// Issues a token for `subject`.
    ///
    /// # Errors
    ///
    /// Unavailable where there is no key to sign with.
    pub fn issue(&self, subject: &Subject) -> Result<String> {
        let (kid, key) = self.signing_key()?;
        let now = self.now();
        let aud = match subject.resources.as_slice() {
            [one] => Audience::One(one.clone()),
            several => Audience::Several(several.to_vec()),
        };
        let claims = Claims {
            iss: self.issuer().to_owned(),
            sub: subject.person.clone(),
            aud,
            client_id: subject.client.clone(),
            scope: subject.scopes,
            org: subject.org.clone(),
            iat: now / 1_000,
            exp: (now + self.access_token_ttl_ms()) / 1_000,
            jti: self.0.ids.uuid(now).to_string(),
            gid: subject.grant.clone(),
            auth_time: subject.auth_time_ms / 1_000,
        };
        let mut header = Header::new(Algorithm::ES256);
        header.typ = Some("at+jwt".into());
        header.kid = Some(kid);
        jsonwebtoken::encode(&header, &claims, &key).map_err(Problem::internal)
    }

    /// The claims of a token that this server signed with a key it still publishes, ended or not: for whoever revokes or
    /// introspects one. The whole check of a credential is that of `tokens`.
    pub(super) fn own_claims(&self, token: &str) -> Option<Claims> {
        let kid = jsonwebtoken::decode_header(token).ok()?.kid?;
        let key = self.public_key(&kid)?;
        let mut validation = Validation::new(Algorithm::ES256);
        // The library asks the machine's clock; whoever asks here compares with ours.
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.set_issuer(&[self.issuer()]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        jsonwebtoken::decode::<Claims>(token, &key.key, &validation).ok().map(|data| data.claims)
    }
}
