//! The whole trip: from a server's challenge to its tools.

use serde_json::json;

use super::{ISSUER, OPENID, PROTECTED, PROTECTED_ROOT, Remote, start};
use crate::support::people::Answer;
use crate::support::provider::query;
use crate::support::simulator::{Issuer, Page as Answered};

/// Comes back to a path and query with the cookie that `start` set.
async fn back(page: &super::Page, started: &Answer, path: &str) -> Answer {
    let held = started.header("set-cookie").split(';').next().unwrap().to_owned();
    let brought = query(&format!("http://localhost{path}"));
    let mut body = json!({ "state": brought["state"] });
    for name in ["code", "iss", "error"] {
        if let Some(value) = brought.get(name) {
            body[name] = value.as_str().into();
        }
    }
    let browser = page.browser.clone().with("cookie", &held).with("x-playmaker-csrf", &page.csrf().await);
    browser.post("/v1/links/finish", &body).await
}

#[tokio::test]
async fn a_person_signs_in_to_a_server_nobody_here_had_set_up() {
    let remote = Remote::start().await;
    let page = remote.page().await;
    let started = start(&page).await;
    let address = started.done(200)["authorize_url"].as_str().unwrap().to_owned();
    let asked = query(&address);
    assert_eq!(asked["resource"], remote.simulator.url("/mcp"));
    assert_eq!(asked["scope"], "notes.read notes.write offline_access");
    assert_eq!(asked["code_challenge_method"], "S256");
    let connected = back(&page, &started, &remote.simulator.allows(&address)).await.done(200);
    assert_eq!(connected["connection"]["status"], "connected");
    assert_eq!(connected["connection"]["account"], "ada@sim.example");
    let exchange = &remote.simulator.token_requests()[0];
    assert_eq!(exchange.member("resource"), remote.simulator.url("/mcp"));
    assert!(exchange.authorization.starts_with("Basic "), "as the issuer takes it");
    // The first request went without a credential, and so did every one that asked for a document.
    let before = remote.simulator.requests().into_iter().take_while(|request| request.path != "/token");
    assert!(before.map(|request| request.authorization).all(|authorization| authorization.is_empty()));
    let kinds = remote.server.audit_of("local", &page.connection).await;
    assert_eq!(kinds, ["connection_added", "connection_authorization_started", "connection_connected"]);
}

#[tokio::test]
async fn metadata_is_looked_for_where_the_standards_put_it() {
    let remote = Remote::start().await;
    // The root form, and OpenID Connect's document, where the better places are empty.
    for (from, to) in [(PROTECTED, PROTECTED_ROOT), (ISSUER, OPENID)] {
        remote.simulator.set(|quirks| {
            let page = quirks.pages.remove(from).unwrap();
            quirks.pages.insert(to.into(), page);
        });
    }
    start(&remote.page().await).await.done(200);
    let order: Vec<String> = remote.simulator.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(order, ["/mcp", PROTECTED, PROTECTED_ROOT, ISSUER, OPENID, "/register"]);
    // What the issuer says is remembered for ten minutes, and the client for longer.
    start(&remote.page().await).await.done(200);
    assert_eq!((remote.asked(OPENID), remote.asked("/register")), (1, 1));
    remote.server.clock.advance_ms(10 * 60 * 1_000);
    start(&remote.page().await).await.done(200);
    assert_eq!((remote.asked(OPENID), remote.asked("/register")), (2, 1));
    // Without any document the server's own origin is asked as the issuer.
    remote.without(PROTECTED_ROOT);
    start(&remote.page().await).await.done(200);
}

#[tokio::test]
async fn the_challenge_says_where_and_what_for() {
    let remote = Remote::start().await;
    let document = remote.simulator.url("/about");
    remote.simulator.set(|quirks| {
        let page = quirks.pages.remove(PROTECTED).unwrap();
        quirks.pages.insert("/about".into(), page);
        quirks.challenge = Some(format!("Bearer resource_metadata=\"{document}\", scope=\"notes.read\""));
    });
    let started = start(&remote.page().await).await.done(200);
    let asked = query(started["authorize_url"].as_str().unwrap());
    assert_eq!(asked["scope"], "notes.read offline_access", "the challenge's scope, not all there is");
    assert_eq!((remote.asked("/about"), remote.asked(PROTECTED)), (1, 0));
    // On another origin it is not even asked.
    let other = Remote::start().await;
    other.simulator.set(|quirks| quirks.challenge = Some(format!("Bearer resource_metadata=\"{document}\"")));
    start(&other.page().await).await.done(200);
    assert_eq!((other.asked(PROTECTED), remote.asked("/about")), (1, 1));
}

/// Security case 33: nothing of another issuer is taken, and one that says it names itself must.
#[tokio::test]
async fn a_code_of_another_issuer_is_sent_nowhere() {
    for (says, issuer) in [(true, Issuer::Missing), (true, Issuer::Wrong), (false, Issuer::Wrong)] {
        let remote = Remote::start().await;
        remote.change(ISSUER, |document| document["authorization_response_iss_parameter_supported"] = says.into());
        remote.simulator.set(|quirks| quirks.issuer = issuer);
        let page = remote.page().await;
        let started = start(&page).await;
        let address = started.done(200)["authorize_url"].as_str().unwrap().to_owned();
        back(&page, &started, &remote.simulator.allows(&address)).await.refused(400, "bad_request");
        assert_eq!(remote.simulator.token_requests().len(), 0, "{says} {issuer:?}");
        let row = remote.server.audit("local").await.pop().unwrap();
        assert_eq!((row.kind.as_str(), &row.data["code"]), ("connection_attempt_failed", &json!("issuer_mismatch")));
    }
}

#[tokio::test]
async fn a_client_its_issuer_does_not_know_is_registered_anew() {
    let remote = Remote::start().await;
    remote.change("/register", |answer| answer["client_secret"] = "another".into());
    let page = remote.page().await;
    let started = start(&page).await;
    let address = started.done(200)["authorize_url"].as_str().unwrap().to_owned();
    let refused = back(&page, &started, &remote.simulator.allows(&address)).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    remote.simulator.set(|quirks| drop(quirks.pages.insert("/register".into(), Answered::json(&super::registered()))));
    let started = start(&page).await;
    let address = started.done(200)["authorize_url"].as_str().unwrap().to_owned();
    back(&page, &started, &remote.simulator.allows(&address)).await.done(200);
    assert_eq!(remote.asked("/register"), 2);
}
