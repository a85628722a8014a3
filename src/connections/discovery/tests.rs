//! Texts of others: challenges, resources, scopes and registrations, right, wrong and at random.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use proptest::prelude::*;
use url::Url;

use super::{Challenge, protected, registration, scopes};

const NOW_MS: i64 = 1_790_847_000_000;
const REDIRECT: &str = "https://us.example/connect/return";

fn challenge(lines: &[&str]) -> Challenge {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(WWW_AUTHENTICATE, line.parse().unwrap());
    }
    Challenge::of(&headers)
}

#[test]
fn a_challenge_is_read_as_it_is_written_in_the_world() {
    let all = "Bearer realm=\"a, b\", error=insufficient_scope , scope=\"x  y x\", \
               resource_metadata=\"https://s.example/a\"";
    for lines in [&[all][..], &["Basic realm=\"r\"", all][..], &["Basic realm=\"r\", bearer scope=\"x y\""][..]] {
        assert_eq!(challenge(lines).scopes.unwrap(), ["x", "y"], "{lines:?}");
    }
    let read = challenge(&[all]);
    assert_eq!(read.resource_metadata.as_deref(), Some("https://s.example/a"));
    assert!(read.wants_more());
    for nothing in ["Bearer", "Basic realm=\"r\"", "", ",,", "Bearer scope=\"x", "Bearer scope=\"x\", scope=\"y\""] {
        assert_eq!(challenge(&[nothing]).scopes, None, "{nothing}");
    }
    assert!(!challenge(&["Bearer error=\"invalid_token\""]).wants_more());
}

#[test]
fn a_resource_is_the_server_or_holds_it() {
    for (resource, server, covers) in [
        ("https://s.example/mcp", "https://s.example/mcp", true),
        ("HTTPS://S.Example:443/mcp", "https://s.example/mcp", true),
        ("https://s.example", "https://s.example/", true),
        ("https://s.example", "https://s.example/mcp", true),
        ("https://s.example/a", "https://s.example/a/mcp", true),
        ("https://s.example/a/", "https://s.example/a/mcp", true),
        ("https://s.example/mcp?t=1", "https://s.example/mcp?t=1", true),
        ("https://s.example/mcp?t=2", "https://s.example/mcp?t=1", false),
        ("https://s.example/mc", "https://s.example/mcp", false),
        ("https://s.example/mcp/", "https://s.example/mcp", false),
        ("https://s.example/MCP", "https://s.example/mcp", false),
        ("https://s.example:8443/mcp", "https://s.example/mcp", false),
        ("http://s.example/mcp", "https://s.example/mcp", false),
        ("https://s.example.evil.example/mcp", "https://s.example/mcp", false),
        ("https://s.example@evil.example/mcp", "https://s.example/mcp", false),
        ("https://u@s.example/mcp", "https://s.example/mcp", false),
        ("https://s.example/mcp#a", "https://s.example/mcp", false),
        ("https://s.example\\mcp", "https://s.example/mcp", false),
        (" https://s.example/mcp", "https://s.example/mcp", false),
        ("urn:a", "https://s.example/mcp", false),
    ] {
        assert_eq!(protected::covers(resource, &Url::parse(server).unwrap()), covers, "{resource} {server}");
    }
}

#[test]
fn only_scopes_are_asked_for() {
    assert_eq!(scopes::of(["a", "", "b c", "a", "d\"", "e\\", "f\u{e9}", "https://g/h"]), ["a", "https://g/h"]);
    let many: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    assert_eq!(scopes::of(many.iter().map(String::as_str)).len(), 100);
    assert!(scopes::of(["x".repeat(257).as_str()]).is_empty());
}

#[test]
fn an_issuer_may_register_another_client_than_was_asked_for() {
    let read = |body: &str, asked| registration::read(body.as_bytes(), REDIRECT, asked, NOW_MS);
    let public = read(r#"{"client_id":"c","client_secret":"unasked"}"#, "none").unwrap();
    assert!(public.secret.is_none(), "a secret that is not to be sent is not kept");
    let given =
        read(r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#, "none");
    assert_eq!(given.unwrap().secret.unwrap().as_str(), "s");
    assert!(read(r#"{"client_id":"c"}"#, "client_secret_basic").is_none());
    assert!(read(r#"{"client_id":"c","client_id":"d"}"#, "none").is_none());
}

proptest! {
    #[test]
    fn no_challenge_does_any_harm(text in "[ -~]{0,200}") {
        let read = challenge(&[&text]);
        prop_assert!(read.scopes.is_none_or(|scopes| !scopes.is_empty()));
    }

    #[test]
    fn a_challenge_of_known_parts_is_read_whole(scope in "[!#-\\[\\]-~]{1,20}", path in "[a-z0-9/]{0,20}") {
        let metadata = format!("https://s.example/{path}");
        let read = challenge(&[&format!("Bearer scope=\"{scope}\", resource_metadata=\"{metadata}\"")]);
        prop_assert_eq!(read.scopes.unwrap(), vec![scope]);
        prop_assert_eq!(read.resource_metadata.unwrap(), metadata);
    }

    #[test]
    fn a_resource_that_covers_is_of_the_same_origin(resource in "https?://[a-z.:@0-9/\\\\]{0,30}") {
        let server = Url::parse("https://s.example/a/mcp").unwrap();
        if protected::covers(&resource, &server) {
            prop_assert_eq!(Url::parse(&resource).unwrap().origin(), server.origin());
        }
    }

    #[test]
    fn no_registration_does_any_harm(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(registration::read(&body, REDIRECT, "none", NOW_MS).is_none());
    }
}
