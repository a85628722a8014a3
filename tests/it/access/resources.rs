//! The protected resources: their metadata, and the challenges that lead to it (`identity.md` 4).

use serde_json::Value;

use crate::support::app::{FULL, READER, TestApp};

const P: &str = "https://pm.example";

async fn server() -> TestApp {
    let keys = serde_json::json!([FULL.entry(), READER.entry()]).to_string();
    TestApp::with(&[("PUBLIC_URL", P), ("API_KEYS", &keys)]).await
}

/// An endpoint, its path in metadata, and the scopes its metadata and its challenge name.
const ENDPOINTS: [(&str, &str, &str); 5] = [
    ("/mcp", "/mcp", "org:read org:write playbook:read playbook:write"),
    ("/orgs/north/mcp", "/orgs/north/mcp", "org:read org:write"),
    ("/orgs/north/playbooks/support/mcp", "/orgs/north/playbooks/support/mcp", "playbook:read playbook:write"),
    ("/v1/orgs/north/playbooks", "/v1", "org:read org:write playbook:read playbook:write"),
    ("/v1/orgs/none/playbooks", "/v1", "org:read org:write playbook:read playbook:write"),
];

/// Security cases 1, 44 and 79.
#[tokio::test]
async fn without_a_credential_the_challenge_names_the_metadata() {
    let server = server().await;
    let forged =
        server.anyone().with("x-forwarded-host", "evil.example").with("forwarded", "host=evil.example;proto=http");
    for (endpoint, path, scope) in ENDPOINTS {
        let answer = if path == "/v1" { forged.get(endpoint).await } else { forged.post(endpoint, &Value::Null).await };
        answer.refused(401, "unauthenticated");
        let metadata = format!("{P}/.well-known/oauth-protected-resource{path}");
        let expected = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{scope}\"");
        assert_eq!(answer.header("www-authenticate"), expected, "{endpoint}");
        let document = forged.get(&format!("/.well-known/oauth-protected-resource{path}")).await;
        assert_eq!(document.json()["resource"], format!("{P}{path}"));
    }
}

/// Security case 79.
#[tokio::test]
async fn metadata_is_served_in_each_form() {
    let server = server().await;
    let anyone = server.anyone().with("origin", "https://any.example");
    let root = anyone.get("/.well-known/oauth-protected-resource").await;
    assert_eq!(root.header("content-type"), "application/json");
    assert_eq!(root.header("cache-control"), "public, max-age=300");
    assert_eq!(root.header("access-control-allow-origin"), "*");
    assert_eq!(
        root.text,
        r#"{"resource":"https://pm.example","authorization_servers":["https://pm.example"],"scopes_supported":["org:read","org:write","playbook:read","playbook:write","org:admin"],"bearer_methods_supported":["header"],"resource_name":"Playmaker","resource_documentation":"https://pm.example/docs"}"#
    );
    let inserted = anyone.get("/.well-known/oauth-protected-resource/mcp").await.text;
    for other in ["/.well-known/oauth-protected-resource/mcp/", "/mcp/.well-known/oauth-protected-resource"] {
        assert_eq!(anyone.get(other).await.text, inserted, "{other}");
    }
    for none in ["/v1/me", "/orgs/a.b/mcp", "/orgs/north/playbooks/x/mcp", "/mcp-other", "/mcp//"] {
        anyone.get(&format!("/.well-known/oauth-protected-resource{none}")).await.refused(404, "not_found");
    }
    let silent = TestApp::with_keys(&[FULL]).await;
    silent.anyone().get("/.well-known/oauth-protected-resource/mcp").await.refused(404, "not_found");
    assert_eq!(silent.anyone().get("/v1/orgs/north/playbooks").await.header("www-authenticate"), "Bearer");
}

/// Security case 8.
#[tokio::test]
async fn a_credential_in_the_address_is_none() {
    let server = server().await;
    let bare = server.anyone().get("/v1/orgs/north/playbooks").await;
    for name in ["access_token", "api_key", "token"] {
        let sent = server.anyone().get(&format!("/v1/orgs/north/playbooks?{name}={}", FULL.text)).await;
        sent.refused(401, "unauthenticated");
        assert_eq!(sent.header("www-authenticate"), bare.header("www-authenticate"));
    }
}

/// Security cases 2 and 9.
#[tokio::test]
async fn a_bad_credential_is_told_the_same_whatever_is_wrong_with_it() {
    let server = server().await;
    let metadata = format!("resource_metadata=\"{P}/.well-known/oauth-protected-resource/v1\"");
    let invalid = format!(
        "Bearer error=\"invalid_token\", error_description=\"The access token is not valid here\", {metadata}, \
         scope=\"org:read org:write playbook:read playbook:write\""
    );
    for credential in ["nonsense", "pmk_0000000000000000000000000000000000000000000000000", "a.b.c"] {
        let holder = server.anyone().with("authorization", &format!("Bearer {credential}"));
        let answer = holder.get("/v1/orgs/north/playbooks").await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), invalid, "{credential}");
    }
    let malformed = format!(
        "Bearer error=\"invalid_request\", error_description=\"Send exactly one Authorization: Bearer header\", {metadata}"
    );
    for credential in ["Bearer a, Bearer b", "Basic abc", "Bearer "] {
        let answer = server.anyone().with("authorization", credential).get("/v1/orgs/north/playbooks").await;
        answer.refused(400, "bad_request");
        assert_eq!(answer.header("www-authenticate"), malformed, "{credential}");
    }
}

#[tokio::test]
async fn what_a_key_lacks_is_asked_for_whole() {
    let server = server().await;
    let body = serde_json::json!({ "id": "support", "name": "Support" });
    let answer = server.holder(&READER).post("/v1/orgs/north/playbooks", &body).await;
    answer.refused(403, "forbidden");
    let metadata = format!("{P}/.well-known/oauth-protected-resource/v1");
    assert_eq!(
        answer.header("www-authenticate"),
        format!(
            "Bearer error=\"insufficient_scope\", scope=\"org:write\", error_description=\"Needs org:write\", \
             resource_metadata=\"{metadata}\""
        )
    );
    let elsewhere = server.holder(&READER).get("/v1/orgs/south/playbooks").await;
    elsewhere.refused(403, "forbidden");
    assert!(elsewhere.header("www-authenticate").contains("scope=\"org:read\""), "{:?}", elsewhere.headers);
}
