//! Where everything is (RFC 8414), and that nothing of it is there when the server is off.

use super::{P, Scene};
use crate::support::app::{FULL, TestApp};

/// The document of [`P`], as the sheet has it.
pub const DOCUMENT: &str = r#"{"issuer":"https://pm.example","authorization_endpoint":"https://pm.example/oauth/authorize","token_endpoint":"https://pm.example/oauth/token","revocation_endpoint":"https://pm.example/oauth/revoke","introspection_endpoint":"https://pm.example/oauth/introspect","registration_endpoint":"https://pm.example/oauth/register","jwks_uri":"https://pm.example/oauth/jwks","scopes_supported":["org:read","org:write","playbook:read","playbook:write","org:admin","offline_access"],"response_types_supported":["code"],"response_modes_supported":["query"],"grant_types_supported":["authorization_code","refresh_token"],"code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none","client_secret_basic","client_secret_post","private_key_jwt"],"token_endpoint_auth_signing_alg_values_supported":["ES256","RS256","EdDSA"],"revocation_endpoint_auth_methods_supported":["none","client_secret_basic","client_secret_post","private_key_jwt"],"authorization_response_iss_parameter_supported":true,"client_id_metadata_document_supported":true,"protected_resources":["https://pm.example","https://pm.example/mcp","https://pm.example/tools/mcp","https://pm.example/v1"],"service_documentation":"https://pm.example/docs"}"#;

/// Security case 44. In the conformance suite: `auth/2025-03-26-oauth-metadata-backcompat`; and what belongs to extensions
/// that are not offered stands nowhere in it: `auth/client-credentials-jwt`, `auth/client-credentials-basic`,
/// `auth/enterprise-managed-authorization`, `auth/wif-jwt-bearer`.
#[tokio::test]
async fn the_document_is_that_of_the_sheet_at_each_of_its_paths() {
    let scene = Scene::new().await;
    let forged = scene.server.anyone().with("x-forwarded-host", "evil.example").with("forwarded", "host=evil.example");
    for path in ["", "/", "/mcp", "/mcp/", "/tools/mcp", "/v1", "/orgs/acme/mcp", "/orgs/acme/playbooks/billing/mcp"] {
        let answer = forged.get(&format!("/.well-known/oauth-authorization-server{path}")).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, DOCUMENT), "{path}");
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("cache-control"), "public, max-age=300");
    }
    for path in [
        "/.well-known/oauth-authorization-server/other",
        "/.well-known/oauth-authorization-server/v1/me",
        "/.well-known/oauth-authorization-server/orgs/-/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
    ] {
        forged.get(path).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn with_registration_off_the_document_does_not_name_it() {
    let scene = Scene::with(&[("OAUTH_REGISTRATION", "off")]).await;
    let document = scene.server.anyone().get("/.well-known/oauth-authorization-server").await;
    let without = DOCUMENT.replace(r#""registration_endpoint":"https://pm.example/oauth/register","#, "");
    assert_eq!(document.text, without);
    let refused = scene.server.anyone().post("/oauth/register", &serde_json::json!({})).await;
    refused.refused(403, "forbidden");
}

#[tokio::test]
async fn without_sign_in_or_with_an_issuer_outside_nothing_of_it_is_there() {
    let outside = [("PUBLIC_URL", P), ("IDENTITY_ISSUER", "http://localhost:1")];
    for server in [TestApp::local().await, TestApp::with_keys(&[FULL]).await, TestApp::with(&outside).await] {
        let anyone = server.anyone();
        for path in [
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server/mcp",
            "/oauth/jwks",
            "/oauth/authorize",
            "/authorize",
        ] {
            anyone.get(path).await.refused(404, "not_found");
        }
        for path in
            ["/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/introspect", "/oauth/consent", "/token"]
        {
            anyone.post(path, &serde_json::json!({})).await.refused(404, "not_found");
        }
    }
}

#[tokio::test]
async fn browsers_may_call_what_carries_no_cookie_and_nothing_else() {
    let scene = Scene::new().await;
    let page = scene.server.anyone().with("origin", "https://client.example");
    let asking = |path: &'static str| {
        let page = page.clone().with("access-control-request-method", "POST");
        async move { crate::support::people::Answer::of(page.request("OPTIONS", path)).await }
    };
    for path in
        ["/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/jwks", "/.well-known/oauth-authorization-server"]
    {
        let answer = asking(path).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, "*"), "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), "");
    }
    let answer = page.get("/oauth/jwks").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, "*"));
    for path in ["/oauth/authorize", "/oauth/consent", "/oauth/introspect"] {
        let answer = asking(path).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, ""), "{path}");
    }
    let form = super::form(&page, "/oauth/authorize", &[("client_id", "nobody")]).await;
    assert_eq!((form.status, form.header("access-control-allow-origin")), (400, ""), "a form may lead here");
}

/// In the conformance suite: `auth/2025-03-26-oauth-endpoint-fallback`.
#[tokio::test]
async fn guessed_paths_lead_to_the_real_ones() {
    let scene = Scene::new().await;
    let anyone = scene.server.anyone();
    let led = anyone.get("/authorize?client_id=a&state=b%20c").await;
    assert_eq!((led.status, led.header("location")), (302, "/oauth/authorize?client_id=a&state=b%20c"));
    for path in ["/token", "/register"] {
        let led = anyone.post(path, &serde_json::json!({})).await;
        assert_eq!((led.status, led.header("location")), (308, format!("/oauth{path}").as_str()));
    }
    assert_eq!(anyone.get("/oauth/token").await.refused(405, "method_not_allowed")["status"], 405);
    assert_eq!(scene.oauth().issuer(), P);
}
