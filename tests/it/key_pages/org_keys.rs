//! `/{org}/keys`: every key of the org for who manages it, and for anybody else their own.

use playmaker::identity::Role;
use serde_json::{Value, json};

use super::{key_on, opens, sends, words, works};
use crate::support::app::{FULL, TestApp};
use crate::support::people::Caller;
use crate::support::visitor::Visitor;

const NEW: &str = "/north/keys/new";

/// A server with one key of the configuration in the org `north`.
async fn north() -> (TestApp, Visitor) {
    let server = TestApp::signing_in_with(&[("API_KEYS", &json!([FULL.entry()]).to_string())]).await;
    let ada = server.person("Ada", "ada@north.test", "north", Role::Owner).await;
    (server, ada)
}

async fn made(visitor: &Visitor, name: &str, whose: &str) -> String {
    let fields = [("name", name), ("permissions", "playbook:read"), ("permissions", "org:read"), ("whose", whose)];
    let answer = sends(visitor, NEW, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    key_on(&answer.text)
}

async fn named(visitor: &Visitor, name: &str) -> Value {
    let keys = visitor.get("/v1/orgs/north/keys?limit=100").await.done(200);
    let found = keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {keys}")).clone()
}

#[tokio::test]
async fn an_admin_sees_every_key_and_makes_the_orgs() {
    let (server, ada) = north().await;
    let bob = server.person("Bob", "bob@north.test", "north", Role::Member).await;
    assert!(opens(&ada, NEW).await.contains("name=\"whose\""));
    assert!(!opens(&bob, NEW).await.contains("name=\"whose\""));
    let key = made(&ada, "nightly", "org").await;
    made(&ada, "mine", "mine").await;
    // What a form of his own would not hold changes nothing.
    made(&bob, "bobs", "org").await;
    assert!(works(&server, &key).await);
    assert!(named(&ada, "nightly").await["person"].is_null());
    assert_eq!(named(&ada, "mine").await["person"], format!("person:{}", ada.id));
    assert_eq!(named(&ada, "bobs").await["person"], format!("person:{}", bob.id));

    let html = opens(&ada, "/north/keys").await;
    let read = words(&html);
    let id = |key: &Value| key["id"].as_str().unwrap().to_owned();
    for told in ["nightly", "the org’s", "your own", "Bob", "build-bot", "server’s configuration", "0, without a limit"]
    {
        assert!(read.contains(told), "{told}: {read}");
    }
    let (bobs, nightly) = (id(&named(&ada, "bobs").await), id(&named(&ada, "nightly").await));
    assert!(html.contains(&format!("/north/keys/{nightly}/rotate")));
    assert!(!html.contains(&format!("/north/keys/{bobs}/rotate")), "only he may have its new text");
    assert!(html.contains(&format!("/north/keys/{bobs}/revoke")));
    assert!(!html.contains("/north/keys/build-bot/"), "the configuration is changed where it is");
    let read = words(&opens(&bob, "/north/keys").await);
    assert!(read.contains("bobs") && !read.contains("nightly") && !read.contains("build-bot"), "{read}");
}

#[tokio::test]
async fn an_orgs_key_is_changed_rotated_and_revoked_there() {
    let (server, ada) = north().await;
    let first = made(&ada, "nightly", "org").await;
    let base = format!("/north/keys/{}", named(&ada, "nightly").await["id"].as_str().unwrap());
    let change = [("name", "weekly"), ("usage_limit", "5"), ("usage_period", "day"), ("expires_at", "2026-10-20")];
    let done = sends(&ada, &format!("{base}/change"), &change).await;
    assert_eq!((done.status, done.header("location")), (303, "/north/keys?done=changed"));
    assert_eq!(named(&ada, "weekly").await["expires_at"], "2026-10-20T23:59:59.000Z");
    let second = key_on(&sends(&ada, &format!("{base}/rotate"), &[("grace_seconds", "0")]).await.text);
    assert!(!works(&server, &first).await && works(&server, &second).await);
    assert!(words(&opens(&ada, &format!("{base}/revoke")).await).contains("Revoke weekly?"));
    let done = sends(&ada, &format!("{base}/revoke"), &[]).await;
    assert_eq!(done.header("location"), "/north/keys?done=revoked");
    assert!(!works(&server, &second).await);
    let late = sends(&ada, &format!("{base}/rotate"), &[("grace_seconds", "0")]).await;
    assert_eq!(late.status, 409);
    assert!(words(&late.text).contains("does not come back"));
    // One of the configuration is refused also to who writes its address by hand.
    let configured = sends(&ada, "/north/keys/build-bot/revoke", &[]).await;
    assert_eq!(configured.status, 409, "{}", configured.text);
    assert!(Caller::new(server.url(""), Some(FULL.text)).get("/v1/me").await.status == 200);
}

#[tokio::test]
async fn the_list_is_narrowed_by_status_and_goes_on() {
    let (server, ada) = north().await;
    for number in 0..23 {
        server.clock.advance_ms(1_000);
        made(&ada, &format!("key-{number}"), "org").await;
    }
    let id = named(&ada, "key-22").await["id"].as_str().unwrap().to_owned();
    sends(&ada, &format!("/north/keys/{id}/revoke"), &[]).await;
    let first = opens(&ada, "/north/keys?status=active").await;
    assert!(!words(&first).contains("key-22") && first.contains("<option value=\"active\" selected>"));
    let next = first.split("href=\"").filter_map(|rest| rest.split('"').next()).find(|way| way.contains("cursor="));
    let next = next.expect("there are more").replace("&#38;", "&").replace("&amp;", "&");
    assert!(next.starts_with("/north/keys?") && next.contains("status=active"), "{next}");
    let second = opens(&ada, &next).await;
    assert!(words(&second).contains("key-0") && !second.contains("cursor="));
    let read = words(&opens(&ada, "/north/keys?status=revoked").await);
    assert!(read.contains("key-22") && !read.contains("key-21"), "{read}");
}

#[tokio::test]
async fn an_old_sign_in_is_asked_for_again_and_leads_back() {
    let (server, ada) = north().await;
    made(&ada, "nightly", "org").await;
    server.clock.advance_ms(10 * 60 * 1_000 + 1);
    let late = sends(&ada, NEW, &[("name", "late"), ("permissions", "org:read")]).await;
    assert_eq!((late.status, late.header("location")), (303, "/sign-in"));
    assert_eq!(ada.get(NEW).await.header("location"), "/sign-in");
}

/// Security case 37: another org's pages are as ones that are not there.
#[tokio::test]
async fn who_does_not_belong_to_the_org_finds_nothing() {
    let (server, ada) = north().await;
    let eve = server.person("Eve", "eve@south.test", "south", Role::Owner).await;
    made(&ada, "nightly", "org").await;
    let id = named(&ada, "nightly").await["id"].as_str().unwrap().to_owned();
    for path in ["/north/keys".to_owned(), NEW.to_owned(), format!("/north/keys/{id}/revoke"), "/north/audit".into()] {
        let (theirs, nobodys) = (eve.get(&path).await, eve.get(&path.replace("north", "nowhere")).await);
        assert_eq!((theirs.status, nobodys.status), (404, 404), "{path}");
        assert_eq!(theirs.text, nobodys.text);
    }
    assert_eq!(sends(&eve, &format!("/north/keys/{id}/revoke"), &[]).await.status, 404);
    assert_eq!(sends(&eve, &format!("/south/keys/{id}/revoke"), &[]).await.status, 404, "the key is of another org");
    assert_eq!(crate::oauth::form(&ada, &format!("/north/keys/{id}/revoke"), &[]).await.status, 403);
    assert_eq!(named(&ada, "nightly").await["status"], "active");
}
