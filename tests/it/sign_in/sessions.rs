//! Sessions: where their cookie counts, what its commands must carry, and when it ends (`identity.md` 8.3).

use playmaker::identity::Role;
use playmaker::identity::sign_in::sessions::{Browser, IDLE_MS, LIFE_MS, Method};
use serde_json::json;

use crate::support::app::{FULL, TestApp};

const PLAYBOOKS: &str = "/v1/orgs/acme/playbooks";

#[tokio::test]
async fn a_person_acts_in_the_orgs_they_belong_to_with_the_rights_of_their_role() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let viewer = server.person("Vi", "vi@acme.test", "acme", Role::Viewer).await;
    let body = json!({ "playbook": "support", "name": "Support" });
    viewer.post(PLAYBOOKS, &body).await.refused(403, "forbidden");
    ada.post(PLAYBOOKS, &body).await.done(201);
    viewer.get(PLAYBOOKS).await.done(200);
    // Another org is refused the same whether it is there or not.
    server.person("Bo", "bo@south.test", "south", Role::Owner).await;
    let there = ada.get("/v1/orgs/south/playbooks").await.refused(403, "forbidden");
    let not_there = ada.get("/v1/orgs/nowhere/playbooks").await.refused(403, "forbidden");
    assert_eq!(there, not_there);
}

/// Security case 22.
#[tokio::test]
async fn a_command_needs_our_own_page_and_the_token_of_its_session() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    let other = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    let own = server.origin();
    let bare = || server.anyone().with("cookie", &ada.cookie);
    let body = json!({ "playbook": "support", "name": "Support" });
    for (what, caller) in [
        ("no token", bare().with("origin", &own)),
        ("no origin", bare().with("x-playmaker-csrf", &ada.csrf)),
        ("another session's token", bare().with("origin", &own).with("x-playmaker-csrf", &other.csrf)),
        ("a foreign page", bare().with("origin", "https://evil.test").with("x-playmaker-csrf", &ada.csrf)),
        ("no page to speak of", bare().with("origin", "null").with("x-playmaker-csrf", &ada.csrf)),
        ("from across", bare().with("sec-fetch-site", "cross-site").with("x-playmaker-csrf", &ada.csrf)),
        (
            "from our origin and yet across",
            bare().with("origin", &own).with("sec-fetch-site", "cross-site").with("x-playmaker-csrf", &ada.csrf),
        ),
        ("from a neighbour", bare().with("sec-fetch-site", "same-site").with("x-playmaker-csrf", &ada.csrf)),
    ] {
        let answer = caller.post(PLAYBOOKS, &body).await;
        assert_eq!(answer.status, 403, "{what}: {}", answer.text);
        answer.refused(403, "origin_not_allowed");
    }
    assert_eq!(ada.get(PLAYBOOKS).await.done(200)["playbooks"], json!([]), "nothing was changed");
    let without_origin = bare().with("sec-fetch-site", "same-origin").with("x-playmaker-csrf", &ada.csrf);
    without_origin.post(PLAYBOOKS, &body).await.done(201);
}

#[tokio::test]
async fn a_bearer_beside_the_cookie_wins_and_no_mcp_endpoint_takes_a_cookie() {
    let keys = json!([FULL.entry()]).to_string();
    let server = TestApp::signing_in_with(&[("API_KEYS", &keys)]).await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    let bearer = |text: &str| server.anyone().with("cookie", &ada.cookie).with("authorization", text);
    let key = bearer(&format!("Bearer {}", FULL.text));
    key.get(PLAYBOOKS).await.refused(403, "forbidden");
    key.get("/v1/orgs/north/playbooks").await.done(200);
    bearer("Bearer nonsense").get(PLAYBOOKS).await.refused(401, "unauthenticated");
    for endpoint in ["/mcp", "/orgs/acme/mcp", "/orgs/acme/playbooks/support/mcp"] {
        let answer = ada.ask(endpoint, "tools/list", json!({})).await;
        assert_eq!(answer.status, 401, "{endpoint}: {}", answer.text);
    }
}

