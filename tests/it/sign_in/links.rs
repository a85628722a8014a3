//! Approval links where people sign in: whose they are, and what a session must bring (`connections.md` 9, decision D28).

use playmaker::identity::{Changed, Role, members};
use playmaker::ledger;
use serde_json::{Value, json};

use super::tab::Tab;
use crate::support::app::{FULL, TestApp};
use crate::support::upstream::Upstream;
use crate::support::visitor::Visitor;

struct Scene {
    server: TestApp,
    _upstream: Upstream,
    ada: Visitor,
    link: String,
}

/// Ada of `acme` added a connection and has its link.
async fn scene() -> Scene {
    let upstream = Upstream::open().await;
    let origin = upstream.url().rsplit_once('/').unwrap().0.to_owned();
    let keys = json!([FULL.entry()]).to_string();
    let settings = [("CONNECTIONS_PRIVATE_HOSTS", origin.as_str()), ("API_KEYS", keys.as_str())];
    let server = TestApp::signing_in_with(&settings).await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let body = json!({ "name": "desk", "type": "mcp", "entry": { "url": upstream.url() } });
    let added = ada.post("/v1/orgs/acme/connections", &body).await.done(201);
    let url = added["connect"]["url"].as_str().unwrap();
    let link = url.strip_prefix(&format!("{}/connect/", server.origin())).unwrap().to_owned();
    Scene { server, _upstream: upstream, ada, link }
}

impl Scene {
    async fn reads(&self, person: &Visitor) -> Value {
        person.get(&format!("/v1/links/{}", self.link)).await.done(200)
    }

    /// `person` approves with a token of theirs, or with `csrf`.
    async fn approves(&self, person: &Visitor, csrf: &str) -> crate::support::people::Answer {
        let browser = self.server.anyone().with("cookie", &person.cookie).with("origin", &self.server.origin());
        let browser = browser.with("x-playmaker-csrf", csrf);
        browser.post(&format!("/v1/links/{}/approve", self.link), &json!({})).await
    }
}

/// Security case 16.
#[tokio::test]
async fn only_the_person_a_link_was_made_for_approves_it() {
    let scene = scene().await;
    let grace = scene.server.person("Grace", "grace@acme.test", "acme", Role::Owner).await;
    let read = scene.reads(&grace).await;
    assert_eq!(
        (&read["state"], &read["adder"], &read["signed_in_as"]),
        (&json!("other_person"), &json!("Ada"), &json!("Grace"))
    );
    assert!(read.get("connection").is_none() && read.get("csrf").is_none(), "{read}");
    let own = scene.reads(&scene.ada).await["csrf"].as_str().unwrap().to_owned();
    scene.approves(&grace, &own).await.refused(403, "forbidden");
    // To who is of another org the link is an unknown one.
    let bo = scene.server.person("Bo", "bo@south.test", "south", Role::Owner).await;
    bo.get(&format!("/v1/links/{}", scene.link)).await.refused(404, "not_found");
    assert_eq!(scene.reads(&scene.ada).await["state"], "ready", "nothing has changed");
    assert_eq!(scene.approves(&scene.ada, &own).await.done(200)["status"], "connected");
    // Each who opened it is told once, however often they look or try.
    scene.reads(&grace).await;
    let told = scene.server.audit("acme").await.into_iter().filter(|row| row.kind == "connection_link_refused");
    let told: Vec<_> = told.map(|row| (row.actor.id, row.data["opened_by"].clone())).collect();
    let by = |id: &str| (format!("person:{id}"), json!(format!("person:{id}")));
    assert_eq!(told, [by(&grace.id), by(&bo.id), by(&grace.id)]);
}

#[tokio::test]
async fn a_session_reads_a_link_sixty_times_a_minute() {
    let scene = scene().await;
    for _ in 0..60 {
        scene.reads(&scene.ada).await;
    }
    let path = format!("/v1/links/{}", scene.link);
    let refused = scene.ada.get(&path).await;
    refused.refused(429, "too_many_requests");
    assert_eq!(refused.header("retry-after"), "1");
    // Another session, and what the page does, go on.
    let again = scene.server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let csrf = scene.reads(&again).await["csrf"].as_str().unwrap().to_owned();
    scene.server.clock.advance_ms(1_000);
    scene.reads(&scene.ada).await;
    scene.approves(&again, &csrf).await.done(200);
}

/// Security case 22.
#[tokio::test]
async fn the_token_is_of_one_session_and_one_link() {
    let scene = scene().await;
    let again = scene.server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let other = scene.reads(&again).await["csrf"].as_str().unwrap().to_owned();
    for csrf in ["", "guessed", &other, &scene.ada.csrf] {
        scene.approves(&scene.ada, csrf).await.refused(403, "forbidden");
    }
    assert_eq!(scene.reads(&scene.ada).await["state"], "ready");
    scene.approves(&again, &other).await.done(200);
}

/// Security case 23.
#[tokio::test]
async fn no_bearer_approves() {
    let scene = scene().await;
    let path = format!("/v1/links/{}/approve", scene.link);
    scene.server.holder(&FULL).post(&path, &json!({})).await.refused(403, "forbidden");
    scene.server.anyone().post(&path, &json!({})).await.refused(401, "unauthenticated");
}

/// Security case 19.
#[tokio::test]
async fn whoever_is_not_signed_in_signs_in_first_and_looking_uses_nothing_up() {
    let scene = scene().await;
    let page = format!("/connect/{}", scene.link);
    let tab = Tab::of(&scene.server);
    for _ in 0..20 {
        let sent = Tab::of(&scene.server).get(&page).await;
        assert_eq!((sent.status, sent.header("location")), (303, "/sign-in"));
    }
    tab.get(&page).await;
    let (name, id) = scene.ada.cookie.split_once('=').unwrap();
    tab.plant(name, id);
    assert!(tab.get(&page).await.text.contains("data-state=\"ready\""));
}

/// Security case 29.
#[tokio::test]
async fn who_may_no_longer_connect_approves_nothing() {
    let scene = scene().await;
    let csrf = scene.reads(&scene.ada).await["csrf"].as_str().unwrap().to_owned();
    let person = scene.ada.id.clone();
    let demote: ledger::Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            members::promote(connection, "acme", &person, Role::Viewer).await?;
            Ok(ledger::Changed::nothing(()))
        })
    });
    scene.server.app.ledger.commit("acme", demote).await.unwrap();
    scene.server.app.identity.forget(Changed::Membership("acme", &scene.ada.id));
    scene.approves(&scene.ada, &csrf).await.refused(403, "forbidden");
}
