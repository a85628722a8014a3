//! Refresh tokens: rotation, lost answers, slow processes, thieves (`identity.md` 7.5; security case 40).

use std::collections::BTreeSet;

use playmaker::identity::oauth::grants::Because;
use playmaker::ledger::Actor;

use super::{Scene, claims, scopes, text};
use crate::support::database::on_postgres;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

async fn began() -> (Scene, String, String) {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let token = text(&scene.tokens(&client, &[]).await, "refresh_token");
    (scene, client, token)
}

/// The refresh token of a success.
async fn next(scene: &Scene, client: &str, token: &str) -> Option<String> {
    let answer = scene.refresh(client, token).await.done(200);
    assert!(answer["access_token"].is_string() && answer["expires_in"] == 900, "{answer}");
    answer.get("refresh_token").map(|token| token.as_str().unwrap().to_owned())
}

/// Security case 40.
#[tokio::test]
async fn a_lost_answer_is_told_again() {
    let (scene, client, first) = began().await;
    let second = next(&scene, &client, &first).await.unwrap();
    assert_ne!(first, second);
    scene.server.clock.advance_ms(10 * MINUTE);
    assert_eq!(next(&scene, &client, &first).await, Some(second.clone()), "the same one, not another");
    scene.server.clock.advance_ms(1);
    assert_eq!(scene.refresh(&client, &first).await.oauth_error(400), "invalid_grant");
    assert_eq!(scene.refresh(&client, &second).await.oauth_error(400), "invalid_grant", "the family has ended");
    assert_eq!(scene.audited("acme").await, ["consent_given", "refresh_reuse"]);
}

/// Security case 40.
#[tokio::test]
async fn a_slow_second_process_gets_the_current_one_for_a_minute() {
    let (scene, client, first) = began().await;
    let second = next(&scene, &client, &first).await.unwrap();
    scene.server.clock.advance_ms(MINUTE);
    let third = next(&scene, &client, &second).await.unwrap();
    scene.server.clock.advance_ms(30 * SECOND);
    let fourth = next(&scene, &client, &third).await.unwrap();
    scene.server.clock.advance_ms(30 * SECOND);
    assert_eq!(next(&scene, &client, &first).await, Some(fourth.clone()), "along three copies");
    assert_eq!(next(&scene, &client, &second).await, Some(fourth.clone()));
    scene.server.clock.advance_ms(1);
    assert_eq!(scene.refresh(&client, &first).await.oauth_error(400), "invalid_grant");
    assert_eq!(scene.refresh(&client, &fourth).await.oauth_error(400), "invalid_grant");
}

/// Security case 40: a copy that had gone is not made again.
#[tokio::test]
async fn a_slow_process_after_the_copy_went_gets_an_access_token_alone() {
    let (scene, client, first) = began().await;
    let second = next(&scene, &client, &first).await.unwrap();
    scene.server.clock.advance_ms(20 * MINUTE);
    let third = next(&scene, &client, &second).await.unwrap();
    scene.server.clock.advance_ms(30 * SECOND);
    assert_eq!(next(&scene, &client, &first).await, None);
    assert!(next(&scene, &client, &third).await.is_some(), "the client goes on");
}

/// Security case 40: the access tokens of an ended family end too, on every server.
#[tokio::test]
async fn a_thief_ends_the_family_everywhere() {
    let (scene, client, first) = began().await;
    let other = scene.another().await;
    let answer = scene.refresh(&client, &first).await.done(200);
    let said = claims(&text(&answer, "access_token"));
    let second = text(&answer, "refresh_token");
    scene.server.clock.advance_ms(5 * MINUTE);
    scene.refresh(&client, &second).await.done(200);
    scene.server.clock.advance_ms(2 * MINUTE);
    assert_eq!(scene.refresh(&client, &first).await.oauth_error(400), "invalid_grant");
    let (gid, jti) = (text(&said, "gid"), text(&said, "jti"));
    assert!(scene.oauth().is_revoked(&gid, &jti));
    other.read_revocations().await.unwrap();
    assert!(other.is_revoked(&gid, &jti) && !other.is_revoked("grant_other", "other"));
}

/// Security case 40.
#[tokio::test]
async fn twenty_uses_at_once_give_one_successor() {
    let (scene, client, first) = began().await;
    let answers = futures_util::future::join_all((0..20).map(|_| scene.refresh(&client, &first))).await;
    let tokens: BTreeSet<String> = answers.iter().map(|answer| text(&answer.done(200), "refresh_token")).collect();
    assert_eq!(tokens.len(), 1);
    let ids: BTreeSet<String> =
        answers.iter().map(|answer| text(&claims(&text(&answer.json(), "access_token")), "jti")).collect();
    assert_eq!(ids.len(), 20, "an access token each");
    let second = tokens.into_iter().next().unwrap();
    assert!(next(&scene, &client, &second).await.is_some());
}

