//! `/settings/keys`: a person's own keys, made, changed, rotated and revoked.

use playmaker::identity::Role;
use serde_json::Value;

use super::{key_on, opens, sends, words, works};
use crate::support::app::TestApp;
use crate::support::visitor::Visitor;

const NEW: &str = "/settings/keys/acme/new";

async fn made(visitor: &Visitor, name: &str, more: &[(&str, &str)]) -> String {
    let fields = [&[("name", name), ("permissions", "playbook:read"), ("permissions", "org:read")], more].concat();
    let answer = sends(visitor, NEW, &fields).await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{}", answer.text);
    key_on(&answer.text)
}

async fn only(visitor: &Visitor) -> Value {
    let keys = visitor.get("/v1/orgs/acme/keys").await.done(200);
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1, "{keys}");
    keys["keys"][0].clone()
}

#[tokio::test]
async fn a_key_made_on_the_page_works_until_it_is_revoked_there() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    assert!(words(&opens(&ada, "/settings/keys").await).contains("Your keys in acme None yet."));
    let form = opens(&ada, NEW).await;
    for field in ["name", "permissions", "playbooks", "ends", "expires_at", "usage_limit", "usage_period"] {
        assert!(form.contains(&format!("name=\"{field}\"")), "{field}");
    }
    assert!(!form.contains("name=\"whose\"") && form.contains("value=\"never\""));

    let limit = [("playbooks", "support, billing"), ("usage_limit", "1000"), ("usage_period", "month")];
    let key = made(&ada, "nightly", &limit).await;
    assert!(works(&server, &key).await);
    let kept = only(&ada).await;
    assert_eq!(kept["person"], format!("person:{}", ada.id));
    assert_eq!(kept["expires_at"], "2026-12-30T09:30:00.000Z", "in 90 days");
    assert_eq!(kept["playbooks"], serde_json::json!(["billing", "support"]));
    assert_eq!((&kept["usage_limit"], &kept["usage_period"]), (&1_000.into(), &"month".into()));
    let list = opens(&ada, "/settings/keys").await;
    assert!(!list.contains(&key), "shown once");
    let read = words(&list);
    for told in
        ["nightly", &format!("begins with {}", &key[..12]), "billing, support", "0 of 1,000 this month", "Works"]
    {
        assert!(read.contains(told), "{told}: {read}");
    }

    // It is asked once more.
    let id = kept["id"].as_str().unwrap();
    let revoke = format!("/settings/keys/acme/{id}/revoke");
    assert!(list.contains(&revoke));
    assert!(words(&opens(&ada, &revoke).await).contains("Revoke nightly?"));
    assert!(works(&server, &key).await, "looking changes nothing");
    let done = sends(&ada, &revoke, &[]).await;
    assert_eq!((done.status, done.header("location")), (303, "/settings/keys?done=revoked"));
    assert!(!works(&server, &key).await);
    let list = opens(&ada, "/settings/keys?done=revoked").await;
    assert!(words(&list).contains("The key is revoked and no longer works.") && !list.contains(&revoke));
    let rows = server.audit("acme").await;
    let of_key: Vec<&str> = rows.iter().filter(|row| row.stream.ends_with(id)).map(|row| row.kind.as_str()).collect();
    assert_eq!(of_key, ["key_created", "key_revoked"]);
    assert!(!server.database().everything().await.contains(&key));
}

#[tokio::test]
async fn a_rotated_key_has_two_texts_for_as_long_as_its_person_says() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Viewer).await;
    let first = made(&ada, "reader", &[("ends", "never")]).await;
    let kept = only(&ada).await;
    assert!(kept["expires_at"].is_null());
    let rotate = format!("/settings/keys/acme/{}/rotate", kept["id"].as_str().unwrap());
    assert!(opens(&ada, &rotate).await.contains("<option value=\"86400\" selected>"));
    let second = key_on(&sends(&ada, &rotate, &[("grace_seconds", "3600")]).await.text);
    assert!(works(&server, &first).await && works(&server, &second).await);
    assert!(words(&opens(&ada, "/settings/keys").await).contains("Being rotated"));
    let third = key_on(&sends(&ada, &rotate, &[("grace_seconds", "0")]).await.text);
    assert!(!works(&server, &first).await && !works(&server, &second).await && works(&server, &third).await);
}

#[tokio::test]
async fn its_name_its_limit_and_an_earlier_end_can_change() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    made(&ada, "nightly", &[]).await;
    let change = format!("/settings/keys/acme/{}/change", only(&ada).await["id"].as_str().unwrap());
    assert!(opens(&ada, &change).await.contains("value=\"nightly\""));
    let later = sends(&ada, &change, &[("name", "nightly"), ("expires_at", "2027-10-01")]).await;
    assert_eq!(later.status, 422);
    assert!(words(&later.text).contains("must not be later than it is now"), "{}", later.text);
    let fields = [("name", "weekly"), ("expires_at", "2026-11-01"), ("usage_limit", "5"), ("usage_period", "day")];
    assert_eq!(sends(&ada, &change, &fields).await.header("location"), "/settings/keys?done=changed");
    let kept = only(&ada).await;
    assert_eq!((&kept["name"], &kept["expires_at"]), (&"weekly".into(), &"2026-11-01T23:59:59.000Z".into()));
    assert!(words(&opens(&ada, "/settings/keys").await).contains("0 of 5 today"));
}

