//! A request as the simulated provider saw it.

use std::collections::HashMap;

use axum::body::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method, Uri};
use serde_json::Value;

/// A request that reached the provider.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// The parameters of its query.
    pub query: HashMap<String, String>,
    /// Its `Authorization`, empty where there is none.
    pub authorization: String,
    /// The members of its body, of a form or of JSON.
    pub members: HashMap<String, String>,
    /// Whether the body is JSON.
    pub is_json: bool,
    /// The body as it came.
    pub body: String,
}

impl Request {
    pub(super) fn of(method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> Self {
        let text = |name| headers.get(name).map_or("", |value: &http::HeaderValue| value.to_str().unwrap_or_default());
        let is_json = text(CONTENT_TYPE).starts_with("application/json");
        let members = if is_json {
            let members: HashMap<String, Value> = serde_json::from_slice(body).unwrap_or_default();
            let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
        } else {
            url::form_urlencoded::parse(body).into_owned().collect()
        };
        Self {
            method: method.to_string(),
            path: uri.path().to_owned(),
            query: url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect(),
            authorization: text(AUTHORIZATION).to_owned(),
            members,
            is_json,
            body: String::from_utf8_lossy(body).into_owned(),
        }
    }

    /// A member of its body, empty where there is none.
    pub fn member(&self, name: &str) -> &str {
        self.members.get(name).map_or("", String::as_str)
    }

    /// The bearer token it carries.
    pub(super) fn bearer(&self) -> Option<&str> {
        self.authorization.strip_prefix("Bearer ")
    }
}
