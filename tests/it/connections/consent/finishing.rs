//! Coming back: the one trip that ends well, and everything that may be wrong with one.

use serde_json::{Value, json};

use super::{Scene, Trip};
use crate::support::people::Answer;
use crate::support::provider::query;
use crate::support::simulator::{Answers, CLIENT, Fault, Issuer, Proof, SECRET, WORDS};

fn kinds(scene_audit: &[String]) -> Vec<&str> {
    scene_audit.iter().map(String::as_str).collect()
}

/// The first failed, the second works: one that went wrong stands in nobody's way.
async fn works_after_all(scene: &Scene) {
    let trip = scene.leaves().await;
    let path = scene.simulator.allows(&trip.address);
    scene.back(&trip, &path).await.done(200);
    assert_eq!(scene.read().await["state"], "connected");
}

#[tokio::test]
async fn a_person_signs_in_at_the_provider_and_the_connection_stands() {
    let scene = Scene::local().await;
    let read = scene.read().await;
    assert_eq!((&read["state"], &read["way"]["kind"]), (&json!("ready"), &json!("authorization")));
    assert_eq!(read["way"]["scopes"][0], json!({ "scope": "notes.read", "words": "Read notes" }));
    let trip = scene.leaves().await;
    let asked = query(&trip.address);
    assert_eq!(asked["redirect_uri"], format!("{}/connect/return", scene.server.origin()));
    assert_eq!((asked["scope"].as_str(), asked["code_challenge_method"].as_str()), ("notes.read notes.write", "S256"));
    assert_eq!(scene.read().await["state"], "started");
    assert_eq!(scene.simulator.requests().len(), 0, "nobody is asked before the person is back");

    let path = scene.simulator.allows(&trip.address);
    let answer = scene.back(&trip, &path).await;
    let done = answer.done(200);
    assert!(answer.header("set-cookie").contains("Max-Age=0"), "{}", answer.header("set-cookie"));
    assert_eq!(done["link"], scene.link);
    let connection = &done["connection"];
    assert_eq!((&connection["status"], &connection["because"]), (&json!("connected"), &Value::Null));
    assert_eq!(connection["account"], "ada@sim.example");
    assert_eq!(connection["scopes"]["granted"], json!(["notes.read", "notes.write"]));
    assert_eq!(connection["expires_at"], "2026-10-01T10:30:00.000Z");
    let [exchange] = &scene.simulator.token_requests()[..] else { panic!("one token request") };
    assert_eq!(exchange.member("redirect_uri"), asked["redirect_uri"]);
    assert!(exchange.authorization.starts_with("Basic "));
    assert_eq!(
        kinds(&scene.audit().await),
        ["connection_added", "connection_authorization_started", "connection_connected"]
    );
    let (_, facts) = scene.last_row().await;
    assert_eq!((&facts["how"], &facts["version"]), (&json!("authorization"), &json!(1)));

    // The same again, and the token of the session itself.
    let again = scene.back(&trip, &path).await;
    assert_eq!(again.refused(400, "bad_request")["link"], scene.link);
    assert_eq!(scene.simulator.token_requests().len(), 1, "a code is sent once");
    assert_eq!(scene.audit().await.len(), 3);
    assert_eq!(scene.read().await["state"], "connected");
    scene.command("start").await.refused(404, "not_found");
}

#[tokio::test]
async fn the_token_of_the_session_itself_brings_somebody_back_too() {
    let scene = Scene::signing_in().await;
    let trip = scene.leaves().await;
    let path = scene.simulator.allows(&trip.address);
    scene.returns(&scene.session, &trip.cookie, "", &path).await.refused(403, "forbidden");
    scene.returns(&scene.session, &trip.cookie, "x", &path).await.refused(403, "forbidden");
    let csrf = scene.own_csrf().await;
    scene.returns(&scene.session, &trip.cookie, &csrf, &path).await.done(200);
}

