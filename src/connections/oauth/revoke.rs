//! Telling a provider that a token is no longer wanted (RFC 7009).

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use url::Url;

use super::{Endpoint, LIMITS, Tokens};
use crate::egress::{self, Redirects};

/// Revokes the refresh token, or the access token where there is none, once; how that went is for the log alone.
pub async fn revoke(egress: &egress::Client, endpoint: &Endpoint, at: &Url, tokens: &Tokens) {
    let (token, hint) = match &tokens.refresh_token {
        Some(token) => (token, "refresh_token"),
        None => (&tokens.access_token, "access_token"),
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    if let Some(proof) = endpoint.client.header() {
        headers.insert(AUTHORIZATION, proof);
    }
    let request = egress::Request {
        method: http::Method::POST,
        url: at.clone(),
        headers,
        body: Some(form(endpoint, token, hint)),
        provenance: endpoint.provenance,
        limits: LIMITS,
        redirects: Redirects::None,
    };
    match egress.send(request).await {
        Ok(response) if response.status.is_success() => {}
        Ok(response) => tracing::warn!(status = response.status.as_u16(), "a provider did not revoke a token"),
        Err(failure) => tracing::warn!(%failure, "a provider could not be told that a token is not wanted"),
    }
}

fn form(endpoint: &Endpoint, token: &str, hint: &str) -> Bytes {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token).append_pair("token_type_hint", hint);
    for (name, value) in endpoint.client.members() {
        form.append_pair(name, &value);
    }
    Bytes::from(form.finish())
}
