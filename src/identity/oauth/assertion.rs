//! Client assertions: `private_key_jwt` (RFC 7523 section 3, `identity.md` 7.4).

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::Value;

use super::AuthorizationServer;
use super::access_token::Audience;
use super::client::{Client, Keys};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::on_connection;

/// What `client_assertion_type` says.
pub const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The algorithms, as the metadata lists them.
pub const ALGORITHMS: [&str; 3] = ["ES256", "RS256", "EdDSA"];

const ALLOWED: [Algorithm; 3] = [Algorithm::ES256, Algorithm::RS256, Algorithm::EdDSA];
/// The most bytes of an assertion, and of an id in it.
const LONGEST: usize = 8 << 10;
const LONGEST_ID: usize = 256;
/// How far away its end may be, in seconds.
const FURTHEST_S: i64 = 5 * 60;
/// How far two clocks may differ, in seconds.
const SKEW_S: i64 = 60;

const ONCE: &str = "INSERT INTO oauth_assertions (client, digest, expires_at) VALUES ($1, $2, $3) \
     ON CONFLICT (client, digest) DO NOTHING";

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: i64,
    nbf: Option<i64>,
    iat: Option<i64>,
    jti: String,
}

/// The client an assertion says it is of, before anything of it is believed.
pub(super) fn claimed_client(assertion: &str) -> Option<String> {
    let claims: Value = jsonwebtoken::dangerous::insecure_decode_claims(assertion).ok()?;
    claims.get("sub").and_then(Value::as_str).map(str::to_owned)
}

impl AuthorizationServer {
    /// Whether `assertion` proves that who sends it is `client`; good once.
    pub(super) async fn asserts(&self, client: &Client, assertion: &str) -> Result<bool> {
        let Some(claims) = self.verified(client, assertion).await else { return Ok(false) };
        let now = self.now() / 1_000;
        let ours = [self.issuer().to_owned(), format!("{}/oauth/token", self.issuer())];
        let for_us = match &claims.aud {
            Audience::One(one) => ours.contains(one),
            Audience::Several(several) => several.len() <= 16 && several.iter().any(|one| ours.contains(one)),
        };
        let timely = now < claims.exp.saturating_add(SKEW_S)
            && claims.exp <= now + FURTHEST_S + SKEW_S
            && claims.nbf.is_none_or(|nbf| nbf <= now + SKEW_S)
            && claims.iat.is_none_or(|iat| iat <= now + SKEW_S);
        let named = claims.iss == client.id && claims.sub == client.id && (1..=LONGEST_ID).contains(&claims.jti.len());
        if !(for_us && timely && named) {
            return Ok(false);
        }
        self.is_first_use(&client.id, &claims.jti, (claims.exp + SKEW_S) * 1_000).await
    }

    async fn verified(&self, client: &Client, assertion: &str) -> Option<Claims> {
        let header = jsonwebtoken::decode_header(assertion).ok().filter(|_| assertion.len() <= LONGEST)?;
        let kid = header.kid.as_deref();
        if kid.is_some_and(|kid| kid.len() > LONGEST_ID) || header.crit.is_some() || !ALLOWED.contains(&header.alg) {
            return None;
        }
        let set = match &client.keys {
            Keys::Here(set) => set.clone(),
            Keys::At(address) => self.keys_at(address, |set| fitting(set, kid, header.alg).is_some()).await?,
            Keys::None => return None,
        };
        let key = fitting(&set, kid, header.alg)?;
        let mut validation = Validation::new(header.alg);
        // Times and audience are compared above, with our own clock.
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        jsonwebtoken::decode::<Claims>(assertion, &key, &validation).ok().map(|data| data.claims)
    }

    async fn is_first_use(&self, client: &str, jti: &str, until_ms: i64) -> Result<bool> {
        let (client, digest) = (client.to_owned(), sha256_hex(jti));
        let why = "that an assertion was used is only kept so that it is good once";
        self.0
            .ledger
            .store()
            .housekeeping(
                super::SERVER,
                why,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let new = on_connection!(connection, c => sqlx::query(ONCE)
                            .bind(&client).bind(&digest).bind(until_ms).execute(c).await.map(|done| done.rows_affected()))?;
                        Ok(new == 1)
                    })
                }),
            )
            .await
    }
}

/// The key of a set that an assertion with this header was signed with: the one of its id, or the only one that fits.
fn fitting(set: &Value, kid: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
    let kind = match algorithm {
        Algorithm::ES256 => ("EC", Some("P-256")),
        Algorithm::EdDSA => ("OKP", Some("Ed25519")),
        _ => ("RSA", None),
    };
    let text = |key: &Value, member: &str| key.get(member).and_then(Value::as_str).map(str::to_owned);
    let fits = |key: &&Value| {
        text(key, "kty").as_deref() == Some(kind.0)
            && kind.1.is_none_or(|curve| text(key, "crv").as_deref() == Some(curve))
            && text(key, "use").is_none_or(|usage| usage == "sig")
            && text(key, "alg").is_none_or(|alg| alg == format!("{algorithm:?}"))
            && kid.is_none_or(|kid| text(key, "kid").as_deref() == Some(kid))
    };
    let mut found = set.get("keys")?.as_array()?.iter().filter(fits);
    let (Some(key), None) = (found.next(), found.next()) else { return None };
    let jwk: Jwk = serde_json::from_value(key.clone()).ok()?;
    DecodingKey::from_jwk(&jwk).ok()
}
