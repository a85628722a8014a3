//! What a client learns step by step from a resource server, as the `auth/*` scenarios of the conformance suite have it:
//! from a challenge to the metadata, from there to the authorization server, and, where a scope lacks, once more.

use serde_json::Value;

use super::{P, Scene, text};
use crate::support::app::TestApp;
use crate::support::people::{Answer, Caller};

/// The endpoints, and what `scope` their challenge has.
const ENDPOINTS: [(&str, &str); 5] = [
    ("/mcp", "org:read org:write playbook:read playbook:write"),
    ("/orgs/acme/mcp", "org:read org:write"),
    ("/orgs/acme/playbooks/support/mcp", "playbook:read playbook:write"),
    ("/v1/orgs/acme/playbooks", "org:read org:write playbook:read playbook:write"),
    ("/v1/orgs/acme/members", "org:admin"),
];

/// A value of a challenge.
fn challenged(answer: &Answer, name: &str) -> String {
    let challenge = answer.header("www-authenticate");
    let value = challenge.split(&format!("{name}=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {challenge}"));
    value.split('"').next().unwrap().to_owned()
}

/// The path of an address here.
fn path(address: &str) -> String {
    address.strip_prefix(P).unwrap_or_else(|| panic!("{address} is elsewhere")).to_owned()
}

async fn asks(caller: &Caller, endpoint: &str) -> Answer {
    if endpoint.ends_with("/mcp") {
        caller.ask(endpoint, "tools/list", serde_json::json!({})).await
    } else {
        caller.get(endpoint).await
    }
}

/// `auth/metadata-default`, `auth/metadata-var1`, `auth/metadata-var2`, `auth/metadata-var3`: whether a client goes by the
/// challenge or by the well-known paths, with the endpoint's path or without.
/// `auth/resource-mismatch`: the document names the endpoint it was asked for.
/// `auth/metadata-issuer-mismatch`: the authorization server's document names the issuer it was asked for.
/// `auth/scope-from-www-authenticate`, `auth/scope-from-scopes-supported`: the scopes stand in both.
/// `auth/offline-access-scope`, `auth/offline-access-not-supported`: what only concerns refresh tokens stands in neither.
#[tokio::test]
async fn from_a_challenge_to_the_authorization_server() {
    let scene = Scene::new().await;
    let anyone = scene.server.anyone();
    for (endpoint, scopes) in ENDPOINTS {
        let refused = asks(&anyone, endpoint).await;
        refused.refused(401, "unauthenticated");
        assert_eq!(challenged(&refused, "scope"), scopes, "{endpoint}");
        let metadata = path(&challenged(&refused, "resource_metadata"));
        let document = anyone.get(&metadata).await.json();
        let resource = path(document["resource"].as_str().unwrap());
        assert!(endpoint == resource || resource == "/v1", "{endpoint}: {resource}");
        assert_eq!(metadata, format!("/.well-known/oauth-protected-resource{resource}"));
        let supported: Vec<&str> =
            document["scopes_supported"].as_array().unwrap().iter().map(|scope| scope.as_str().unwrap()).collect();
        assert!(scopes.split(' ').all(|scope| supported.contains(&scope)), "{endpoint}: {supported:?}");
        assert!(!supported.contains(&"offline_access") && !scopes.contains("offline_access"));
        let issuers = document["authorization_servers"].as_array().unwrap();
        assert_eq!(issuers.len(), 1, "{document}");
        let issuer = path(issuers[0].as_str().unwrap());
        let found = anyone.get(&format!("/.well-known/oauth-authorization-server{issuer}")).await.json();
        assert_eq!(found["issuer"], issuers[0]);
        assert!(found["scopes_supported"].as_array().unwrap().iter().any(|scope| scope == "offline_access"));
    }
    let root = anyone.get("/.well-known/oauth-protected-resource").await.json();
    assert_eq!((root["resource"].as_str(), &root["authorization_servers"]), (Some(P), &serde_json::json!([P])));
}

/// `auth/scope-omitted-when-undefined`: a client that asks for no scope gets those of the endpoint's challenge.
#[tokio::test]
async fn no_scope_is_the_endpoints_scopes() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    for (endpoint, scopes) in ENDPOINTS.into_iter().take(3) {
        let resource = format!("{P}{endpoint}");
        for asked in [&[("resource", resource.as_str())][..], &[("resource", resource.as_str()), ("scope", "")]] {
            assert_eq!(text(&scene.tokens(&client, asked).await, "scope"), scopes, "{asked:?}");
        }
    }
}

/// `auth/scope-step-up`: what a refusal asks for is everything the operation needs, so a token of what there was and what
/// was asked for does it.
/// `auth/scope-retry-limit`: one more sign-in is enough, and where none helps, nothing is asked for.
#[tokio::test]
async fn one_step_up_is_enough() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let with = async |resource: &str, scope: &str| {
        let resource = format!("{P}{resource}");
        let tokens = scene.tokens(&client, &[("resource", resource.as_str()), ("scope", scope)]).await;
        Caller::new(scene.server.url(""), Some(&text(&tokens, "access_token")))
    };
    let body = serde_json::json!({ "playbook": "support", "name": "Support" });
    let reader = with("/v1", "playbook:read").await;
    let refused = reader.post("/v1/orgs/acme/playbooks", &body).await;
    refused.refused(403, "forbidden");
    assert_eq!(challenged(&refused, "error"), "insufficient_scope");
    assert_eq!(challenged(&refused, "resource_metadata"), format!("{P}/.well-known/oauth-protected-resource/v1"));
    let wider = with("/v1", &format!("playbook:read {}", challenged(&refused, "scope"))).await;
    wider.post("/v1/orgs/acme/playbooks", &body).await.done(201);

    // At an MCP endpoint none of whose scopes the token has, the request is refused before it is read.
    let stranger = with("/orgs/acme/mcp", "org:read").await;
    let inside = "/orgs/acme/playbooks/support/mcp";
    let refused = asks(&stranger, inside).await;
    refused.refused(403, "forbidden");
    assert_eq!(challenged(&refused, "scope"), "playbook:read playbook:write");
    let wider = with("/orgs/acme/mcp", &format!("org:read {}", challenged(&refused, "scope"))).await;
    assert!(wider.tool_names(inside).await.contains(&"execute".to_owned()));

    // No scope lets a token into another org: the challenge tells what the operation needs, and the body why.
    let elsewhere = wider.get("/v1/orgs/north/playbooks").await;
    assert!([401, 403].contains(&elsewhere.status), "{}", elsewhere.text);
}

/// `auth/authorization-server-migration`: when the server's issuer changes, the metadata names the new one alone, and a
/// token of the old one is refused with a challenge that leads there.
#[tokio::test]
async fn after_a_move_everything_leads_to_the_new_issuer() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let old = text(&scene.tokens(&client, &[]).await, "access_token");
    // SQLite has one server at a time; what the new one makes of the token does not depend on the database.
    let moved = TestApp::with(&[("PUBLIC_URL", P), ("IDENTITY_ISSUER", "http://localhost:1")]).await;
    let refused = asks(&Caller::new(moved.url(""), Some(&old)), "/mcp").await;
    refused.refused(401, "unauthenticated");
    assert_eq!(challenged(&refused, "error"), "invalid_token");
    let document = moved.anyone().get(&path(&challenged(&refused, "resource_metadata"))).await.json();
    assert_eq!(document["authorization_servers"], Value::from(vec!["http://localhost:1"]));
}
