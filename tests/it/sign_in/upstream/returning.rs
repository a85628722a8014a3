//! Who comes back from a provider has to be the browser that left, with an answer of that provider to that attempt.

use serde_json::{Value, json};

use super::super::tab::{PASSWORD, Tab};
use super::{AWAY, Scene, claims, leaves};
use crate::support::app::TestApp;
use crate::support::provider::{Provider, SECRET, query};

/// A callback with one parameter as `value`, or without it.
fn with(callback: &str, name: &str, value: Option<&str>) -> String {
    let mut url = url::Url::parse(&format!("http://localhost{callback}")).unwrap();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().filter(|(key, _)| key != name).collect();
    url.query_pairs_mut().clear().extend_pairs(pairs).extend_pairs(value.map(|value| (name, value)));
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}

/// Security cases 32 and 33: 400, our own words, no token request, and the state is spent.
#[tokio::test]
async fn an_answer_that_is_not_of_this_attempt_gets_no_token() {
    let scene = Scene::new().await;
    let foreign = "s".repeat(43);
    let evil = "<b>evil</b>";
    for (what, name, value) in [
        ("no state", "state", None),
        ("a state nobody has", "state", Some(foreign.as_str())),
        ("a state of another form", "state", Some("../x")),
        ("another issuer", "iss", Some("https://evil.example")),
        ("the issuer with a slash", "iss", Some("the issuer with a slash")),
        ("nobody says who answers, though it is advertised", "iss", None),
        ("another issuer's error", "iss", Some(evil)),
    ] {
        let tab = Tab::of(&scene.server);
        let visited = leaves(&tab, AWAY).await;
        let good = scene.provider.signs_in(&visited, scene.now_ms(), claims("ada"));
        let slash = format!("{}/", scene.provider.issuer());
        let value = value.map(|value| if value.starts_with("the issuer") { slash.as_str() } else { value });
        let mut bad = with(&good, name, value);
        if value == Some(evil) {
            bad = with(&with(&bad, "code", None), "error_description", Some(evil));
        }
        let answer = tab.get(&bad).await;
        assert_eq!(answer.status, 400, "{what}: {}", answer.text);
        assert!(!answer.text.contains("evil"), "{what}: {}", answer.text);
        assert!(answer.text.contains("href=\"/sign-in\""), "{what}");
        assert!(tab.cookie("playmaker").is_none(), "{what}");
        if name != "state" {
            assert_eq!(tab.get(&good).await.status, 400, "{what}: the state is spent");
        }
    }
    assert!(scene.provider.token_requests().is_empty());
}

/// Security case 32, for browsers and persons.
#[tokio::test]
async fn another_browser_or_person_does_not_finish_an_attempt() {
    let scene = Scene::new().await;
    let callback = async |tab: &Tab| {
        let visited = leaves(tab, AWAY).await;
        scene.provider.signs_in(&visited, scene.now_ms(), claims("ada"))
    };
    let (ada, bare, other) = (Tab::of(&scene.server), Tab::of(&scene.server), Tab::of(&scene.server));
    let first = callback(&ada).await;
    assert_eq!(bare.get(&first).await.status, 400, "a browser without the cookie");
    assert_eq!(ada.get(&first).await.status, 400, "spent");
    let second = callback(&ada).await;
    callback(&other).await;
    assert_eq!(other.get(&second).await.status, 400, "a browser with a cookie of its own");
    // Who was signed in when they left is not somebody else when they are back.
    scene.server.person("Grace", "grace@acme.test", "acme", playmaker::identity::Role::Member).await;
    ada.signs_in("ada@acme.test", PASSWORD).await;
    let third = callback(&ada).await;
    let grace = scene.server.app.identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    let session = scene.server.signs_in(&grace).await.cookie;
    ada.plant("playmaker", session.split_once('=').unwrap().1);
    assert_eq!(ada.get(&third).await.status, 400, "another person");
    // Ten minutes, and not one second more.
    let late = Tab::of(&scene.server);
    let fourth = callback(&late).await;
    scene.server.clock.advance_ms(10 * 60 * 1_000);
    assert_eq!(late.get(&fourth).await.status, 400, "too late");
    assert!(scene.provider.token_requests().is_empty());
    assert!(scene.audit().await.iter().all(|row| row.kind != "sign_in_failed"), "quiet");
}

/// Security case 33: the code of one provider at the attempt of another.
#[tokio::test]
async fn a_code_of_one_provider_is_no_answer_at_another() {
    let (acme, evil) = (Provider::start().await, Provider::start().await);
    let providers = json!([acme.entry("acme", json!({})), evil.entry("evil", json!({}))]).to_string();
    let settings = [("SIGN_IN_PROVIDERS", providers.as_str()), ("ACME_SECRET", SECRET)];
    let (server, _) = TestApp::set_up_by_ada(&settings).await;
    let tab = Tab::of(&server);
    let visited = leaves(&tab, AWAY).await;
    let callback = acme.signs_in(&visited, server.app.clock.now_ms(), claims("ada"));
    let elsewhere = callback.replace("/acme/", "/evil/");
    assert_eq!(tab.get(&elsewhere).await.status, 400);
    assert_eq!(tab.get(&callback).await.status, 400, "the state is spent");
    let visited = leaves(&tab, AWAY).await;
    let callback = acme.signs_in(&visited, server.app.clock.now_ms(), claims("ada"));
    assert_eq!(tab.get(&with(&callback, "iss", Some(&evil.issuer()))).await.status, 400);
    assert!(acme.token_requests().is_empty() && evil.token_requests().is_empty());
    assert_eq!(tab.get("/sign-in/upstream/nobody").await.status, 404);
    assert_eq!(tab.get("/sign-in/upstream/nobody/callback?state=x").await.status, 404);
}

