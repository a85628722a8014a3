//! `/{org}/audit`: what was done in the org, in words.

use playmaker::identity::Role;
use serde_json::json;

use super::{opens, sends, words};
use crate::support::app::TestApp;
use crate::support::visitor::Visitor;

/// Ada manages `acme`, where she made a key and invited somebody, a second apart.
async fn acme() -> (TestApp, Visitor) {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada Lovelace", "ada@acme.test", "acme", Role::Owner).await;
    let fields = [("name", "nightly"), ("permissions", "org:read"), ("permissions", "org:write")];
    assert_eq!(sends(&ada, "/acme/keys/new", &fields).await.status, 200);
    server.clock.advance_ms(1_000);
    let invited = json!({ "email": "carol@acme.test", "role": "viewer" });
    ada.post("/v1/orgs/acme/invitations", &invited).await.done(201);
    (server, ada)
}

fn links<'a>(html: &'a str, begin: &'a str) -> impl Iterator<Item = String> + 'a {
    let found = html.split("href=\"").filter_map(|rest| rest.split('"').next());
    found.filter(move |way| way.starts_with(begin)).map(|way| way.replace("&#38;", "&").replace("&amp;", "&"))
}

#[tokio::test]
async fn each_row_is_a_sentence_with_the_details_folded_in() {
    let (_server, ada) = acme().await;
    let html = opens(&ada, "/acme/audit").await;
    let read = words(&html);
    let invited = read.find("Ada Lovelace invited carol@acme.test").unwrap_or_else(|| panic!("{read}"));
    let made = read.find("Ada Lovelace made the key nightly").unwrap_or_else(|| panic!("{read}"));
    assert!(invited < made, "newest first");
    for told in
        ["2026-10-01 09:30 UTC, in the browser, from 127.0.0.1", "org:read, org:write", "key_created", "Details"]
    {
        assert!(read.contains(told), "{told}: {read}");
    }
    assert!(html.contains("<details>") && html.contains(&format!("person:{}", ada.id)));
}

#[tokio::test]
async fn it_is_narrowed_by_its_form_and_by_the_ways_of_a_row() {
    let (server, ada) = acme().await;
    let bob = server.person("Bob", "bob@acme.test", "acme", Role::Admin).await;
    bob.post("/v1/orgs/acme/invitations", &json!({ "email": "dan@acme.test", "role": "viewer" })).await.done(201);
    let shows = async |query: &str| words(&opens(&ada, &format!("/acme/audit?{query}")).await);

    let by_bob = shows("from=2026-10-01&to=2026-10-01&actor=Bob%40acme.test&action=&target=&result=").await;
    assert!(by_bob.contains("Bob invited dan") && !by_bob.contains("nightly"), "{by_bob}");
    let made = shows("action=key_created").await;
    assert!(made.contains("made the key nightly") && !made.contains("carol"), "{made}");
    assert!(shows("from=2026-10-02").await.contains("Nothing that fits."));
    assert!(shows("to=2026-09-30").await.contains("Nothing that fits."));
    assert!(shows("result=refused").await.contains("Nothing that fits."));
    assert!(shows("actor=nobody%40acme.test").await.contains("Nothing that fits."));

    let html = opens(&ada, "/acme/audit?action=key_created").await;
    let about = links(&html, "/acme/audit?target=key_").next().expect("a way to all about the key");
    assert!(words(&opens(&ada, &about).await).contains("made the key nightly"));
    let by = links(&html, "/acme/audit?actor=").next().expect("a way to all that Ada did");
    let read = words(&opens(&ada, &by).await);
    assert!(read.contains("made the key nightly") && !read.contains("dan@acme.test"), "{read}");

    // What does not fit is said beside its field, and the others keep what was asked.
    let answer = ada.get("/acme/audit?from=yesterday&to=2026-10-01&action=key_created").await;
    assert_eq!(answer.status, 422);
    assert!(words(&answer.text).contains("Use a day such as 2026-10-01."), "{}", answer.text);
    assert!(answer.text.contains("<option value=\"key_created\" selected>"));
}

#[tokio::test]
async fn it_goes_on_and_the_same_part_is_taken_out_as_a_file() {
    let (server, ada) = acme().await;
    for number in 0..22 {
        let invited = json!({ "email": format!("p{number}@acme.test"), "role": "viewer" });
        ada.post("/v1/orgs/acme/invitations", &invited).await.done(201);
    }
    let html = opens(&ada, "/acme/audit?action=member_invited").await;
    assert!(words(&html).contains("p21@acme.test") && !words(&html).contains("p0@acme.test"));
    let next = links(&html, "/acme/audit?").find(|way| way.contains("cursor=")).expect("there are more");
    assert!(words(&opens(&ada, &next).await).contains("p0@acme.test"));

    server.clock.advance_ms(1_000);
    let file = links(&html, "/v1/orgs/acme/audit/export").next().expect("a way to the file");
    assert_eq!(file, "/v1/orgs/acme/audit/export?action=member_invited");
    let lines = ada.get(&file).await;
    assert_eq!((lines.status, lines.header("content-type")), (200, "application/jsonl"));
    assert_eq!(lines.text.lines().count(), 24, "23 invitations and the end");
    let day = opens(&ada, "/acme/audit?from=2026-10-01&to=2026-10-01").await;
    let file = links(&day, "/v1/orgs/acme/audit/export").next().unwrap();
    let lines = ada.get(&file).await.text;
    assert!(lines.contains("key_created") && lines.contains("audit_exported"), "{lines}");
    // No file holds more than 366 days.
    let long = opens(&ada, "/acme/audit?from=2024-01-01&to=2026-10-01").await;
    assert_eq!(links(&long, "/v1/orgs/acme/audit/export").count(), 0);
}

#[tokio::test]
async fn who_does_not_manage_the_org_does_not_read_it() {
    let (server, _) = acme().await;
    let bob = server.person("Bob", "bob@acme.test", "acme", Role::Member).await;
    assert_eq!(bob.get("/acme/audit").await.status, 403);
    assert!(!opens(&bob, "/acme/keys").await.contains("/acme/audit"), "no tab leads there");
    let answer = server.anyone().get("/acme/audit?actor=x").await;
    assert_eq!((answer.status, answer.header("location")), (303, "/sign-in"));
}
