//! What is issued is taken: at the endpoints its audience reaches, with the scopes it has, until it is revoked.

use playmaker::identity::Role;
use playmaker::identity::oauth::grants::Because;
use playmaker::identity::oauth::signing_keys::Rotation;
use playmaker::ledger::Actor;

use super::{Scene, claims, person, text};
use crate::support::people::Caller;

const PLAYBOOKS: &str = "/v1/orgs/acme/playbooks";

impl Scene {
    fn bearer(&self, token: &str) -> Caller {
        Caller::new(self.server.url(""), Some(token))
    }
}

#[tokio::test]
async fn a_token_is_good_where_its_resource_says() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let api = text(&scene.tokens(&client, &[("resource", "https://pm.example/v1")]).await, "access_token");
    assert_eq!(scene.bearer(&api).get(PLAYBOOKS).await.status, 200);
    scene.bearer(&api).get("/v1/orgs/north/playbooks").await.refused(403, "forbidden");
    let general = text(&scene.tokens(&client, &[]).await, "access_token");
    scene.bearer(&general).get(PLAYBOOKS).await.refused(401, "unauthenticated");
    assert!(scene.bearer(&general).tool_names("/mcp").await.contains(&"create_playbook".to_owned()));
}

#[tokio::test]
async fn a_viewer_is_granted_what_the_role_allows_and_no_more() {
    let scene = Scene::new().await;
    let eve = person(&scene.server, "eve", "acme", Role::Viewer).await;
    let client = scene.public_client().await;
    let code =
        scene.code_of(&eve, "acme", &client, &[("resource", "https://pm.example/v1"), ("scope", "org:write")]).await;
    let token = text(&scene.exchange(&client, &code).await.done(200), "access_token");
    assert_eq!(scene.bearer(&token).get(PLAYBOOKS).await.status, 200);
    let body = serde_json::json!({ "id": "support", "name": "Support" });
    scene.bearer(&token).post(PLAYBOOKS, &body).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let api = [("resource", "https://pm.example/v1")];
    let (one, other) = (scene.tokens(&client, &api).await, scene.tokens(&client, &api).await);
    let (single, kept) = (text(&one, "access_token"), text(&other, "access_token"));
    scene.form("/oauth/revoke", &[("client_id", &client), ("token", &single)]).await;
    scene.bearer(&single).get(PLAYBOOKS).await.refused(401, "unauthenticated");
    assert_eq!(scene.bearer(&kept).get(PLAYBOOKS).await.status, 200);
    let again = text(&scene.refresh(&client, &text(&one, "refresh_token")).await.done(200), "access_token");
    assert_eq!(scene.bearer(&again).get(PLAYBOOKS).await.status, 200);
    let gid = text(&claims(&again), "gid");
    scene.oauth().revoke_grant("acme", &gid, Actor::system(), Because::Withdrawn).await.unwrap();
    scene.bearer(&again).get(PLAYBOOKS).await.refused(401, "unauthenticated");
    assert_eq!(scene.bearer(&kept).get(PLAYBOOKS).await.status, 200, "another grant stands");
}

#[tokio::test]
async fn a_leaked_key_takes_its_tokens_with_it_and_a_rotation_does_not() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let api = [("resource", "https://pm.example/v1")];
    let token = text(&scene.tokens(&client, &api).await, "access_token");
    scene.oauth().rotate_signing_key(Rotation::Asked, Actor::system()).await.unwrap();
    assert_eq!(scene.bearer(&token).get(PLAYBOOKS).await.status, 200);
    scene.oauth().rotate_signing_key(Rotation::Leaked, Actor::system()).await.unwrap();
    scene.bearer(&token).get(PLAYBOOKS).await.refused(401, "unauthenticated");
    let token = text(&scene.tokens(&client, &api).await, "access_token");
    assert_eq!(scene.bearer(&token).get(PLAYBOOKS).await.status, 200);
}

#[tokio::test]
async fn an_ended_token_is_refused() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let token = text(&scene.tokens(&client, &[("resource", "https://pm.example/v1")]).await, "access_token");
    scene.server.clock.advance_ms(15 * 60_000 + 59_000);
    assert_eq!(scene.bearer(&token).get(PLAYBOOKS).await.status, 200, "within the skew");
    scene.server.clock.advance_ms(1_000);
    scene.bearer(&token).get(PLAYBOOKS).await.refused(401, "unauthenticated");
}
