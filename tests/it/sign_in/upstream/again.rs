//! A fresh proof at the provider, and signing out there too.

use serde_json::json;

use super::super::tab::Tab;
use super::{AWAY, Scene, claims, leaves};
use crate::support::provider::query;

#[tokio::test]
async fn who_is_signed_in_shows_at_the_provider_that_it_is_still_them() {
    let scene = Scene::new().await;
    scene.linked().await;
    let tab = Tab::of(&scene.server);
    scene.signs_in(&tab, claims("ada")).await;
    let first = tab.cookie("playmaker").unwrap();
    scene.server.clock.advance_ms(11 * 60 * 1_000);
    assert!(tab.get("/sign-in").await.text.contains("Continue with Acme"));
    let visited = leaves(&tab, AWAY).await;
    let asked = query(&visited);
    assert_eq!((asked["prompt"].as_str(), asked["max_age"].as_str()), ("login", "0"));
    let now = scene.now_ms() / 1_000;
    let said = |auth_time: i64| json!({ "sub": "ada", "auth_time": auth_time });
    // A sign-in of before is none of now.
    let stale = scene.provider.signs_in(&visited, scene.now_ms(), said(now - 660));
    assert_eq!(tab.get(&stale).await.status, 400);
    assert_eq!(tab.cookie("playmaker").unwrap(), first);
    let visited = leaves(&tab, AWAY).await;
    let fresh = scene.provider.signs_in(&visited, scene.now_ms(), said(now));
    assert_eq!(tab.get(&fresh).await.status, 303);
    assert_ne!(tab.cookie("playmaker").unwrap(), first, "a new id");
    let ada = scene.server.app.identity.person_of_email("ada@acme.test").await.unwrap().unwrap();
    let sessions = scene.server.app.identity.sessions_of(&ada.id).await.unwrap();
    assert_eq!(sessions[0].auth_time_ms, now * 1_000);
}

#[tokio::test]
async fn somebody_else_there_does_not_take_the_session_over() {
    let scene = Scene::with(json!({ "allowed_domains": ["acme.test"], "org": "acme" })).await;
    scene.linked().await;
    let tab = Tab::of(&scene.server);
    scene.signs_in(&tab, claims("ada")).await;
    let session = tab.cookie("playmaker");
    let answer = scene.signs_in(&tab, claims("grace")).await;
    assert!(answer.status == 403 && answer.text.contains("another account"), "{}", answer.text);
    assert_eq!(tab.cookie("playmaker"), session);
    assert!(scene.server.app.identity.person_of_email("grace@acme.test").await.unwrap().is_none(), "nobody is made");
}

#[tokio::test]
async fn who_was_signed_in_there_for_long_has_not_just_shown_who_they_are() {
    let scene = Scene::new().await;
    scene.linked().await;
    let tab = Tab::of(&scene.server);
    let long_ago = scene.now_ms() / 1_000 - 3_600;
    scene.signs_in(&tab, json!({ "sub": "ada", "auth_time": long_ago })).await;
    let ada = scene.server.app.identity.person_of_email("ada@acme.test").await.unwrap().unwrap();
    let sessions = scene.server.app.identity.sessions_of(&ada.id).await.unwrap();
    assert!(sessions.iter().any(|session| session.auth_time_ms == long_ago * 1_000), "{sessions:?}");
}

#[tokio::test]
async fn signing_out_here_offers_to_sign_out_there() {
    let scene = Scene::new().await;
    scene.linked().await;
    let tab = Tab::of(&scene.server);
    scene.signs_in(&tab, claims("ada")).await;
    let page = tab.command("/settings/profile", "/sign-out", &[]).await;
    let there = format!("href=\"{}/sign-out?client_id=studio\"", scene.provider.issuer());
    assert!(page.status == 200 && page.text.contains(&there), "{}", page.text);
    assert!(tab.cookie("playmaker").is_none());
    // Who came with a password goes to the first page, as ever.
    tab.signs_in("ada@acme.test", super::super::tab::PASSWORD).await;
    assert_eq!(tab.command("/settings/profile", "/sign-out", &[]).await.header("location"), "/");
}
