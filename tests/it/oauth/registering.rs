//! Clients that register themselves (RFC 7591; security case 42).

use playmaker::identity::oauth::registration::Registration;
use serde_json::{Value, json};

use super::{BACK, Scene, text};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

#[tokio::test]
async fn a_client_registers_and_is_told_what_was_kept() {
    let scene = Scene::new().await;
    let answer = scene
        .server
        .anyone()
        .post(
            "/oauth/register",
            &json!({
                "client_name": "Editor", "redirect_uris": [BACK, "http://127.0.0.1:33418/"],
                "scope": "openid org:read", "logo_uri": "https://app.example/logo.png",
            }),
        )
        .await;
    let made = answer.done(201);
    assert!(text(&made, "client_id").starts_with("client_") && text(&made, "client_id").len() == 29);
    assert_eq!(made["client_id_issued_at"], 1_790_847_000);
    let mut rest = made.clone();
    for member in ["client_id", "client_id_issued_at"] {
        rest.as_object_mut().unwrap().remove(member);
    }
    assert_eq!(
        rest,
        json!({
            "client_name": "Editor",
            "redirect_uris": [BACK, "http://127.0.0.1:33418/"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": "org:read",
        })
    );
    assert_eq!(scene.audited("").await.last().map(String::as_str), Some("client_registered"));
}

#[tokio::test]
async fn a_secret_is_told_once_and_never_kept() {
    let scene = Scene::new().await;
    let made = scene.registered(json!({ "token_endpoint_auth_method": "client_secret_basic" })).await;
    let secret = text(&made, "client_secret");
    assert!(secret.starts_with("pms_") && made["client_secret_expires_at"] == 0);
    assert!(!scene.server.database().everything().await.contains(&secret));
}

/// Security case 42.
#[tokio::test]
async fn each_refusal_has_its_error() {
    let scene = Scene::new().await;
    let anyone = scene.server.anyone();
    for (body, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [BACK, "javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": [BACK], "client_name": "x".repeat(101) }), "invalid_client_metadata"),
        (
            json!({ "redirect_uris": [BACK], "token_endpoint_auth_method": "tls_client_auth" }),
            "invalid_client_metadata",
        ),
        (json!({ "redirect_uris": [BACK], "padding": "x".repeat(16 << 10) }), "invalid_client_metadata"),
    ] {
        assert_eq!(anyone.post("/oauth/register", &body).await.oauth_error(400), error);
    }
    let plain = anyone.request("POST", "/oauth/register").header("content-type", "text/plain").body("{}");
    assert_eq!(crate::support::people::Answer::of(plain).await.oauth_error(400), "invalid_client_metadata");
}

/// Security case 42: a flood puts out what nobody used, never what was just made nor what somebody uses.
#[tokio::test]
async fn a_flood_keeps_what_was_just_made_and_what_is_used() {
    let scene = Scene::new().await;
    let used = scene.public_client().await;
    scene.tokens(&used, &[]).await;
    let registration = Registration::read(&serde_json::to_vec(&json!({ "redirect_uris": [BACK] })).unwrap()).unwrap();
    let make = || async {
        let made = scene.oauth().register_client(&registration).await;
        made.map(|made| made.client.id)
    };
    let first = make().await.unwrap();
    scene.server.clock.advance_ms(1);
    let mut making = Vec::new();
    for _ in 2..5_000 {
        making.push(make());
        if making.len() == 500 {
            futures_util::future::join_all(making.drain(..)).await;
        }
    }
    futures_util::future::join_all(making).await;
    assert_eq!(make().await.unwrap_err().code.word(), "temporarily_unavailable", "each of them may still be used");
    assert!(scene.oauth().client(&first).await.unwrap().is_some());
    let full = scene.server.anyone().post("/oauth/register", &json!({ "redirect_uris": [BACK] })).await;
    assert_eq!(full.oauth_error(503), "temporarily_unavailable");
    scene.server.clock.advance_ms(10 * MINUTE + 1);
    let made = make().await.unwrap();
    assert!(scene.oauth().client(&first).await.unwrap().is_none(), "the oldest that nobody used went");
    for kept in [&used, &made] {
        assert!(scene.oauth().client(kept).await.unwrap().is_some());
    }
}

/// Security case 42.
#[tokio::test]
async fn clients_that_nobody_uses_go() {
    let scene = Scene::new().await;
    let (never, once, always) = (scene.public_client().await, scene.public_client().await, scene.public_client().await);
    for client in [&once, &always] {
        scene.tokens(client, &[]).await;
    }
    let mut token = text(&scene.tokens(&always, &[]).await, "refresh_token");
    let there = |client: &str| {
        let client = client.to_owned();
        let oauth = scene.oauth().clone();
        async move { oauth.client(&client).await.unwrap().is_some() }
    };
    scene.server.clock.advance_ms(24 * HOUR);
    scene.oauth().sweep().await.unwrap();
    assert!(there(&never).await);
    scene.server.clock.advance_ms(1);
    scene.oauth().sweep().await.unwrap();
    assert!(!there(&never).await && there(&once).await);
    for _ in 0..4 {
        scene.server.clock.advance_ms(20 * 24 * HOUR);
        token = text(&scene.refresh(&always, &token).await.json(), "refresh_token");
    }
    scene.server.clock.advance_ms(8 * 24 * HOUR);
    let renewed: Value = scene.refresh(&always, &token).await.json();
    assert!(renewed.get("access_token").is_some(), "{renewed}");
    scene.oauth().sweep().await.unwrap();
    assert!(there(&always).await, "it has a live grant");
    scene.server.clock.advance_ms(3 * 24 * HOUR);
    scene.oauth().sweep().await.unwrap();
    assert!(!there(&once).await && !there(&always).await);
}
