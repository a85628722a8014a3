//! The three ways a server is started, and what each answers to whom.

use serde_json::json;

use super::DOORS;
use crate::support::app::{ACCOUNT, ELSEWHERE, FULL, INSIDE, LIMITED, READER, TestApp};
use crate::support::people::{Answer, Caller};

#[tokio::test]
async fn the_local_developer_needs_no_credential_and_acts_by_the_name_of_the_account() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    let made = developer.post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "Support" })).await;
    assert_eq!(made.done(201)["created_by"], "local");
    let told = developer.result("/mcp", "server/discover", json!({})).await.unwrap();
    assert!(told["instructions"].as_str().unwrap().contains(&format!("{ACCOUNT} (local) in the org local")), "{told}");
    // Another org is none of the developer's, whether it exists or not.
    developer.get("/v1/orgs/north/playbooks").await.refused(403, "forbidden");
    // A credential that is sent all the same must be good, and there are no keys here.
    let with_key = server.holder(&FULL).get("/v1/orgs/local/playbooks").await;
    with_key.refused(401, "unauthenticated");
}

#[tokio::test]
async fn a_server_of_keys_asks_everybody_for_one() {
    let server = TestApp::with_keys(&[FULL]).await;
    for (method, path) in DOORS {
        let answer = server.anyone().send(method, path, "{}").await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), "Bearer", "{method} {path}");

        let unknown = Caller::new(server.url(""), Some("a-key-nobody-ever-made-here"));
        let answer = unknown.send(method, path, "{}").await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), "Bearer error=\"invalid_token\"", "{method} {path}");
    }
    server.holder(&FULL).get("/v1/orgs/north/playbooks").await.done(200);
}

#[tokio::test]
async fn anything_but_one_bearer_credential_is_malformed() {
    let server = TestApp::with_keys(&[FULL]).await;
    let good = format!("Bearer {}", FULL.text);
    let odd: [&[&str]; 7] = [
        &["Bearer"],
        &["Bearer "],
        &["Basic bm9ydGg6a2V5"],
        &[FULL.text],
        &["Bearer two words"],
        &["Bearer \u{e9}"],
        &[&good, &good],
    ];
    for values in odd {
        for (method, path) in DOORS {
            let caller = values.iter().fold(server.anyone(), |caller, value| caller.with("authorization", value));
            let answer = caller.send(method, path, "{}").await;
            answer.refused(400, "bad_request");
            assert_eq!(answer.header("www-authenticate"), "Bearer error=\"invalid_request\"", "{values:?} {path}");
        }
    }
    let caseless = server.anyone().with("authorization", &good.replace("Bearer", "bEaReR"));
    caseless.get("/v1/orgs/north/playbooks").await.done(200);
}

#[tokio::test]
async fn a_key_stays_in_its_org_its_permissions_and_its_playbooks() {
    let server = TestApp::with_keys(&[FULL, READER, LIMITED, INSIDE, ELSEWHERE]).await;
    let full = server.holder(&FULL);
    for playbook in ["support", "secret-plans"] {
        full.post("/v1/orgs/north/playbooks", &json!({ "playbook": playbook, "name": playbook })).await.done(201);
    }
    let insufficient = |answer: &Answer| {
        let problem = answer.refused(403, "forbidden");
        assert_eq!(answer.header("www-authenticate"), "Bearer error=\"insufficient_scope\"");
        problem
    };
    // Its org: the same answer whether or not what is asked for exists.
    let elsewhere = server.holder(&ELSEWHERE);
    let there = insufficient(&elsewhere.get("/v1/orgs/north/playbooks/support").await);
    assert_eq!(there, insufficient(&elsewhere.get("/v1/orgs/north/playbooks/nowhere").await));
    assert_eq!(there, insufficient(&elsewhere.get("/v1/orgs/no%2Fsuch%20org/playbooks").await));
    insufficient(&elsewhere.send("POST", "/orgs/north/mcp", "{}").await);

    // Its permissions: the refusal names those that are needed.
    let new = json!({ "playbook": "new", "name": "New" });
    let refused = insufficient(&server.holder(&READER).post("/v1/orgs/north/playbooks", &new).await);
    assert!(refused["detail"].as_str().unwrap().contains("org:write"), "{refused}");
    let refused = insufficient(&server.holder(&INSIDE).get("/v1/orgs/north/connections").await);
    assert!(refused["detail"].as_str().unwrap().contains("org:read"), "{refused}");

    // Its playbooks: the same answer whether or not the playbook exists.
    let limited = server.holder(&LIMITED);
    let there = insufficient(&limited.get("/v1/orgs/north/playbooks/secret-plans").await);
    assert_eq!(there, insufficient(&limited.get("/v1/orgs/north/playbooks/nowhere").await));
    insufficient(&limited.get("/v1/orgs/north/playbooks/secret-plans/events").await);
    insufficient(&limited.send("POST", "/orgs/north/playbooks/secret-plans/mcp", "{}").await);
    limited.get("/v1/orgs/north/playbooks/support").await.done(200);
    limited.get("/v1/orgs/north/playbooks/billing").await.refused(404, "not_found");
}

#[tokio::test]
async fn a_key_that_has_ended_is_answered_as_one_that_never_was() {
    let mut entry = FULL.entry();
    entry["expires_at"] = json!("2026-10-01T09:30:01.000Z");
    let server = TestApp::with(&[("API_KEYS", &json!([entry]).to_string())]).await;
    let caller = server.holder(&FULL);
    caller.get("/v1/orgs/north/playbooks").await.done(200);
    server.clock.advance_ms(1_000);
    let ended = caller.get("/v1/orgs/north/playbooks").await;
    let never = Caller::new(server.url(""), Some("a-key-nobody-ever-made-here")).get("/v1/orgs/north/playbooks").await;
    assert_eq!(ended.refused(401, "unauthenticated"), never.refused(401, "unauthenticated"));
}

#[tokio::test]
async fn a_server_that_nothing_lets_anybody_into_answers_its_open_routes_alone() {
    let server = TestApp::closed().await;
    for (method, path) in DOORS.into_iter().chain([("GET", "/nowhere"), ("GET", "/v1/orgs/local/connections")]) {
        let answer = server.anyone().send(method, path, "{}").await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("www-authenticate"), "Bearer", "{method} {path}");
        server.holder(&FULL).send(method, path, "{}").await.refused(401, "unauthenticated");
    }
    for path in ["/health", "/ready", "/openapi.json"] {
        server.anyone().get(path).await.done(200);
    }
}
