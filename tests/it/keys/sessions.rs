//! The same over HTTP, from a person's browser: who signed in just now, and who did a while ago.

use playmaker::identity::Role;
use serde_json::json;

use crate::support::app::TestApp;
use crate::support::people::Caller;

const KEYS: &str = "/v1/orgs/north/keys";

#[tokio::test]
async fn a_key_from_its_making_to_its_end() {
    let server = TestApp::signing_in().await;
    let admin = server.person("Ada", "ada@north.test", "north", Role::Admin).await;
    let member = server.person("Ben", "ben@north.test", "north", Role::Member).await;
    let input = json!({ "name": "nightly", "permissions": ["org:read"] });
    let made = admin.post(KEYS, &input).await.done(201);
    admin.post(KEYS, &input).await.refused(409, "conflict");
    let holder = |text: &serde_json::Value| Caller::new(server.url(""), Some(text.as_str().unwrap()));
    holder(&made["key"]).get("/v1/orgs/north/playbooks").await.done(200);
    let path = format!("{KEYS}/{}", made["id"].as_str().unwrap());

    let renamed = admin.put(&path, &json!({ "name": "weekly" })).await.done(200);
    assert_eq!(renamed["name"], "weekly");
    let rotated = admin.post(&format!("{path}/rotate"), &json!({ "grace_seconds": 0 })).await.done(200);
    holder(&made["key"]).get("/v1/orgs/north/playbooks").await.refused(401, "unauthenticated");
    holder(&rotated["key"]).get("/v1/orgs/north/playbooks").await.done(200);
    member.post(&format!("{path}/revoke"), &json!({})).await.refused(404, "not_found");
    assert_eq!(member.get(KEYS).await.done(200)["keys"], json!([]));

    // An open browser that somebody finds makes no key, but may end one.
    server.clock.advance_ms(10 * 60 * 1_000 + 1);
    for (path, body) in [(KEYS.to_owned(), input), (format!("{path}/rotate"), json!({}))] {
        let problem = admin.post(&path, &body).await.refused(403, "forbidden");
        assert_eq!(problem["kind"], "sign_in_again");
    }
    let listed = admin.get(&format!("{KEYS}?status=active&limit=1")).await.done(200);
    assert_eq!((&listed["keys"][0]["id"], &listed["has_more"]), (&made["id"], &json!(false)));
    let ended = admin.post(&format!("{path}/revoke"), &json!({})).await.done(200);
    assert_eq!(ended["status"], "revoked");
    holder(&rotated["key"]).get("/v1/orgs/north/playbooks").await.refused(401, "unauthenticated");
    assert_eq!(admin.get("/v1/me").await.done(200)["role"], "admin");
}
