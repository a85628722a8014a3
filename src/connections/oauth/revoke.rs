//! Ending a grant at its provider (RFC 7009, and what providers have instead of it).

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::json;
use url::Url;
use zeroize::Zeroizing;

use super::{Client, LIMITS, Tokens};
use crate::connections::catalogue::{Revoke, RevokeMethod, RevokedToken};
use crate::egress::{self, Provenance, Redirects};

/// Where and how grants are ended. It has no `Debug`: the client's secret is in it.
#[derive(Clone)]
pub struct Revocation {
    /// The address.
    pub url: Url,
    /// Who wrote it.
    pub provenance: Provenance,
    /// How the provider wants it.
    pub rules: Revoke,
    /// Who asks.
    pub client: Client,
}

/// Ends the grant of `tokens`: the refresh token first, then the access token, where the provider takes both.
///
/// # Errors
/// Why the provider did not say that it is done, in a word for the audit.
pub async fn revoke(egress: &egress::Client, at: &Revocation, tokens: &Tokens, now_ms: i64) -> Result<(), String> {
    let access = (&tokens.access_token, "access_token");
    let refresh = tokens.refresh_token.as_ref().map(|token| (token, "refresh_token"));
    let sent = match (at.rules.method, at.rules.token, refresh) {
        (RevokeMethod::Rfc7009, RevokedToken::Refresh, Some(refresh)) => vec![refresh, access],
        (_, RevokedToken::Refresh, Some(refresh)) => vec![refresh],
        _ => vec![access],
    };
    for (token, kind) in sent {
        one(egress, at, (token, kind), now_ms).await?;
    }
    Ok(())
}

async fn one(
    egress: &egress::Client,
    at: &Revocation,
    (token, kind): (&Zeroizing<String>, &'static str),
    now_ms: i64,
) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    if let Some(proof) = at.client.header() {
        headers.insert(AUTHORIZATION, proof);
    }
    let mut url = at.url.clone();
    let (method, content) = match at.rules.method {
        RevokeMethod::Rfc7009 => {
            (Method::POST, Some(("application/x-www-form-urlencoded", form(at, token, kind, now_ms))))
        }
        RevokeMethod::Delete => {
            (Method::DELETE, Some(("application/json", Bytes::from(json!({ kind: token.as_str() }).to_string()))))
        }
        RevokeMethod::Get => {
            url.query_pairs_mut().append_pair("token", token);
            (Method::GET, None)
        }
    };
    let body = content.map(|(content_type, body)| {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        body
    });
    let request = egress::Request {
        method,
        url,
        headers,
        body,
        provenance: at.provenance,
        limits: LIMITS,
        redirects: Redirects::None,
    };
    match egress.send(request).await {
        Ok(response) if response.status.is_success() => Ok(()),
        // A token the provider does not know is one that is ended; RFC 7009 says 200, some say 404.
        Ok(response) if matches!(response.status.as_u16(), 404 | 410) => Ok(()),
        Ok(response) => Err(format!("http_{}", response.status.as_u16())),
        Err(_) => Err("unreachable".into()),
    }
}

fn form(at: &Revocation, token: &str, kind: &str, now_ms: i64) -> Bytes {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token).append_pair("token_type_hint", kind);
    for (name, value) in at.client.members(at.url.as_str(), now_ms) {
        form.append_pair(name, &value);
    }
    Bytes::from(form.finish())
}
