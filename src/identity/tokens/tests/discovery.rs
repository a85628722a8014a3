//! What an issuer says of itself, asked for in the order of MCP.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{MockIssuer, NOW_MS, ok, with};
use crate::clock::ManualClock;
use crate::egress::{Client, Policy};
use crate::identity::tokens::Discovery;
use crate::identity::tokens::discovery::Metadata;

const OAUTH: &str = "/.well-known/oauth-authorization-server/t1";
const INSERTED: &str = "/.well-known/openid-configuration/t1";
const APPENDED: &str = "/t1/.well-known/openid-configuration";

async fn mock() -> (MockIssuer, Discovery, Arc<ManualClock>) {
    let mock = MockIssuer::new().await;
    let clock = Arc::new(ManualClock::at(NOW_MS));
    let discovery = Discovery::new(&mock.url("/t1"), Client::new(Policy::default()).unwrap(), clock.clone());
    (mock, discovery, clock)
}

fn document(issuer: &str) -> Value {
    json!({
        "issuer": issuer, "jwks_uri": "https://keys.example.com/jwks",
        "authorization_endpoint": "https://id.example.com/authorize", "token_endpoint": "https://id.example.com/token",
        "registration_endpoint": "https://id.example.com/register", "code_challenge_methods_supported": ["plain", "S256"],
        "authorization_response_iss_parameter_supported": true,
    })
}

#[tokio::test]
async fn the_first_good_document_is_taken_and_remembered() {
    let (mock, discovery, _) = mock().await;
    mock.answer(OAUTH, ok("", "<html>"));
    mock.answer(APPENDED, ok("", document(&mock.url("/t1")).to_string()));
    let metadata = discovery.metadata().await.unwrap();
    assert_eq!(metadata.jwks_uri.as_str(), "https://keys.example.com/jwks");
    assert_eq!(metadata.token_endpoint.as_ref().unwrap().as_str(), "https://id.example.com/token");
    assert!(metadata.authorization_response_iss_parameter_supported && metadata.shortcomings().is_empty());
    assert_eq!(mock.asked(), [OAUTH, INSERTED, APPENDED]);
    discovery.metadata().await.unwrap();
    assert_eq!(mock.asked().len(), 3);
}

/// Security case 41, for the issuer of this server's people.
#[tokio::test]
async fn a_document_of_somebody_else_is_not_taken() {
    let (mock, discovery, clock) = mock().await;
    mock.answer(OAUTH, ok("", document("https://evil.example").to_string()));
    mock.answer(INSERTED, ok("", document(&mock.url("/t1/")).to_string()));
    assert!(discovery.metadata().await.is_none());
    mock.answer(APPENDED, ok("", document(&mock.url("/t1")).to_string()));
    assert!(discovery.metadata().await.is_none(), "the next try is not due");
    assert_eq!(mock.asked().len(), 3);
    clock.advance_ms(1_000);
    assert!(discovery.metadata().await.is_some());
}

#[test]
fn addresses_in_the_document_are_https_or_loopback() {
    let issuer = "https://id.example.com";
    let read = |member: &str, value: Value| Metadata::read(issuer, &with(document(issuer), member, value));
    for bad in [
        json!("http://id.example.com/jwks"),
        json!("javascript:alert(1)"),
        json!("file:///etc/passwd"),
        json!("https://u:p@id.example.com/jwks"),
        json!(7),
        Value::Null,
    ] {
        assert!(read("jwks_uri", bad.clone()).is_err(), "{bad}");
        assert!(read("authorization_endpoint", bad.clone()).unwrap().authorization_endpoint.is_none(), "{bad}");
    }
    assert!(read("jwks_uri", "http://127.0.0.1:9/jwks".into()).is_ok());
}

#[test]
fn what_clients_will_stumble_over_is_told() {
    let issuer = "https://id.example.com";
    let bare = with(
        with(document(issuer), "registration_endpoint", Value::Null),
        "code_challenge_methods_supported",
        Value::Null,
    );
    let told = Metadata::read(issuer, &bare).unwrap().shortcomings();
    assert!(told.len() == 2 && told[0].contains("S256") && told[1].contains("registers no clients"), "{told:?}");
    let documents = with(bare, "client_id_metadata_document_supported", true.into());
    assert_eq!(Metadata::read(issuer, &documents).unwrap().shortcomings().len(), 1);
}