/// Security case 21.
#[tokio::test]
async fn a_session_ends_unused_or_old_or_with_its_person() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    server.clock.advance_ms(IDLE_MS - 1);
    ada.get(PLAYBOOKS).await.done(200);
    server.clock.advance_ms(IDLE_MS);
    ada.get(PLAYBOOKS).await.refused(401, "unauthenticated");

    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    for _ in 0..(LIFE_MS / IDLE_MS) * 2 - 1 {
        server.clock.advance_ms(IDLE_MS / 2);
        ada.get(PLAYBOOKS).await.done(200);
    }
    server.clock.advance_ms(IDLE_MS / 2);
    ada.get(PLAYBOOKS).await.refused(401, "unauthenticated");
    for planted in ["", "x", "../../etc", &"a".repeat(43), &"é".repeat(43)] {
        let stranger = server.anyone().with("cookie", &format!("playmaker={planted}"));
        stranger.get(PLAYBOOKS).await.refused(401, "unauthenticated");
    }
}

#[tokio::test]
async fn of_a_session_only_the_digest_is_kept() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    let id = ada.cookie.strip_prefix("playmaker=").unwrap();
    assert!(!server.database().everything().await.contains(id));
    let audit = server.audit("").await;
    let last = audit.last().map(|row| (row.kind.as_str(), row.actor.id.clone()));
    assert_eq!(last, Some(("sign_in", format!("person:{}", ada.id))));
}

/// Who may do more than before signs in anew: an id that somebody learned before is worth nothing then.
#[tokio::test]
async fn who_becomes_an_admin_or_an_owner_signs_in_anew() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    let bo = server.person("Bo", "bo@acme.test", "acme", Role::Viewer).await;
    let path = format!("/v1/orgs/acme/members/person:{}", bo.id);
    ada.put(&path, &json!({ "role": "member" })).await.done(200);
    bo.get(PLAYBOOKS).await.done(200);
    ada.put(&path, &json!({ "role": "admin" })).await.done(200);
    bo.get(PLAYBOOKS).await.refused(401, "unauthenticated");
    let told = server.audit("acme").await.pop().unwrap();
    assert_eq!((told.kind.as_str(), &told.data["sessions_ended"]), ("member_role_changed", &json!(1)));
    let bo = server.person("Bo", "bo@acme.test", "acme", Role::Viewer).await;
    ada.put(&path, &json!({ "role": "viewer" })).await.done(200);
    bo.get(PLAYBOOKS).await.done(200);
    ada.get(PLAYBOOKS).await.done(200);
}

/// A cookie that is no good costs a look-up as any credential does, and so it counts as one; nobody is kept from signing in
/// by it.
#[tokio::test]
async fn an_address_that_guesses_sessions_is_not_listened_to_and_good_ones_go_on() {
    let server = TestApp::signing_in_with(&[("RATE_ANONYMOUS", "1000/1000")]).await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    let person = server.app.identity.person(&ada.id).await.unwrap().unwrap();
    let browser = Browser { user_agent: "another".into(), address: "127.0.0.1".into() };
    let opened = server.app.identity.sign_in(&person, Method::Password, false, &browser, None).await.unwrap();
    let not_seen_yet = server.anyone().with("cookie", &format!("playmaker={}", opened.id));
    for number in 0..30 {
        let stranger = server.anyone().with("cookie", &format!("playmaker={:0>43}", format!("guess{number}")));
        let answer = stranger.get(PLAYBOOKS).await;
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("set-cookie"), "playmaker=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0");
    }
    // What was good before passes; what was not is not even looked up.
    ada.get(PLAYBOOKS).await.done(200);
    not_seen_yet.get(PLAYBOOKS).await.refused(401, "unauthenticated");
    assert_eq!(not_seen_yet.get("/sign-in").await.status, 200);
    server.clock.advance_ms(10 * 60_000);
    not_seen_yet.get(PLAYBOOKS).await.done(200);
}
