//! The documents that say where everything is: authorization server metadata (RFC 8414) and the key set (RFC 7517).

use serde_json::{Map, Value, json};

use super::AuthorizationServer;
use super::assertion;
use super::client::Method;
use super::scopes::SUPPORTED;

impl AuthorizationServer {
    /// The metadata of `identity.md` 7.1, its members in that order; the endpoint of registration only where that is on.
    pub fn metadata(&self) -> Value {
        let at = |path: &str| Value::from(format!("{}{path}", self.issuer()));
        let methods = json!(Method::ALL.map(Method::word));
        let mut document = Map::new();
        for (member, value) in [
            ("issuer", self.issuer().into()),
            ("authorization_endpoint", at("/oauth/authorize")),
            ("token_endpoint", at("/oauth/token")),
            ("revocation_endpoint", at("/oauth/revoke")),
            ("introspection_endpoint", at("/oauth/introspect")),
            ("registration_endpoint", at("/oauth/register")),
            ("jwks_uri", at("/oauth/jwks")),
            ("scopes_supported", json!(SUPPORTED)),
            ("response_types_supported", json!(["code"])),
            ("response_modes_supported", json!(["query"])),
            ("grant_types_supported", json!(["authorization_code", "refresh_token"])),
            ("code_challenge_methods_supported", json!(["S256"])),
            ("token_endpoint_auth_methods_supported", methods.clone()),
            ("token_endpoint_auth_signing_alg_values_supported", json!(assertion::ALGORITHMS)),
            ("revocation_endpoint_auth_methods_supported", methods),
            ("authorization_response_iss_parameter_supported", true.into()),
            ("client_id_metadata_document_supported", true.into()),
            ("protected_resources", json!([at(""), at("/mcp"), at("/tools/mcp"), at("/v1")])),
            ("service_documentation", at("/docs")),
        ] {
            if member != "registration_endpoint" || self.registers() {
                document.insert(member.to_owned(), value);
            }
        }
        Value::Object(document)
    }

    /// The published signing keys.
    pub fn key_set(&self) -> Value {
        let keys: Vec<Value> = self.public_key_set().into_iter().map(|key| key.jwk).collect();
        json!({ "keys": keys })
    }
}
