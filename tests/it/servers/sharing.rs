//! Two servers on one PostgreSQL: what one begins the other goes on with. SQLite has one server a file.

use playmaker::ledger::{Actor, Changed, Event};
use serde_json::json;

use crate::support::app::{FULL, Key, TestApp};
use crate::support::database::on_postgres;
use crate::support::eventually;
use crate::support::upstream::Upstream;

#[tokio::test]
async fn a_link_made_by_one_server_is_approved_on_the_other() {
    if !on_postgres() {
        return;
    }
    let (one, upstream) = (TestApp::local().await, Upstream::behind("the-key").await);
    let other = one.beside(&[]).await;
    let body = json!({
        "name": "desk", "type": "mcp", "entry": { "url": upstream.url() },
        "credential": { "kind": "secret", "name": "Authorization", "in": "header", "scheme": "Bearer" },
    });
    let added = one.anyone().post("/v1/orgs/local/connections", &body).await.done(201);
    let link = added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let browser = other.anyone().with("origin", &other.origin());
    // The page was read on one server; its token is taken by the other.
    let read = one.anyone().get(&format!("/v1/links/{link}")).await.done(200);
    let browser = browser.with("x-playmaker-csrf", read["csrf"].as_str().unwrap());
    let given = browser.post(&format!("/v1/links/{link}/credential"), &json!({ "value": "the-key" })).await;
    assert_eq!(given.done(200)["status"], "connected");

    one.anyone().post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "S" })).await.done(201);
    for server in [&one, &other] {
        let inside = server.anyone();
        let arguments = json!({ "server": "desk", "tool": "look_up" });
        let called = inside.call("/orgs/local/playbooks/support/mcp", "execute", &arguments).await.done();
        assert_eq!(called["outcome"], "result", "{called}");
    }
    assert_eq!(upstream.calls(), 2);
    assert_eq!(
        one.audit_of("local", added["id"].as_str().unwrap()).await,
        ["connection_added", "connection_connected"]
    );
}

#[tokio::test]
async fn each_server_is_told_of_what_either_writes() {
    if !on_postgres() {
        return;
    }
    let one = TestApp::local().await;
    let other = one.beside(&[]).await;
    for (writer, reader) in [(&one, &other), (&other, &one), (&one, &one)] {
        let mut commits = reader.app.ledger.store().wake().subscribe();
        // The reader may only be about to listen, so that the first words may miss it.
        eventually("that the reader is told", async || {
            let event = Event::audit("desk", "written", Actor::system(), json!({}));
            let work = Box::pin(async move { Ok(Changed::by((), event)) });
            writer.app.ledger.commit("busy", Box::new(move |_| work)).await.unwrap();
            // What servers do at their start, in other orgs, is told too.
            std::iter::from_fn(|| commits.try_recv().ok()).find(|org| **org == *"busy")
        })
        .await;
    }
}

#[tokio::test]
async fn a_key_works_on_both_and_both_see_what_is_made() {
    if !on_postgres() {
        return;
    }
    let one = TestApp::with_keys(&[FULL]).await;
    let other = one.beside(&[]).await;
    let made = one.holder(&FULL).post("/v1/orgs/north/playbooks", &json!({ "playbook": "support", "name": "S" })).await;
    let seen = other.holder(&FULL).get("/v1/orgs/north/playbooks/support").await.done(200);
    assert_eq!(made.done(201), seen);
    let taken =
        other.holder(&FULL).call("/mcp", "create_playbook", &json!({ "playbook": "support", "name": "S" })).await;
    assert_eq!(taken.refused("conflict")["kind"], "taken");
}

#[tokio::test]
async fn of_many_who_make_the_same_one_on_two_servers_exactly_one_does() {
    if !on_postgres() {
        return;
    }
    let one = TestApp::with_keys(&[FULL]).await;
    let other = one.beside(&[]).await;
    let key: &Key = &FULL;
    let making: Vec<_> = (0..12)
        .map(|number| {
            let caller = if number % 2 == 0 { one.holder(key) } else { other.holder(key) };
            tokio::spawn(async move {
                caller.post("/v1/orgs/north/playbooks", &json!({ "playbook": "support", "name": "S" })).await.status
            })
        })
        .collect();
    let mut statuses = Vec::new();
    for one in making {
        statuses.push(one.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 11, "{statuses:?}");
}