/// Security case 40: two servers of one database.
#[tokio::test]
async fn two_servers_give_one_successor() {
    if !on_postgres() {
        return;
    }
    let (scene, client, first) = began().await;
    let beside = Scene { server: scene.server.beside(&[]).await, ada: scene.ada.clone() };
    let both = (0..20).map(|at| if at % 2 == 0 { &scene } else { &beside }).map(|one| one.refresh(&client, &first));
    let answers = futures_util::future::join_all(both).await;
    let tokens: BTreeSet<String> = answers.iter().map(|answer| text(&answer.done(200), "refresh_token")).collect();
    assert_eq!(tokens.len(), 1);
}

#[tokio::test]
async fn a_family_ends_after_thirty_days_without_use_and_ninety_in_all() {
    let (scene, client, first) = began().await;
    let mut token = first;
    for _ in 0..3 {
        scene.server.clock.advance_ms(29 * DAY);
        token = next(&scene, &client, &token).await.unwrap();
    }
    scene.server.clock.advance_ms(3 * DAY);
    assert_eq!(scene.refresh(&client, &token).await.oauth_error(400), "invalid_grant");
    let (scene, client, first) = began().await;
    scene.server.clock.advance_ms(30 * DAY);
    assert_eq!(scene.refresh(&client, &first).await.oauth_error(400), "invalid_grant");
    assert_eq!(scene.audited("acme").await, ["consent_given"], "an end by time is no theft");
}

#[tokio::test]
async fn fewer_scopes_are_given_for_one_access_token_alone() {
    let (scene, client, first) = began().await;
    let with = |token: String, scope: &'static str| {
        let (scene, client) = (&scene, &client);
        async move {
            let pairs = [
                ("grant_type", "refresh_token"),
                ("client_id", client.as_str()),
                ("refresh_token", token.as_str()),
                ("scope", scope),
            ];
            scene.token(&pairs).await
        }
    };
    assert_eq!(with(first.clone(), "org:admin").await.oauth_error(400), "invalid_scope");
    let narrow = with(first, "playbook:write offline_access").await.done(200);
    assert_eq!(narrow["scope"], "playbook:read playbook:write");
    assert_eq!(claims(&text(&narrow, "access_token"))["scope"], narrow["scope"]);
    let whole = with(text(&narrow, "refresh_token"), "").await.done(200);
    assert_eq!(scopes(&text(&whole, "scope")), scopes("org:read org:write playbook:read playbook:write"));
}

#[tokio::test]
async fn another_client_or_resource_is_refused_and_uses_nothing_up() {
    let scene = Scene::new().await;
    let (client, other) = (scene.public_client().await, scene.public_client().await);
    let first = text(&scene.tokens(&client, &[("resource", "https://pm.example/mcp")]).await, "refresh_token");
    assert_eq!(scene.refresh(&other, &first).await.oauth_error(400), "invalid_grant");
    let pairs = |resource| {
        [("grant_type", "refresh_token"), ("client_id", &*client), ("refresh_token", &*first), ("resource", resource)]
    };
    assert_eq!(scene.token(&pairs("https://pm.example/v1")).await.oauth_error(400), "invalid_target");
    let second = text(&scene.token(&pairs("https://pm.example/mcp")).await.done(200), "refresh_token");
    scene.server.clock.advance_ms(20 * MINUTE);
    assert!(next(&scene, &client, &second).await.is_some());
    for bad in ["", "pmr_", "pmr_unknown", "x"] {
        assert!(
            ["invalid_grant", "invalid_request"].contains(&scene.refresh(&client, bad).await.oauth_error(400).as_str())
        );
    }
}

#[tokio::test]
async fn a_withdrawn_grant_ends_at_once() {
    let (scene, client, first) = began().await;
    let grants = scene.oauth().grants("acme", Some(&scene.ada.person), None, 10).await.unwrap();
    let [grant] = grants.as_slice() else { panic!("{grants:?}") };
    assert_eq!((grant.client_name.as_str(), grant.returns_to.as_str()), ("Editor", "app.example"));
    assert!(scene.oauth().revoke_grant("acme", &grant.id, Actor::system(), Because::Withdrawn).await.unwrap());
    assert!(!scene.oauth().revoke_grant("acme", &grant.id, Actor::system(), Because::Withdrawn).await.unwrap());
    assert!(!scene.oauth().revoke_grant("north", &grant.id, Actor::system(), Because::Withdrawn).await.unwrap());
    assert_eq!(scene.refresh(&client, &first).await.oauth_error(400), "invalid_grant");
    assert!(scene.oauth().grants("acme", None, None, 10).await.unwrap().is_empty());
    assert_eq!(scene.audited("acme").await, ["consent_given", "grant_revoked"]);
}

/// Security case 40: what a thief of the database finds opens nothing.
#[tokio::test]
async fn no_token_and_no_code_is_kept_in_clear() {
    let (scene, client, first) = began().await;
    let second = next(&scene, &client, &first).await.unwrap();
    let code = scene.code(&client, &[]).await;
    let everything = scene.server.database().everything().await;
    for secret in [&first, &second, &code] {
        assert!(!everything.contains(secret.as_str()));
    }
}
