//! Revocation (RFC 7009) and introspection (RFC 7662).

use serde_json::json;

use super::{P, Scene, claims, form, text};
use crate::support::app::{ELSEWHERE, FULL, INSIDE, Key};

const ACME: Key = Key { id: "acme-bot", org: "acme", ..FULL };

async fn scene() -> (Scene, String, serde_json::Value) {
    let keys = json!([ACME.entry(), ELSEWHERE.entry(), Key { org: "acme", ..INSIDE }.entry()]).to_string();
    let scene = Scene::with(&[("API_KEYS", &keys)]).await;
    let client = scene.public_client().await;
    let tokens = scene.tokens(&client, &[("resource", "https://pm.example/mcp")]).await;
    (scene, client, tokens)
}

impl Scene {
    async fn revoke(&self, client: &str, token: &str) -> u16 {
        self.form("/oauth/revoke", &[("client_id", client), ("token", token)]).await.status
    }

    async fn introspect(&self, key: &Key, token: &str) -> serde_json::Value {
        form(&self.server.holder(key), "/oauth/introspect", &[("token", token)]).await.done(200)
    }
}

#[tokio::test]
async fn revoking_a_refresh_token_ends_the_grant() {
    let (scene, client, tokens) = scene().await;
    let (access, refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
    assert_eq!(scene.revoke(&client, &refresh).await, 200);
    assert_eq!(scene.revoke(&client, &refresh).await, 200, "again is the same");
    let said = claims(&access);
    assert!(scene.oauth().is_revoked(&text(&said, "gid"), &text(&said, "jti")));
    assert_eq!(scene.refresh(&client, &refresh).await.oauth_error(400), "invalid_grant");
    assert_eq!(scene.audited("acme").await, ["consent_given", "grant_revoked"]);
}

#[tokio::test]
async fn revoking_an_access_token_ends_it_alone() {
    let (scene, client, tokens) = scene().await;
    let said = claims(&text(&tokens, "access_token"));
    assert_eq!(scene.revoke(&client, &text(&tokens, "access_token")).await, 200);
    assert!(scene.oauth().is_revoked("grant_other", &text(&said, "jti")));
    assert!(!scene.oauth().is_revoked(&text(&said, "gid"), "other"));
    scene.refresh(&client, &text(&tokens, "refresh_token")).await.done(200);
    assert!(scene.another().await.is_revoked("grant_other", &text(&said, "jti")), "another server reads it");
}

#[tokio::test]
async fn only_its_own_client_revokes_a_token() {
    let (scene, client, tokens) = scene().await;
    let other = scene.public_client().await;
    for token in ["access_token", "refresh_token"] {
        let foreign = scene.form("/oauth/revoke", &[("client_id", &other), ("token", &text(&tokens, token))]).await;
        assert_eq!(foreign.oauth_error(400), "invalid_grant");
    }
    for unknown in ["pmr_unknown", "a.b.c", "pmk_unknown", "x"] {
        assert_eq!(scene.revoke(&client, unknown).await, 200, "{unknown}");
    }
    assert_eq!(scene.form("/oauth/revoke", &[("client_id", &client)]).await.oauth_error(400), "invalid_request");
    let nobody = scene.form("/oauth/revoke", &[("client_id", "client_nobody"), ("token", "x")]).await;
    assert_eq!(nobody.oauth_error(401), "invalid_client");
    scene.refresh(&client, &text(&tokens, "refresh_token")).await.done(200);
}

#[tokio::test]
async fn a_key_of_the_org_is_told_what_a_token_is_good_for() {
    let (scene, client, tokens) = scene().await;
    let access = text(&tokens, "access_token");
    let said = claims(&access);
    assert_eq!(
        scene.introspect(&ACME, &access).await,
        json!({
            "active": true, "scope": "org:read org:write playbook:read playbook:write", "client_id": client,
            "token_type": "Bearer", "exp": said["exp"], "iat": said["iat"], "sub": scene.ada.person,
            "aud": "https://pm.example/mcp", "iss": P, "jti": said["jti"], "org": "acme",
        })
    );
    let refresh = scene.introspect(&ACME, &text(&tokens, "refresh_token")).await;
    assert_eq!((&refresh["active"], &refresh["token_type"]), (&json!(true), &json!("refresh_token")));
    let inactive = json!({ "active": false });
    for token in [access.as_str(), &text(&tokens, "refresh_token"), "x", "pmr_x"] {
        assert_eq!(scene.introspect(&ELSEWHERE, token).await, inactive, "another org");
    }
    scene.server.clock.advance_ms(16 * 60_000);
    assert_eq!(scene.introspect(&ACME, &access).await, inactive, "it has ended");
    assert_eq!(scene.audited("acme").await, ["consent_given", "introspected", "introspected", "introspected"]);
    let audit = scene.server.audit("acme").await.into_iter().map(|row| row.data.to_string()).collect::<String>();
    assert!(!audit.contains(&access));
}

#[tokio::test]
async fn nobody_else_may_ask() {
    let (scene, _, tokens) = scene().await;
    let access = text(&tokens, "access_token");
    form(&scene.server.anyone(), "/oauth/introspect", &[("token", &access)]).await.refused(401, "unauthenticated");
    let inside = Key { org: "acme", ..INSIDE };
    form(&scene.server.holder(&inside), "/oauth/introspect", &[("token", &access)]).await.refused(403, "forbidden");
    assert_eq!(form(&scene.server.holder(&ACME), "/oauth/introspect", &[]).await.oauth_error(400), "invalid_request");
}

/// Whoever holds a key may end it, without being a client (`identity.md` 3.4).
#[tokio::test]
async fn a_key_ends_by_its_own_text() {
    use playmaker::identity::keys::{Draft, Manager};
    use playmaker::identity::{Permission, Playbooks};
    let (scene, _, _) = scene().await;
    let draft = Draft {
        name: "leaked".into(),
        permissions: vec![Permission::OrgRead],
        playbooks: Playbooks::All,
        person: None,
        expires_at_ms: None,
        usage_limit: None,
    };
    let made = scene.server.app.identity.create_key("acme", draft, Manager::operator()).await.unwrap();
    let holder = crate::support::people::Caller::new(scene.server.url(""), Some(made.text.expose()));
    assert_eq!(holder.get("/v1/orgs/acme/playbooks").await.status, 200);
    let answer = scene.form("/oauth/revoke", &[("token", made.text.expose())]).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    holder.get("/v1/orgs/acme/playbooks").await.refused(401, "unauthenticated");
    assert_eq!(scene.form("/oauth/revoke", &[("token", "pmk_unknown")]).await.status, 200);
}

/// An unknown token is no credential, nor is the name of a client: whoever guesses is counted as anybody without one.
#[tokio::test]
async fn guessing_tokens_to_revoke_ends_and_a_true_one_is_still_taken() {
    let scene = Scene::with(&[("RATE_ANONYMOUS", "1/8")]).await;
    let client = scene.public_client().await;
    let tokens = scene.tokens(&client, &[]).await;
    let mut answers = Vec::new();
    for number in 0..4 {
        answers.push(scene.revoke(&client, &format!("pmr_{number:043}")).await);
        answers.push(scene.form("/oauth/revoke", &[("token", &format!("pmk_{number:049}"))]).await.status);
    }
    assert_eq!(answers, [200, 200, 200, 200, 200, 200, 200, 429], "the registration was the first of eight");
    assert_eq!(scene.revoke(&client, &text(&tokens, "refresh_token")).await, 200);
    let refused = scene.refresh(&client, &text(&tokens, "refresh_token")).await;
    assert_eq!(refused.status, 429, "it is no credential any more");
    scene.server.clock.advance_ms(2_000);
    assert_eq!(scene.refresh(&client, &text(&tokens, "refresh_token")).await.oauth_error(400), "invalid_grant");
}

/// What a client does is told with its request.
#[tokio::test]
async fn the_audit_tells_where_a_code_came_from_the_second_time() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let code = scene.code(&client, &[]).await;
    scene.exchange(&client, &code).await.done(200);
    let again = scene.exchange(&client, &code).await;
    assert_eq!(again.oauth_error(400), "invalid_grant");
    let ledger = &scene.server.app.ledger;
    let rows = ledger.audit("acme", &Default::default(), playmaker::ledger::Order::Desc, None, 1).await.unwrap();
    let origin = serde_json::to_value(&rows[0].origin).unwrap();
    let expected = json!({ "via": "oauth", "request_id": again.header("x-request-id"), "address": "127.0.0.1" });
    assert_eq!((rows[0].action.as_str(), origin), ("code_reuse", expected));
}
