//! What a server or its issuer says and nobody believes (security cases 41 and 50): each ends at `start` with a code, before
//! a browser or a request goes anywhere.

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{ISSUER, PROTECTED, Remote, start};

/// The start is refused with this code, which the audit and the page know too; nobody was registered or sent anywhere.
async fn refused(remote: &Remote, code: &str, what: &str) {
    let page = remote.page().await;
    let answer = start(&page).await;
    assert_eq!(answer.refused(503, "unavailable")["code"], code, "{what}: {}", answer.text);
    assert_eq!(answer.header("set-cookie"), "", "{what}");
    let row = remote.server.audit("local").await.pop().unwrap();
    assert_eq!(row.kind, "connection_attempt_failed", "{what}");
    assert_eq!(row.data, json!({ "stage": "discovery", "code": code }), "{what}");
    let read = page.read().await.done(200);
    assert_eq!((&read["state"], &read["attempt"]["last_error"]["code"]), (&json!("provider_error"), &json!(code)));
}

#[tokio::test]
async fn metadata_of_another_resource_is_refused() {
    for resource in [
        "https://elsewhere.example/mcp".to_owned(),
        "$/mc".to_owned(),
        "$/mcp/deeper".to_owned(),
        "$/mcp?tenant=1".to_owned(),
        "$/mcp#part".to_owned(),
        "javascript:alert(1)".to_owned(),
        String::new(),
    ] {
        let remote = Remote::start().await;
        let resource = resource.replace('$', &remote.simulator.url(""));
        remote.change(PROTECTED, |document| document["resource"] = resource.as_str().into());
        refused(&remote, "metadata_mismatch", &resource).await;
        assert_eq!(remote.asked(ISSUER), 0, "{resource}");
    }
    for without in [json!(null), json!(7), json!(["a"])] {
        let remote = Remote::with(PROTECTED, |document| document["resource"] = without.clone()).await;
        refused(&remote, "metadata_mismatch", &without.to_string()).await;
    }
}

#[tokio::test]
async fn a_lying_issuer_is_refused() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let inner = format!("https://{}", silent.local_addr().unwrap());
    let lies: Vec<(&str, Value, &str)> = vec![
        ("issuer", "https://elsewhere.example".into(), "metadata_mismatch"),
        ("issuer", "$/".into(), "metadata_mismatch"),
        ("issuer", Value::Null, "metadata_mismatch"),
        ("authorization_endpoint", "http://elsewhere.example/authorize".into(), "metadata_mismatch"),
        ("authorization_endpoint", "javascript:alert(1)".into(), "metadata_mismatch"),
        ("authorization_endpoint", "https://user:word@elsewhere.example/".into(), "metadata_mismatch"),
        ("authorization_endpoint", "https://elsewhere.example\\@evil.example/".into(), "metadata_mismatch"),
        ("authorization_endpoint", Value::Null, "metadata_mismatch"),
        ("token_endpoint", "http://elsewhere.example/token".into(), "metadata_mismatch"),
        ("token_endpoint", inner.clone().into(), "metadata_mismatch"),
        ("token_endpoint", "https://169.254.169.254/token".into(), "metadata_mismatch"),
        ("token_endpoint", "https://metadata.google.internal/token".into(), "metadata_mismatch"),
        ("token_endpoint", Value::Null, "metadata_mismatch"),
        ("registration_endpoint", inner.clone().into(), "metadata_mismatch"),
        ("revocation_endpoint", "https://[::1]/revoke".into(), "metadata_mismatch"),
        ("code_challenge_methods_supported", json!(["plain"]), "pkce_missing"),
        ("code_challenge_methods_supported", Value::Null, "pkce_missing"),
        ("registration_endpoint", Value::Null, "no_client"),
        ("token_endpoint_auth_methods_supported", json!(["private_key_jwt"]), "no_client"),
    ];
    for (member, lie, code) in lies {
        let remote = Remote::start().await;
        let lie = match lie.as_str() {
            Some(text) => text.replace('$', &remote.simulator.url("")).into(),
            None => lie,
        };
        remote.change(ISSUER, |document| document[member] = lie.clone());
        refused(&remote, code, &format!("{member}: {lie}")).await;
        assert_eq!(remote.asked("/register"), 0, "{member}: {lie}");
    }
    for issuer in [inner.as_str(), "https://10.0.0.7", "https://2130706433", "http://elsewhere.example", "file:///etc"]
    {
        let remote = Remote::with(PROTECTED, |document| document["authorization_servers"] = json!([issuer])).await;
        refused(&remote, "metadata_mismatch", issuer).await;
    }
    let knock = tokio::time::timeout(std::time::Duration::from_millis(1), silent.accept()).await;
    assert!(knock.is_err(), "nobody knocked at an inner door");
}

#[tokio::test]
async fn documents_that_are_none_are_refused() {
    for path in [PROTECTED, ISSUER] {
        let elsewhere = ("location", "https://elsewhere.example/document".to_owned());
        let remote = Remote::start().await;
        remote.answers(path, 302, &[elsewhere], "");
        refused(&remote, "metadata_mismatch", "a redirect to another host").await;

        let remote = Remote::start().await;
        remote.change(path, |document| document["more"] = "x".repeat(300 << 10).into());
        refused(&remote, "metadata_mismatch", "300 KiB").await;

        let remote = Remote::start().await;
        remote.answers(path, 500, &[], "{}");
        refused(&remote, "provider_unreachable", "a fault of the server").await;
    }
    for body in ["<!doctype html>", "[]", "{", "{\"issuer\":\"a\",\"issuer\":\"b\"}", "\u{feff}{}"] {
        let remote = Remote::start().await;
        remote.answers(ISSUER, 200, &[], body);
        refused(&remote, "metadata_mismatch", body).await;
    }
    let remote = Remote::start().await;
    remote.without(ISSUER);
    refused(&remote, "metadata_mismatch", "nothing anywhere").await;
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    let remote = Remote::start().await;
    remote.simulator.set(|quirks| {
        let page = quirks.pages.remove(ISSUER).unwrap();
        quirks.pages.insert("/moved".into(), page);
    });
    remote.answers(ISSUER, 307, &[("location", "/moved".to_owned())], "");
    start(&remote.page().await).await.done(200);
}