/// A trip that fails, as far as it comes.
async fn fails(scene: &Scene, answer: &Answer, status: u16, code: &str, stage: &str) {
    assert_eq!(answer.status, status, "{code}: {}", answer.text);
    assert!(!answer.text.contains(WORDS), "{}", answer.text);
    let (kind, facts) = scene.last_row().await;
    assert_eq!((kind.as_str(), facts), ("connection_attempt_failed", json!({ "stage": stage, "code": code })));
    let read = scene.read().await;
    assert_eq!((&read["state"], &read["attempt"]["last_error"]["code"]), (&json!("provider_error"), &json!(code)));
    assert!(!read.to_string().contains(WORDS));
    let kept = scene.standing().await;
    assert_eq!((&kept["status"], &kept["scopes"], &kept["account"]), (&json!("pending"), &Value::Null, &Value::Null));
    // Tokens that never stood are taken by nobody any more, where the provider could be told.
    for token in scene.simulator.given() {
        assert!(!scene.simulator.lives(&token), "{code}: {token} lives on");
    }
}

async fn left(scene: &Scene) -> (Trip, String) {
    let trip = scene.leaves().await;
    let path = scene.simulator.allows(&trip.address);
    (trip, path)
}

/// Security cases 32 and 33: nothing is sent anywhere for a way back that does not fit.
#[tokio::test]
async fn a_way_back_that_does_not_fit_costs_the_trip_and_sends_no_code() {
    let scene = Scene::local().await;
    let trip = scene.leaves().await;
    let unknown = scene.back(&trip, "/connect/return?state=nobody-knows-this&code=x").await;
    unknown.refused(400, "bad_request");
    assert_eq!(scene.audit().await.len(), 2, "no attempt fits, so no row");
    assert_eq!(scene.back(&trip, "/connect/return?code=x").await.invalid_at(), ["/state"]);

    let (trip, path) = left(&scene).await;
    let other = Trip { cookie: "pm-attempt-00000000=elsewhere".into(), ..trip };
    fails(&scene, &scene.back(&other, &path).await, 400, "other_browser", "return").await;

    scene.simulator.set(|quirks| quirks.issuer = Issuer::Wrong);
    let (trip, path) = left(&scene).await;
    fails(&scene, &scene.back(&trip, &path).await, 400, "issuer_mismatch", "return").await;
    scene.simulator.set(|quirks| quirks.issuer = Issuer::Missing);

    let trip = scene.leaves().await;
    let path = scene.simulator.denies(&trip.address);
    fails(&scene, &scene.back(&trip, &path).await, 422, "declined", "consent").await;
    let trip = scene.leaves().await;
    let path = scene.simulator.answers(&trip.address, &[("error", "server_error"), ("error_description", WORDS)]);
    fails(&scene, &scene.back(&trip, &path).await, 422, "provider_error", "consent").await;
    let trip = scene.leaves().await;
    let path = scene.simulator.answers(&trip.address, &[]);
    fails(&scene, &scene.back(&trip, &path).await, 422, "provider_error", "consent").await;
    assert_eq!(scene.simulator.token_requests().len(), 0);
    works_after_all(&scene).await;
}