#[tokio::test]
async fn a_form_that_is_refused_says_what_to_mend_and_keeps_the_rest() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Viewer).await;
    assert!(!opens(&ada, NEW).await.contains("value=\"playbook:write\""), "no more than a viewer may");
    let fields = [("name", "Nightly Report"), ("usage_limit", "many"), ("playbooks", "a b, c d")];
    let refused = sends(&ada, NEW, &fields).await;
    assert_eq!(refused.status, 422);
    let read = words(&refused.text);
    for told in ["Use 1 to 32 small letters, digits and hyphens.", "Choose what it may do.", "Use a whole number"] {
        assert!(read.contains(told), "{told}: {read}");
    }
    assert!(refused.text.contains("value=\"Nightly Report\"") && refused.text.contains("<title>Not done yet: "));
    let more = sends(&ada, NEW, &[("name", "more"), ("permissions", "org:write")]).await;
    assert_eq!(more.status, 403);
    assert!(words(&more.text).contains("A key may do no more"));
    made(&ada, "nightly", &[]).await;
    let again = sends(&ada, NEW, &[("name", "nightly"), ("permissions", "org:read")]).await;
    assert_eq!(again.status, 409);
    assert!(words(&again.text).contains("Choose another name."));
}

#[tokio::test]
async fn a_sign_in_that_is_old_is_asked_for_again_and_the_form_is_kept() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    made(&ada, "nightly", &[]).await;
    let id = only(&ada).await["id"].as_str().unwrap().to_owned();
    server.clock.advance_ms(10 * 60 * 1_000 + 1);
    let (rotate, revoke) = (format!("/settings/keys/acme/{id}/rotate"), format!("/settings/keys/acme/{id}/revoke"));
    for path in [NEW, &rotate] {
        assert_eq!(ada.get(path).await.header("location"), "/sign-in", "{path}");
    }
    let late = sends(&ada, NEW, &[("name", "late"), ("permissions", "org:read"), ("permissions", "org:write")]).await;
    assert_eq!((late.status, late.header("location")), (303, "/sign-in"));
    // After signing in the browser comes back to the form as it was, without the token of the session before.
    let cookie = late.header("set-cookie").split(['=', '.']).nth(1).unwrap().to_owned();
    let way = base64::Engine::decode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, cookie).unwrap();
    let way = String::from_utf8(way).unwrap();
    assert_eq!(way, "/settings/keys/acme/new?name=late&permissions=org%3Aread&permissions=org%3Awrite");
    let person = server.app.identity.person(&ada.id).await.unwrap().unwrap();
    let fresh = server.signs_in(&person).await;
    let form = opens(&fresh, &way).await;
    assert!(form.contains("value=\"late\"") && form.contains("value=\"org:write\" checked"), "{form}");
    assert!(!form.contains("value=\"playbook:write\" checked"));
    // Ending a key needs none: that is what one wants in a hurry.
    assert_eq!(sends(&ada, &revoke, &[]).await.status, 303);
}

/// Security case 37: a page elsewhere makes no key, and nobody reaches another's.
#[tokio::test]
async fn nobody_else_makes_or_ends_ones_keys() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let bob = server.person("Bob", "bob@acme.test", "acme", Role::Owner).await;
    let eve = server.person("Eve", "eve@north.test", "north", Role::Owner).await;
    let key = made(&ada, "nightly", &[]).await;
    let id = only(&ada).await["id"].as_str().unwrap().to_owned();
    let fields = [("name", "x"), ("permissions", "org:read")];
    assert_eq!(crate::oauth::form(&ada, NEW, &fields).await.status, 403, "without the token of the page");
    assert_eq!(sends(&eve, NEW, &fields).await.status, 404);
    for act in ["change", "rotate", "revoke", "other"] {
        let path = format!("/settings/keys/acme/{id}/{act}");
        assert_eq!(bob.get(&path).await.status, 404, "{act}: not among his own");
        assert_eq!(eve.get(&path).await.status, 404, "{act}");
    }
    assert!(works(&server, &key).await);
    assert!(!opens(&bob, "/settings/keys").await.contains(&id));
}

#[tokio::test]
async fn the_operator_says_how_long_keys_last() {
    let server = TestApp::signing_in_with(&[("KEY_MAX_AGE", "P30D")]).await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let form = opens(&ada, NEW).await;
    assert!(!form.contains("value=\"never\"") && !form.contains("90 days") && form.contains("30 days"), "{form}");
    made(&ada, "nightly", &[("ends", "")]).await;
    assert_eq!(only(&ada).await["expires_at"], "2026-10-31T09:30:00.000Z");
    let fields = [("name", "long"), ("permissions", "org:read"), ("expires_at", "2027-01-01")];
    let refused = sends(&ada, NEW, &fields).await;
    assert_eq!(refused.status, 422);
    assert!(words(&refused.text).contains("must be within 30 days from now"));
}