/// Security case 34: the verifier is the attempt's, and the client proves itself in one way.
#[tokio::test]
async fn the_request_and_the_exchange_are_those_of_the_standard() {
    let scene = Scene::new().await;
    let tab = Tab::of(&scene.server);
    let (one, other) = (query(&leaves(&tab, AWAY).await), query(&leaves(&tab, AWAY).await));
    for name in ["state", "nonce", "code_challenge"] {
        assert!(one[name].len() == 43 && one[name] != other[name], "{name}: {one:?}");
    }
    let redirect = format!("{}{AWAY}/callback", scene.server.origin());
    assert_eq!((one["redirect_uri"].as_str(), one["scope"].as_str()), (redirect.as_str(), "openid email profile"));
    assert!(!one.contains_key("prompt") && !one.contains_key("max_age"));
    // Two pages of one browser do not stand in each other's way.
    let first = leaves(&tab, AWAY).await;
    leaves(&tab, AWAY).await;
    let back = tab.get(&scene.provider.signs_in(&first, scene.now_ms(), claims("ada"))).await;
    assert_eq!(back.status, 303, "{}", back.text);
    let (credential, form) = scene.provider.token_requests().pop().unwrap();
    let basic = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, "studio:a+secret%3Aof+studio");
    assert_eq!(credential, format!("Basic {basic}"));
    assert_eq!((form["grant_type"].as_str(), form["redirect_uri"].as_str()), ("authorization_code", redirect.as_str()));
    assert_eq!(form["code_verifier"].len(), 43);
    assert!(!form.contains_key("client_secret"));
    let kept = scene.server.database().everything().await;
    for secret in [form["code_verifier"].as_str(), "a-token-of-acme", "a secret:of studio"] {
        assert!(!kept.contains(secret), "{secret} is kept nowhere");
    }
}

#[tokio::test]
async fn what_a_provider_says_that_is_not_good_signs_nobody_in() {
    let scene = Scene::new().await;
    let now = scene.now_ms() / 1_000;
    for (what, wrong, status) in [
        ("for another client", json!({ "aud": "another" }), 400),
        ("for another attempt", json!({ "nonce": "n" }), 400),
        ("of another issuer", json!({ "iss": "https://evil.example" }), 400),
        ("ended", json!({ "exp": now - 61 }), 400),
        ("nobody's", json!({ "sub": "" }), 400),
        ("an email nobody confirmed", json!({ "email": "eve@acme.test", "email_verified": false }), 403),
        ("no email", json!({ "email": null }), 403),
        ("a stranger", json!({ "email": "eve@acme.test" }), 403),
    ] {
        let tab = Tab::of(&scene.server);
        let mut said = claims("ada");
        said.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let answer = scene.signs_in(&tab, said).await;
        assert_eq!(answer.status, status, "{what}: {}", answer.text);
        assert!(tab.cookie("playmaker").is_none(), "{what}");
        let row = scene.last().await;
        assert_eq!(row.kind, "sign_in_failed", "{what}");
        assert_eq!((&row.data["method"], &row.data["provider"]), (&json!("upstream"), &json!("acme")), "{what}");
    }
    assert!(scene.server.app.identity.person_of_email("eve@acme.test").await.unwrap().is_none());
}

#[tokio::test]
async fn a_no_at_the_provider_and_a_failed_exchange_are_told_in_our_own_words() {
    let scene = Scene::new().await;
    let tab = Tab::of(&scene.server);
    let told = async |parameters: &[(&str, &str)]| {
        let visited = leaves(&tab, AWAY).await;
        let answer = tab.get(&scene.provider.answers(&visited, parameters)).await;
        assert!(!answer.text.contains("words of"), "{}", answer.text);
        (answer.status, scene.last().await.data["reason"].clone())
    };
    let words = ("error_description", "words of somebody");
    assert_eq!(told(&[("error", "access_denied"), words]).await, (403, json!("denied")));
    assert_eq!(told(&[("error", "server_error"), words]).await, (503, json!("unanswered")));
    assert_eq!(told(&[("error", "<script>"), words]).await, (503, json!("unanswered")));
    assert!(scene.provider.token_requests().is_empty());
    assert_eq!(told(&[("code", "a-code-nobody-has")]).await, (503, json!("unanswered")));
    assert_eq!(told(&[]).await, (503, json!("unanswered")));
    assert_eq!(scene.provider.token_requests().len(), 1);
    let _: Value = scene.last().await.data;
}
