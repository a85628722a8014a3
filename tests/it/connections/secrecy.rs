//! A credential is in the secrets store and nowhere else, and the store's keys can change (security cases 60 and 105 on).

use serde_json::{Value, json};

use super::{CONNECTIONS, Page, secret};
use crate::support::app::{FIRST_KEY, SECOND_KEY, TestApp};
use crate::support::logs;
use crate::support::upstream::Upstream;

const KEY: &str = "canary-Ly9QfK3vT7\"\\escaped";
const WRONG: &str = "canary-wrong-5hW2nR8x";

/// How a credential could be written where it should not be.
fn forms(value: &str) -> Vec<String> {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    let json = serde_json::to_string(value).unwrap();
    vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        STANDARD.encode(value),
        URL_SAFE.encode(value),
        url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
        value.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ]
}

fn nowhere(place: &str, text: &str) {
    for value in [KEY, WRONG] {
        for form in forms(value).into_iter().chain([value[..16].to_owned()]) {
            assert!(!text.contains(&form), "a credential stands in {place}");
        }
    }
}

#[tokio::test]
async fn a_given_credential_is_found_nowhere() {
    logs::keep();
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let agent = server.anyone();
    agent.post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let page = Page::of(&server, &secret(&upstream)).await;
    let mut shown: Vec<String> = Vec::new();

    let path = format!("/connect/{}", page.link);
    let source = async |shown: &mut Vec<String>| shown.push(page.browser.get(&path).await.text);
    source(&mut shown).await;
    // By the page's script, by its form, too long, to the wrong command: refused, and not repeated.
    shown.push(page.give(WRONG).await.text);
    shown.push(page.command("credential", &json!({ "value": format!("{KEY}\u{1}") })).await.text);
    shown.push(page.command("credential", &json!({ "value": KEY.repeat(400) })).await.text);
    shown.push(page.command("credential", &json!({ "value": KEY, "values": { KEY: KEY } })).await.text);
    shown.push(page.command("credential", &json!({ "valu": KEY })).await.text);
    shown.push(page.command("approve", &json!({ "value": KEY })).await.text);
    source(&mut shown).await;
    let connected = page.give(KEY).await;
    connected.done(200);
    shown.push(connected.text);
    shown.push(page.give(WRONG).await.text);
    source(&mut shown).await;

    // The server repeats what it is sent: in lists, descriptions and answers.
    let inside = "/orgs/local/playbooks/support/mcp";
    for (tool, arguments) in [
        ("search", json!({ "terms": "look" })),
        ("introspect", json!({ "server": "desk", "tool": "look_up" })),
        ("dry_run", json!({ "server": "desk", "tool": "look_up" })),
        ("execute", json!({ "server": "desk", "tool": "look_up", "arguments": { "word": "x" } })),
        ("list_playbook_events", json!({})),
    ] {
        let called = agent.call(inside, tool, &arguments).await;
        assert!(!called.is_error, "{tool}: {}", called.value);
        shown.push(format!("{} {}", called.words, called.value));
    }
    assert_eq!(upstream.calls(), 1);
    assert!(upstream.credentials().contains(&format!("Bearer {KEY}")));
    for path in [
        CONNECTIONS,
        "/v1/orgs/local/providers",
        "/v1/orgs/local/playbooks/support/events",
        "/openapi.json",
        "/nowhere",
    ] {
        shown.push(agent.get(path).await.text);
    }
    shown.push(page.browser.clone().with("accept", "text/html").get("/").await.text);
    // Whatever can be read of this connection and playbook, whoever reads it.
    for entry in server.app.operations.iter().filter(|entry| entry.declaration.method.word() == "GET") {
        let path = entry.declaration.route().replace("{org}", "local").replace("{playbook}", "support");
        let path = path.replace("{id}", &page.connection).replace("{link}", &page.link);
        let path = path.replace("{server}", "desk").replace("{tool}", "look_up");
        for caller in [&agent, &page.browser] {
            shown.push(caller.get(&path.replace(['{', '}'], "")).await.text);
        }
    }
    for text in &shown {
        nowhere("an answer", text);
    }
    let rows = server.app.ledger.after("local", 0, 1_000).await.unwrap();
    assert!(rows.len() > 5);
    nowhere("the ledger", &format!("{rows:?}"));
    nowhere("the database", &server.database().everything().await);
    let removed = agent.delete(&format!("{CONNECTIONS}/{}", page.connection)).await;
    nowhere("an answer", &removed.text);
    let log = logs::text();
    assert!(log.contains("TRACE") && log.contains("playmaker"), "the log is kept at its most talkative");
    for (number, line) in log.lines().enumerate() {
        let from_the_test = line.contains("it::") || line.contains("reqwest::connect");
        assert!(from_the_test || !line.contains(&page.link), "line {number} of the log holds the link: {line}");
    }
    nowhere("the log", &log);
    for link in [&page.link] {
        assert!(!server.database().everything().await.contains(link.as_str()), "only a link's digest is kept");
    }
}

async fn because(server: &TestApp, page: &Page) -> Value {
    server.anyone().get(&format!("{CONNECTIONS}/{}", page.connection)).await.done(200)["because"].clone()
}

#[tokio::test]
async fn the_keys_of_the_store_change_while_servers_run() {
    let first = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let page = Page::of(&first, &secret(&upstream)).await;
    page.give(KEY).await.done(200);
    first.app.close().await;

    let both = first.beside(&[("SECRETS_KEYS", &format!("{SECOND_KEY},{FIRST_KEY}"))]).await;
    assert_eq!(because(&both, &page).await, Value::Null);
    let counted = both.app.secrets.rekey(true).await.unwrap();
    assert!(counted.old > 0 && counted.old == counted.seen && counted.moved == 0, "{counted:?}");
    let done = both.app.secrets.rekey(false).await.unwrap();
    assert_eq!((done.moved, done.unreadable), (counted.old, 0));
    assert_eq!(both.app.secrets.rekey(false).await.unwrap().moved, 0, "doing it again is the same");
    assert_eq!(because(&both, &page).await, Value::Null);
    both.app.close().await;

    let second = first.beside(&[("SECRETS_KEYS", SECOND_KEY)]).await;
    assert_eq!(because(&second, &page).await, Value::Null);
    second.anyone().get("/ready").await.done(200);
}
