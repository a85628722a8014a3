//! Codes for tokens: what a token says, each refusal, and codes that come twice (`identity.md` 7.2 and 7.4).

use serde_json::json;

use super::{BACK, P, Scene, VERIFIER, claims, part, person, text};
use playmaker::identity::Role;

#[tokio::test]
async fn a_code_becomes_an_access_token_and_a_refresh_token() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let code =
        scene.code(&client, &[("resource", "https://pm.example/mcp/"), ("scope", "org:write playbook:read")]).await;
    assert!(code.starts_with("pmc_") && code.len() == 47);
    let answer = scene.exchange(&client, &code).await;
    let tokens = answer.done(200);
    assert_eq!(answer.header("pragma"), "no-cache");
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert_eq!(tokens["scope"], "org:read org:write playbook:read");
    assert!(text(&tokens, "refresh_token").starts_with("pmr_"));
    let token = text(&tokens, "access_token");
    let header = part(&token, 0);
    assert_eq!((&header["typ"], &header["alg"]), (&json!("at+jwt"), &json!("ES256")));
    let kid = text(&header, "kid");
    let keys = scene.server.anyone().get("/oauth/jwks").await.json();
    assert_eq!(keys["keys"][0]["kid"], kid.as_str());
    let mut said = claims(&token);
    let (jti, gid) = (text(&said, "jti"), text(&said, "gid"));
    assert!(uuid::Uuid::parse_str(&jti).is_ok() && gid.starts_with("grant_") && gid.len() == 28);
    for member in ["jti", "gid"] {
        said.as_object_mut().unwrap().remove(member);
    }
    assert_eq!(
        said,
        json!({
            "iss": P, "sub": scene.ada.person, "aud": "https://pm.example/mcp", "client_id": client,
            "scope": "org:read org:write playbook:read", "org": "acme",
            "iat": 1_790_847_000, "exp": 1_790_847_900, "auth_time": 1_790_846_995,
        })
    );
    assert_eq!(scene.audited("acme").await, ["consent_given"]);
}

#[tokio::test]
async fn without_a_resource_the_token_is_for_the_two_general_endpoints() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let tokens = scene.tokens(&client, &[]).await;
    let aud = &claims(&text(&tokens, "access_token"))["aud"];
    assert_eq!(*aud, json!(["https://pm.example/mcp", "https://pm.example/tools/mcp"]));
}

#[tokio::test]
async fn the_key_set_verifies_what_the_server_signs() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let token = text(&scene.tokens(&client, &[]).await, "access_token");
    let keys = scene.server.anyone().get("/oauth/jwks").await;
    assert_eq!(keys.header("cache-control"), "public, max-age=300");
    let set: jsonwebtoken::jwk::JwkSet = serde_json::from_str(&keys.text).unwrap();
    let key = jsonwebtoken::DecodingKey::from_jwk(&set.keys[0]).unwrap();
    let mut rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
    rules.validate_exp = false;
    rules.set_audience(&["https://pm.example/mcp"]);
    assert!(jsonwebtoken::decode::<serde_json::Value>(&token, &key, &rules).is_ok());
    for member in ["d", "p", "k"] {
        assert!(keys.json()["keys"][0].get(member).is_none());
    }
    let everything = scene.server.database().everything().await;
    assert!(!everything.contains(&token));
}