/// Security case 45, with what a provider may answer instead of tokens.
#[tokio::test]
async fn an_exchange_that_fails_is_made_once_and_told_in_our_words() {
    for (fault, status, code) in [
        (Fault::Refuse("invalid_grant"), 422, "exchange_failed"),
        (Fault::RefuseIn200("invalid_grant"), 422, "exchange_failed"),
        (Fault::Status(500), 503, "provider_unreachable"),
        (Fault::Later(429, 120), 503, "provider_unreachable"),
        (Fault::Html, 503, "provider_unreachable"),
        (Fault::Huge, 503, "provider_unreachable"),
    ] {
        let scene = Scene::local().await;
        scene.simulator.set(|quirks| quirks.faults.push_back(fault));
        let (trip, path) = left(&scene).await;
        let answer = scene.back(&trip, &path).await;
        fails(&scene, &answer, status, code, "exchange").await;
        assert_eq!(answer.header("retry-after").is_empty(), status != 503, "{code}");
        assert_eq!(scene.simulator.token_requests().len(), 1, "a code is sent once");
        works_after_all(&scene).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_short_may_have_given_tokens_and_is_not_asked_for_again() {
    let scene = Scene::local().await;
    scene.simulator.set(|quirks| quirks.faults.push_back(Fault::Cut));
    let (trip, path) = left(&scene).await;
    scene.back(&trip, &path).await.refused(503, "unavailable");
    let (_, facts) = scene.last_row().await;
    assert_eq!(facts, json!({ "stage": "exchange", "code": "provider_unreachable" }));
    assert_eq!(scene.simulator.token_requests().len(), 1);
    works_after_all(&scene).await;
}

/// Security case 46.
#[tokio::test]
async fn fewer_scopes_than_needed_connect_nothing_and_are_listed() {
    let scene = Scene::local().await;
    scene.simulator.set(|quirks| quirks.granted = Some(vec!["notes.write".into()]));
    let (trip, path) = left(&scene).await;
    let answer = scene.back(&trip, &path).await;
    assert!(answer.text.contains("notes.read"), "{}", answer.text);
    fails(&scene, &answer, 422, "scope_missing", "scopes").await;
    let words = scene.read().await["attempt"]["last_error"]["words"].as_str().unwrap().to_owned();
    assert!(words.contains("Read notes (notes.read)"), "{words}");
    assert_eq!(scene.simulator.revoked().len(), 2);
    scene.simulator.set(|quirks| quirks.granted = None);
    works_after_all(&scene).await;
}

#[tokio::test]
async fn tokens_that_the_server_does_not_take_are_given_back() {
    for (status, expected) in [(401, 422), (500, 503)] {
        let scene = Scene::local().await;
        scene.simulator.set(|quirks| quirks.api_status = status);
        let (trip, path) = left(&scene).await;
        fails(&scene, &scene.back(&trip, &path).await, expected, "verification_failed", "verification").await;
        scene.simulator.set(|quirks| quirks.api_status = 200);
        works_after_all(&scene).await;
    }
}

#[tokio::test]
async fn tokens_that_cannot_be_kept_are_given_back() {
    let scene = Scene::local().await;
    let (trip, path) = left(&scene).await;
    scene.server.database().run("ALTER TABLE secrets RENAME TO secrets_away").await;
    let answer = scene.back(&trip, &path).await;
    scene.server.database().run("ALTER TABLE secrets_away RENAME TO secrets").await;
    assert!(!answer.header("retry-after").is_empty());
    fails(&scene, &answer, 503, "store_unavailable", "store").await;
    assert_eq!(scene.simulator.revoked().len(), 2);
    works_after_all(&scene).await;
}

/// Security case 49, for the ways a provider may want its client, its requests and its answers.
#[tokio::test]
async fn every_kind_of_provider_is_spoken_to_as_it_wants() {
    type Change = fn(&mut Value);
    let post: Change = |file| file["ways"][0]["client_auth"] = json!("client_secret_post");
    let none: Change = |file| file["ways"][0]["client_auth"] = json!("none");
    let as_json: Change = |file| file["ways"][0]["request_body"] = json!("json");
    let nested: Change = |file| {
        let at = |name: &str| json!(format!("/authed_user/{name}"));
        file["ways"][0]["token"] = json!({
            "access_token": at("access_token"), "refresh_token": at("refresh_token"), "expires_in": at("expires_in"),
            "scope": at("scope"), "token_type": at("token_type"),
        });
    };
    let resource: Change = |file| file["ways"][0]["resource"] = json!("server");
    let form: Change = |_| {};
    for (change, proof, answers, wants_json, life) in [
        (post, Proof::Post, Answers::Json, false, json!("3600")),
        (none, Proof::None, Answers::Json, false, json!(-1)),
        (as_json, Proof::Basic, Answers::Json, true, json!(10_i64.pow(12))),
        (nested, Proof::Basic, Answers::Nested, false, json!(0)),
        (form, Proof::Basic, Answers::Form, false, json!(3_600)),
        (resource, Proof::Basic, Answers::Json, false, Value::Null),
    ] {
        let scene = Scene::of(change).await;
        scene.simulator.set(|quirks| {
            (quirks.proof, quirks.answers, quirks.wants_json) = (proof, answers, wants_json);
            quirks.expires_in = Some(life).filter(|life| !life.is_null());
        });
        works_after_all(&scene).await;
        let [exchange] = &scene.simulator.token_requests()[..] else { panic!("one token request") };
        assert!(proof != Proof::None || !exchange.body.contains(SECRET), "a public client proves nothing");
        assert!(proof == Proof::Basic || exchange.member("client_id") == CLIENT);
    }
}

/// Security case 47.
#[tokio::test]
async fn a_trip_has_ten_minutes_of_its_own() {
    let scene = Scene::local().await;
    scene.server.clock.advance_ms(2 * 60_000);
    let (trip, path) = left(&scene).await;
    scene.server.clock.advance_ms(9 * 60_000);
    assert_eq!(scene.read().await["state"], "started", "the link's minutes are over, the trip's are not");
    scene.back(&trip, &path).await.done(200);

    let late = Scene::local().await;
    let (trip, path) = left(&late).await;
    late.server.clock.advance_ms(11 * 60_000);
    assert_eq!(late.back(&trip, &path).await.refused(400, "bad_request")["link"], late.link);
    assert_eq!(late.read().await["state"], "expired");
    let audit = late.audit().await;
    assert_eq!(audit.iter().filter(|kind| *kind == "connection_attempt_failed").count(), 1, "{audit:?}");
    late.back(&trip, &path).await.refused(400, "bad_request");
    assert_eq!(late.audit().await, audit, "told once");
    assert_eq!(late.simulator.requests().len(), 0);
}

#[tokio::test]
async fn starting_again_ends_the_earlier_trip_and_ten_starts_are_enough() {
    let scene = Scene::local().await;
    let (first, first_path) = left(&scene).await;
    let (second, second_path) = left(&scene).await;
    scene.back(&first, &first_path).await.refused(400, "bad_request");
    assert_eq!(scene.read().await["state"], "started", "a late return touches no later trip");
    for _ in 0..8 {
        scene.leaves().await;
    }
    scene.back(&second, &second_path).await.refused(400, "bad_request");
    let refused = scene.command("start").await;
    refused.refused(429, "too_many_requests");
    assert_eq!(scene.audit().await.len(), 11);
    assert_eq!(scene.simulator.requests().len(), 0);
}

/// Security case 30: a removal or a later trip wins over an exchange under way, whose tokens are given back.
#[tokio::test]
async fn what_happens_while_a_code_is_exchanged_wins() {
    let scene = Scene::local().await;
    let (trip, path) = left(&scene).await;
    scene.simulator.set(|quirks| quirks.faults.push_back(Fault::Hang));
    let meanwhile = async {
        crate::support::eventually("the exchange", async || (scene.simulator.held() == 1).then_some(())).await;
        let gone = scene.server.anyone().delete(&format!("{}/{}", scene.connections(), scene.connection)).await;
        gone.done(200);
        scene.simulator.release();
    };
    let (answer, ()) = tokio::join!(scene.back(&trip, &path), meanwhile);
    answer.refused(404, "not_found");
    assert_eq!(scene.simulator.revoked().len(), 2);
    assert_eq!(scene.audit().await.last().unwrap(), "connection_removed");
    assert!(scene.simulator.given().iter().all(|token| !scene.simulator.lives(token)));

    let scene = Scene::local().await;
    let (trip, path) = left(&scene).await;
    scene.simulator.set(|quirks| quirks.faults.push_back(Fault::Hang));
    let meanwhile = async {
        crate::support::eventually("the exchange", async || (scene.simulator.held() == 1).then_some(())).await;
        let later = left(&scene).await;
        scene.simulator.release();
        later
    };
    let (answer, (later, later_path)) = tokio::join!(scene.back(&trip, &path), meanwhile);
    answer.refused(404, "not_found");
    assert_eq!(scene.read().await["state"], "started");
    scene.back(&later, &later_path).await.done(200);
}
