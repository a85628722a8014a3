//! Who Playmaker is at an issuer: the operator's client, a document, or one that the issuer registers.

use playmaker::clock::Clock as _;
use playmaker::identity::Role;
use serde_json::{Value, json};

use super::{ISSUER, Remote, metadata, protected, registered, settings, start};
use crate::support::app::{OWN_ORIGIN, TestApp};
use crate::support::provider::query;
use crate::support::simulator::{CLIENT, Page as Answered, SECRET, Simulator};

async fn client_at(remote: &Remote) -> String {
    let started = start(&remote.page().await).await.done(200);
    query(started["authorize_url"].as_str().unwrap())["client_id"].clone()
}

async fn no_client(remote: &Remote, what: &str) {
    let answer = start(&remote.page().await).await;
    assert_eq!(answer.refused(503, "unavailable")["code"], "no_client", "{what}: {}", answer.text);
}

#[tokio::test]
async fn the_operator_s_client_comes_first() {
    let simulator = Simulator::start().await;
    simulator.set(|quirks| {
        quirks.pages.insert(super::PROTECTED.into(), Answered::json(&protected(&simulator)));
        quirks.pages.insert(ISSUER.into(), Answered::json(&metadata(&simulator)));
    });
    let server = TestApp::with(&settings(&simulator, true)).await;
    let remote = Remote { simulator, server };
    assert_eq!(client_at(&remote).await, CLIENT);
    assert_eq!(remote.asked("/register"), 0);
}

#[tokio::test]
async fn a_registration_says_what_this_client_is_and_is_kept_sealed() {
    let remote = Remote::start().await;
    assert_eq!(client_at(&remote).await, CLIENT);
    let asked = remote.simulator.requests().into_iter().find(|request| request.path == "/register").unwrap();
    let redirect = format!("{}/connect/return", remote.server.origin());
    assert_eq!(
        serde_json::from_str::<Value>(&asked.body).unwrap(),
        json!({
            "client_name": "Playmaker", "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic", "application_type": "native",
        })
    );
    let everything = remote.server.database().everything().await;
    assert!(everything.contains(CLIENT) && !everything.contains(SECRET), "the secret is sealed");
}

#[tokio::test]
async fn a_secret_that_ends_is_replaced_before_it_does() {
    let remote = Remote::start().await;
    let end = remote.server.clock.now_ms() / 1_000 + 3_600;
    remote.change("/register", |answer| answer["client_secret_expires_at"] = end.into());
    client_at(&remote).await;
    client_at(&remote).await;
    assert_eq!(remote.asked("/register"), 1);
    remote.server.clock.advance_ms(50 * 60 * 1_000);
    remote.change("/register", |answer| {
        answer["client_id"] = "the-next".into();
        answer["client_secret_expires_at"] = (end + 7_200).into();
    });
    assert_eq!(client_at(&remote).await, "the-next");
    assert_eq!(remote.asked("/register"), 2);
}

#[tokio::test]
async fn an_issuer_is_asked_to_register_three_times_an_hour_at_most() {
    let remote = Remote::start().await;
    remote.answers("/register", 400, &[], "{\"error\":\"invalid_client_metadata\"}");
    for _ in 0..5 {
        no_client(&remote, "an issuer that registers nobody").await;
    }
    assert_eq!(remote.asked("/register"), 3);
    remote.server.clock.advance_ms(60 * 60 * 1_000 + 1);
    no_client(&remote, "an hour later").await;
    assert_eq!(remote.asked("/register"), 4);
}

#[tokio::test]
async fn absurd_registrations_are_of_no_use() {
    let absurd: Vec<(&str, Value)> = vec![
        ("client_id", Value::Null),
        ("client_id", "".into()),
        ("client_id", "a\nb".into()),
        ("client_id", "x".repeat(5_000).into()),
        ("client_id", json!({ "id": 1 })),
        ("client_secret", Value::Null),
        ("client_secret", "".into()),
        ("client_secret_expires_at", 1.into()),
        ("client_secret_expires_at", json!(-1)),
        ("client_secret_expires_at", json!(i64::MAX)),
        ("token_endpoint_auth_method", "private_key_jwt".into()),
        ("redirect_uris", json!(["https://elsewhere.example/return"])),
    ];
    for (member, value) in absurd {
        let remote = Remote::with("/register", |answer| answer[member] = value.clone()).await;
        no_client(&remote, &format!("{member}: {value}")).await;
    }
    for body in ["", "<p>", "[]"] {
        let remote = Remote::start().await;
        remote.answers("/register", 201, &[], body);
        no_client(&remote, body).await;
    }
    // Whatever was meant by a move, nothing is sent after it.
    let remote = Remote::start().await;
    remote.answers("/register", 307, &[("location", "/moved".to_owned())], "");
    no_client(&remote, "a redirect").await;
    assert_eq!(remote.asked("/moved"), 0);
}

#[tokio::test]
async fn the_document_about_this_client_is_public() {
    let server = TestApp::local().await;
    let answer = server.anyone().get("/oauth/client.json").await;
    assert_eq!(answer.header("cache-control"), "public, max-age=3600");
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(
        answer.json(),
        json!({
            "client_name": "Playmaker",
            "redirect_uris": [format!("{}/connect/return", server.origin())],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "client_id": format!("{}/oauth/client.json", server.origin()),
        })
    );
    let server = TestApp::signing_in().await;
    assert_eq!(server.anyone().get("/oauth/client.json").await.status, 200);
}

/// Where people sign in, an inner server is one the operator listed, and nothing that it names is one.
#[tokio::test]
async fn what_an_inner_server_names_is_no_inner_server() {
    let other = Simulator::start().await;
    let simulator = Simulator::start().await;
    simulator.set(|quirks| {
        let mut document = protected(&simulator);
        document["authorization_servers"] = json!([other.issuer()]);
        quirks.pages.insert(super::PROTECTED.into(), Answered::json(&document));
        quirks.pages.insert(ISSUER.into(), Answered::json(&metadata(&simulator)));
        quirks.pages.insert("/register".into(), Answered::json(&registered()));
    });
    let both = format!("{},{}", simulator.url(""), other.url(""));
    let mut given = settings(&simulator, false);
    given.retain(|(name, _)| *name != "CONNECTIONS_PRIVATE_HOSTS");
    given.extend([("CONNECTIONS_PRIVATE_HOSTS", &*both), ("PUBLIC_URL", OWN_ORIGIN)]);
    let server = TestApp::with(&given).await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let added = ada.post("/v1/orgs/acme/connections", &json!({ "provider": "sim" })).await.done(201);
    let link = added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let browser = server.anyone().with("cookie", &ada.cookie);
    let csrf = browser.get(&format!("/v1/links/{link}")).await.done(200)["csrf"].as_str().unwrap().to_owned();
    let browser = browser.with("x-playmaker-csrf", &csrf).with("origin", &server.origin());
    let start = format!("/v1/links/{link}/start");
    let refused = browser.post(&start, &json!({})).await.refused(503, "unavailable");
    assert_eq!(refused["code"], "metadata_mismatch");
    assert_eq!(other.requests().len(), 0, "the listed origin stays silent");
    // The server itself may be its own issuer.
    simulator.set(|quirks| drop(quirks.pages.insert(super::PROTECTED.into(), Answered::json(&protected(&simulator)))));
    browser.post(&start, &json!({})).await.done(200);
}