/// Security cases 34 and 35.
#[tokio::test]
async fn each_refusal_of_a_code_has_its_error() {
    let scene = Scene::new().await;
    let (client, other) = (scene.public_client().await, scene.public_client().await);
    let resource = ("resource", "https://pm.example/mcp");
    let good = |code: &str| {
        vec![
            ("grant_type".to_owned(), "authorization_code".to_owned()),
            ("client_id".to_owned(), client.clone()),
            ("code".to_owned(), code.to_owned()),
            ("redirect_uri".to_owned(), BACK.to_owned()),
            ("code_verifier".to_owned(), VERIFIER.to_owned()),
        ]
    };
    for (member, value, error) in [
        ("grant_type", "", "invalid_request"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("grant_type", "client_credentials", "unsupported_grant_type"),
        ("code", "", "invalid_request"),
        ("code", "pmc_unknown", "invalid_grant"),
        ("redirect_uri", "", "invalid_request"),
        ("redirect_uri", "https://app.example/cb/", "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        ("code_verifier", super::CHALLENGE, "invalid_grant"),
        ("code_verifier", &VERIFIER[..42], "invalid_grant"),
        ("client_id", "", "invalid_request"),
        ("client_id", &other, "invalid_grant"),
        ("resource", "https://pm.example/tools/mcp", "invalid_target"),
        ("resource", "https://other.example/mcp", "invalid_target"),
    ] {
        let code = scene.code(&client, &[resource]).await;
        let mut pairs = good(&code);
        pairs.retain(|(name, _)| name != member);
        pairs.push((member.to_owned(), value.to_owned()));
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(scene.token(&pairs).await.oauth_error(400), error, "{member}={value}");
    }
    let code = scene.code(&client, &[resource]).await;
    let mut twice = good(&code);
    twice.push(("code".to_owned(), code.clone()));
    let twice: Vec<(&str, &str)> = twice.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(scene.token(&twice).await.oauth_error(400), "invalid_request");
    let json = scene.server.anyone().post("/oauth/token", &json!({ "grant_type": "authorization_code" })).await;
    assert_eq!(json.oauth_error(400), "invalid_request");
    let unknown = scene.token(&[("grant_type", "authorization_code"), ("client_id", "client_nobody")]).await;
    assert_eq!(unknown.oauth_error(401), "invalid_client");
    assert_eq!(unknown.header("www-authenticate"), "", "Basic was not used");
    let same = [good(&code), vec![("resource".into(), "https://pm.example/mcp/".into())]].concat();
    let same: Vec<(&str, &str)> = same.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    scene.token(&same).await.done(200);
}

#[tokio::test]
async fn a_code_ends_after_a_minute() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let (one, other) = (scene.code(&client, &[]).await, scene.code(&client, &[]).await);
    scene.server.clock.advance_ms(59_999);
    scene.exchange(&client, &one).await.done(200);
    scene.server.clock.advance_ms(1);
    assert_eq!(scene.exchange(&client, &other).await.oauth_error(400), "invalid_grant");
}

/// Security case 35.
#[tokio::test]
async fn a_code_used_twice_revokes_what_it_gave() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let code = scene.code(&client, &[]).await;
    let tokens = scene.exchange(&client, &code).await.done(200);
    let said = claims(&text(&tokens, "access_token"));
    let (gid, jti) = (text(&said, "gid"), text(&said, "jti"));
    assert!(!scene.oauth().is_revoked(&gid, &jti));
    assert_eq!(scene.exchange(&client, &code).await.oauth_error(400), "invalid_grant");
    assert!(scene.oauth().is_revoked(&gid, &jti));
    let refresh = scene.refresh(&client, &text(&tokens, "refresh_token")).await;
    assert_eq!(refresh.oauth_error(400), "invalid_grant");
    assert_eq!(scene.audited("acme").await, ["consent_given", "code_reuse"]);
    assert_eq!(scene.exchange(&client, &code).await.oauth_error(400), "invalid_grant");
    assert_eq!(scene.audited("acme").await.len(), 2, "it is told once");
}

/// Security case 35: in parallel too.
#[tokio::test]
async fn of_ten_exchanges_at_once_one_succeeds() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let code = scene.code(&client, &[]).await;
    let answers = futures_util::future::join_all((0..10).map(|_| scene.exchange(&client, &code))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
}

#[tokio::test]
async fn a_client_without_the_grant_type_gets_no_refresh_token() {
    let scene = Scene::new().await;
    let made = scene.registered(json!({ "token_endpoint_auth_method": "client_secret_post" })).await;
    let (client, secret) = (text(&made, "client_id"), text(&made, "client_secret"));
    let code = scene.code(&client, &[]).await;
    let answer = scene
        .token(&[
            ("grant_type", "authorization_code"),
            ("client_id", &client),
            ("client_secret", &secret),
            ("code", &code),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
        ])
        .await
        .done(200);
    assert!(answer.get("refresh_token").is_none());
    let refused = scene
        .token(&[
            ("grant_type", "refresh_token"),
            ("client_id", &client),
            ("client_secret", &secret),
            ("refresh_token", "x"),
        ])
        .await;
    assert_eq!(refused.oauth_error(400), "unauthorized_client");
}

#[tokio::test]
async fn who_left_before_the_exchange_gets_nothing() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let mut stranger = person(&scene.server, "eve", "north", Role::Viewer).await;
    let code = scene.code_of(&stranger, "acme", &client, &[]).await;
    assert_eq!(scene.exchange(&client, &code).await.oauth_error(400), "invalid_grant");
    stranger.person = "user_nobody".into();
    let code = scene.code_of(&stranger, "acme", &client, &[]).await;
    assert_eq!(scene.exchange(&client, &code).await.oauth_error(400), "invalid_grant");
}

#[tokio::test]
async fn the_life_of_a_token_is_a_setting() {
    let scene = Scene::with(&[("ACCESS_TOKEN_TTL", "PT5M")]).await;
    let client = scene.public_client().await;
    let tokens = scene.tokens(&client, &[]).await;
    let said = claims(&text(&tokens, "access_token"));
    assert_eq!(
        (tokens["expires_in"].clone(), said["exp"].as_i64().unwrap() - said["iat"].as_i64().unwrap()),
        (json!(300), 300)
    );
}
