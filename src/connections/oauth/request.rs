//! A token request as it is sent (RFC 6749, sections 4.1.3 and 6).

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::Endpoint;
use crate::connections::catalogue::RequestBody;

/// What tokens are asked for with.
#[derive(Clone, Copy)]
pub enum Grant<'a> {
    /// The code a person brought back.
    Code {
        /// The code.
        code: &'a str,
        /// The verifier of PKCE (RFC 7636), where the way has it.
        verifier: Option<&'a str>,
        /// The address the person came back to.
        redirect: &'a str,
    },
    /// The refresh token of an earlier answer.
    Refresh {
        /// The token.
        refresh_token: &'a str,
    },
    /// The client itself (RFC 6749, section 4.4).
    ClientCredentials {
        /// Scopes asked for; none is the provider's own choice.
        scopes: &'a [String],
    },
}

/// Headers and body of the request.
pub(super) fn written(endpoint: &Endpoint, grant: Grant<'_>, now_ms: i64) -> (HeaderMap, Bytes) {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(proof) = endpoint.client.header() {
        headers.insert(AUTHORIZATION, proof);
    }
    let members = members(endpoint, grant, now_ms);
    let (content_type, body) = match endpoint.body {
        RequestBody::Form => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in &members {
                form.append_pair(name, value);
            }
            ("application/x-www-form-urlencoded", form.finish())
        }
        RequestBody::Json => {
            let members = members.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            ("application/json", Value::Object(members.collect::<Map<_, _>>()).to_string())
        }
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    (headers, Bytes::from(body))
}

/// The members of the body; what the protocol says wins over what the provider's file adds.
fn members(endpoint: &Endpoint, grant: Grant<'_>, now_ms: i64) -> BTreeMap<String, Zeroizing<String>> {
    let joined;
    let (fixed, own) = match grant {
        Grant::Code { code, verifier, redirect } => {
            let mut own = vec![("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect)];
            own.extend(verifier.map(|verifier| ("code_verifier", verifier)));
            (&endpoint.token_params, own)
        }
        Grant::Refresh { refresh_token } => {
            (&endpoint.refresh_params, vec![("grant_type", "refresh_token"), ("refresh_token", refresh_token)])
        }
        Grant::ClientCredentials { scopes } => {
            joined = scopes.join(" ");
            let scope = (!joined.is_empty()).then_some(("scope", joined.as_str()));
            (&endpoint.token_params, [("grant_type", "client_credentials")].into_iter().chain(scope).collect())
        }
    };
    let mut members: BTreeMap<String, Zeroizing<String>> =
        fixed.iter().map(|(name, value)| (name.clone(), Zeroizing::new(value.clone()))).collect();
    members.extend(own.into_iter().map(|(name, value)| (name.to_owned(), Zeroizing::new(value.to_owned()))));
    members.extend(
        endpoint
            .client
            .members(endpoint.url.as_str(), now_ms)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value)),
    );
    if let Some(resource) = &endpoint.resource {
        members.insert("resource".to_owned(), Zeroizing::new(resource.clone()));
    }
    members
}
