use serde_json::{Value, json};

use super::house::{House, refused};
use crate::on_pool;

const GIVEN: &str = "token-of-the-person";

/// Adds a connection and answers its link.
async fn added(house: &House, input: Value) -> String {
    let view = house.run("add_connection", input).await.unwrap();
    view["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

fn locked(house: &House) -> Value {
    json!({
        "name": "desk", "type": "mcp", "entry": { "url": format!("{}/locked/mcp", house.upstream.base) },
        "credential": { "kind": "secret", "in": "header", "name": "X-Token", "scheme": "Token" }
    })
}

#[tokio::test]
async fn a_connection_serves_once_its_server_took_the_credential() {
    let house = House::build().await;
    let link = added(&house, locked(&house)).await;
    let call = || house.execute("desk", "find_contact", json!({ "name": "Ada" }));
    let pending = ("unavailable", Some("tool_not_offered"), Some("connection_pending"), None);
    assert_eq!(refused(call().await), pending);
    let shown = house.run("search_in_playbook", json!({ "server": "desk" })).await.unwrap();
    assert_eq!(shown["servers"][0]["because"], "connection_pending");

    let give = |value: &'static str| house.run("give_credential", json!({ "link": link, "value": value }));
    assert_eq!(give("another-token").await.unwrap_err().issues()[0].pointer, "/value");
    assert_eq!(give(GIVEN).await.unwrap()["status"], "connected");
    assert_eq!(call().await.unwrap()["outcome"], "result");
    let told = house.run("dry_run", json!({ "server": "desk", "tool": "leak" })).await.unwrap();
    assert_eq!(told["checks"]["connection_ready"], "ready");
    let echoed = house.execute("desk", "find_contact", json!({ "name": format!("I am {GIVEN}") })).await;
    assert_eq!(refused(echoed).0, "invalid_input");

    house.run("remove_connection", json!({ "id": shown["servers"][0]["connection"] })).await.unwrap();
    assert_eq!(refused(call().await).2, Some("tool_server_not_configured"));
}

#[tokio::test]
async fn a_credential_travels_where_the_connection_says() {
    let house = House::build().await;
    for (place, path, cookie) in [
        ("query", "/api/notes/7?key=token-of-the-person", None),
        ("cookie", "/api/notes/7", Some("key=token-of-the-person")),
    ] {
        let input = json!({
            "name": place, "type": "openapi",
            "entry": { "url": format!("{}/api", house.upstream.base), "document": format!("{}/openapi.json", house.upstream.base) },
            "credential": { "kind": "secret", "in": place, "name": "key" }
        });
        let link = added(&house, input).await;
        house.run("give_credential", json!({ "link": link, "value": GIVEN })).await.unwrap();
        let answer = house.execute(place, "getNote", json!({ "id": 7 })).await.unwrap();
        assert_eq!(answer["outcome"], "result");
        let seen = house.upstream.seen(path).pop().unwrap();
        assert_eq!(seen.headers.get("cookie").map(|value| value.to_str().unwrap()), cookie);
    }
    let kept: Vec<String> = house.history().await.into_iter().map(|row| row.data.to_string()).collect();
    assert!(kept.iter().all(|data| !data.contains(GIVEN)));
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_connected() {
    let house = House::build().await;
    let input = json!({ "name": "desk", "type": "mcp", "entry": { "url": format!("{}/mcp", house.upstream.base) } });
    let link = added(&house, input).await;
    house.upstream.answer_with(500);
    assert_eq!(refused(house.run("approve", json!({ "link": link })).await).0, "unavailable");
    house.upstream.answer_with(403);
    assert_eq!(house.run("approve", json!({ "link": link })).await.unwrap()["status"], "connected", "403 is reached");
}

#[tokio::test]
async fn a_document_without_a_usable_operation_is_refused_when_it_is_added() {
    let house = House::build().await;
    let document = json!({ "openapi": "3.1.0", "info": {}, "paths": { "/x": { "trace": {} } } }).to_string();
    let entry = json!({ "url": format!("{}/api", house.upstream.base), "document_source": document });
    let refusal = house.run("add_connection", json!({ "name": "empty", "type": "openapi", "entry": entry })).await;
    assert!(refusal.unwrap_err().issues()[0].pointer.starts_with("/entry/document"));
}

#[tokio::test]
async fn what_nobody_approves_is_taken_away_whatever_else_fails() {
    let house = House::build().await;
    let address = format!("{}/mcp", house.upstream.base);
    for name in ["first", "second"] {
        added(&house, json!({ "name": name, "type": "mcp", "entry": { "url": address } })).await;
    }
    house.change("UPDATE connections SET entry = 'unreadable' WHERE name = 'first'").await;
    let sweep = async |days: i64| {
        house.clock.advance_ms(days * 24 * 3_600_000);
        house.app.connections.sweep_links(crate::clock::Clock::now_ms(&*house.clock)).await.unwrap();
        let names: Vec<(String,)> = on_pool!(house.app.ledger.store(), pool => sqlx::query_as(
            "SELECT c.name FROM connection_links l JOIN connections c ON c.id = l.connection ORDER BY c.name",
        ).fetch_all(pool).await)
        .unwrap();
        names.into_iter().map(|(name,)| name).collect::<Vec<_>>()
    };
    assert_eq!(sweep(2).await, ["first", "second"], "a link is kept while its connection waits");
    assert_eq!(sweep(6).await, ["first"]);
    let removed = house.run("list_connections", json!({ "status": "removed" })).await.unwrap();
    assert_eq!(removed["connections"][0]["name"], "second");
}
