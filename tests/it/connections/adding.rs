//! What an agent may ask for when it adds a connection, and what is refused where (`connections.md` 3).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{CONNECTIONS, open};
use crate::support::app::{FULL, TestApp};
use crate::support::people::pointers;
use crate::support::upstream::Upstream;

#[tokio::test]
async fn an_agent_adds_and_is_given_a_link_to_show() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let agent = server.anyone();
    let added = agent.post(CONNECTIONS, &open(&upstream)).await.done(201);
    assert_eq!((&added["status"], &added["because"]), (&json!("pending"), &json!("connection_pending")));
    assert_eq!(added["connect"]["expires_at"], "2026-10-01T09:40:00.000Z");
    let url = added["connect"]["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{}/connect/link_", server.origin())), "{url}");
    assert_eq!(upstream.requests(), 0, "nobody is contacted before a person approves");

    // The link is told once.
    let id = added["id"].as_str().unwrap();
    let read = agent.get(&format!("{CONNECTIONS}/{id}")).await.done(200);
    assert!(read.get("connect").is_none() && read["link_expires_at"] == "2026-10-01T09:40:00.000Z", "{read}");
    let listed = agent.get(CONNECTIONS).await.done(200);
    assert_eq!(listed, json!({ "connections": [read], "has_more": false, "next_cursor": null }));

    let mut other = open(&upstream);
    other["name"] = json!("other");
    let called = agent.call("/mcp", "add_connection", &other).await;
    let url = called.value["connect"]["url"].as_str().unwrap();
    let words = format!(
        "The other connection is added and waits for approval. Show the person this link, as a link and never as its \
         address: [Approve the connection]({url}). It works for ten minutes."
    );
    assert_eq!(called.words, words);
}

/// Inputs that do not fit, and where.
fn misfits(url: &str) -> Vec<(Value, Vec<&'static str>)> {
    let mcp = |entry: Value| json!({ "name": "desk", "type": "mcp", "entry": entry });
    let entry = |member: &str, value: Value| {
        let mut entry = json!({ "url": url });
        entry[member] = value;
        mcp(entry)
    };
    let credential =
        |credential: Value| json!({ "name": "desk", "type": "mcp", "entry": { "url": url }, "credential": credential });
    let provider = |member: &str, value: Value| {
        let mut body = json!({ "provider": "notion" });
        body[member] = value;
        body
    };
    vec![
        (json!({}), vec!["/provider", "/type"]),
        (json!({ "provider": "no-such-provider" }), vec!["/provider"]),
        (provider("type", json!("mcp")), vec!["/type"]),
        (provider("entry", json!({ "url": url })), vec!["/entry/url"]),
        (provider("entry", json!({ "headers": {} })), vec!["/entry/headers"]),
        (provider("credential", json!({ "kind": "secret", "name": "X-Key" })), vec!["/credential/name"]),
        (provider("credential", json!({ "kind": "client_credentials" })), vec!["/credential/kind"]),
        (provider("placeholders", json!({ "nothing": "here" })), vec!["/placeholders/nothing"]),
        (provider("name", json!("No Name")), vec!["/name"]),
        (json!({ "type": "mcp", "entry": { "url": url } }), vec!["/name"]),
        (json!({ "name": "desk", "entry": { "url": url } }), vec!["/provider", "/type"]),
        (json!({ "name": "desk", "type": "soap", "entry": { "url": url } }), vec!["/type"]),
        (json!({ "name": "desk", "type": "mcp" }), vec!["/entry/url"]),
        (json!({ "name": "desk", "type": "mcp", "entry": { "url": url }, "placeholders": {} }), vec!["/placeholders"]),
        (mcp(json!({ "url": "nothing" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "ftp://example.test/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "http://example.test/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://user@example.test/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://example.test/#part" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://169.254.169.254/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://10.0.0.1/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://[::ffff:10.0.0.1]/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://0x7f.1/" })), vec!["/entry/url"]),
        (mcp(json!({ "url": "https://metadata.google.internal/" })), vec!["/entry/url"]),
        (entry("document", json!("https://example.test/openapi.json")), vec!["/entry/document"]),
        (entry("headers", json!({ "Host": "other.test" })), vec!["/entry/headers/Host"]),
        (entry("headers", json!({ "content-length": "1" })), vec!["/entry/headers/content-length"]),
        (entry("headers", json!({ "X-Note": "a\r\nb" })), vec!["/entry/headers/X-Note"]),
        (entry("headers", json!({ "X-Key": "ghp_0123456789abcdefABCD" })), vec!["/entry/headers/X-Key"]),
        (entry("headers", json!({ "X-Key": "${DESK_KEY}" })), vec!["/entry/headers/X-Key"]),
        (entry("playbooks", json!(["nowhere"])), vec!["/entry/playbooks/0"]),
        (entry("playbooks", json!([])), vec!["/entry/playbooks"]),
        (entry("allowed", json!(["a", "*"])), vec!["/entry/allowed/1"]),
        (entry("allowed", json!(["a", "a"])), vec!["/entry/allowed/1"]),
        (entry("command", json!("/bin/sh")), vec!["/entry/command"]),
        (entry("org", json!("south")), vec!["/entry/org"]),
        (json!({ "name": "desk", "type": "openapi", "entry": { "url": url } }), vec!["/entry/document"]),
        (credential(json!({ "kind": "authorization" })), vec!["/credential/kind"]),
        (credential(json!({ "kind": "secret" })), vec!["/credential/in", "/credential/name"]),
        (credential(json!({ "kind": "secret", "name": "X-Key", "in": "body" })), vec!["/credential/in"]),
        (credential(json!({ "kind": "secret", "name": "X Key", "in": "header" })), vec!["/credential/name"]),
        (
            credential(json!({ "kind": "secret", "name": "key", "in": "query", "scheme": "Bearer" })),
            vec!["/credential/scheme"],
        ),
        (credential(json!({ "kind": "secret", "name": "k", "in": "query", "value": "v" })), vec!["/credential/value"]),
        (
            credential(json!({ "kind": "secret", "name": "k", "in": "query", "variable": "V" })),
            vec!["/credential/variable"],
        ),
        (credential(json!({ "kind": "reference", "name": "k", "in": "query" })), vec!["/credential/variable"]),
        (
            credential(json!({ "kind": "reference", "name": "k", "in": "query", "variable": "DATABASE_URL" })),
            vec!["/credential/variable"],
        ),
        (
            credential(json!({ "kind": "reference", "name": "k", "in": "query", "variable": "NO_SUCH_VARIABLE" })),
            vec!["/credential/variable"],
        ),
        (json!({ "name": "desk", "type": "mcp", "entry": { "url": url }, "value": "x" }), vec!["/value"]),
    ]
}

/// Security case 31, and 61 for what a variable may be.
#[tokio::test]
async fn what_does_not_fit_is_refused_at_its_place_alike_over_both_protocols_and_leaves_nothing() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let agent = server.anyone();
    let mut wrong = Vec::new();
    for (input, expected) in misfits(&upstream.url()) {
        let over_http = agent.post(CONNECTIONS, &input).await;
        if over_http.status != 422 {
            wrong.push(format!("{input}: {} {}", over_http.status, over_http.text));
            continue;
        }
        let over_http = over_http.refused(422, "invalid_input");
        let mut found = pointers(&over_http);
        found.sort();
        if found != expected {
            wrong.push(format!("{input}: {found:?}"));
        }
        for endpoint in ["/mcp", "/orgs/local/mcp"] {
            let over_mcp = agent.call(endpoint, "add_connection", &input).await;
            assert_eq!(over_mcp.refused("invalid_input"), over_http, "{input}");
        }
        for secret in ["ghp_0123456789abcdefABCD", "DESK_KEY"] {
            assert!(!over_http.to_string().contains(secret), "{over_http}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = agent.get("/v1/orgs/local/connections?include_removed=true").await.done(200);
    assert_eq!(listed["connections"], json!([]));
    assert!(server.audit("local").await.iter().all(|row| !row.kind.starts_with("connection_")));
    assert_eq!(upstream.requests(), 0);
}

#[tokio::test]
async fn a_name_is_free_again_once_its_connection_is_removed() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let agent = server.anyone();
    let added = agent.post(CONNECTIONS, &open(&upstream)).await.done(201);
    let refused = agent.post(CONNECTIONS, &open(&upstream)).await.refused(409, "conflict");
    assert_eq!(refused["kind"], "taken");
    let words = refused["detail"].as_str().unwrap();
    assert!(words.contains("pending") && words.contains("remove_connection"), "{words}");
    assert_eq!(agent.call("/mcp", "add_connection", &open(&upstream)).await.refused("conflict"), refused);

    let path = format!("{CONNECTIONS}/{}", added["id"].as_str().unwrap());
    let removed = agent.delete(&path).await.done(200);
    assert_eq!(removed["status"], "removed");
    assert_eq!(agent.delete(&path).await.done(200), removed, "again the same");
    let by_tool = agent.call("/mcp", "remove_connection", &json!({ "id": added["id"] })).await.done();
    assert_eq!(by_tool, removed);
    assert_eq!(agent.get(&path).await.done(200), removed);
    agent.post(CONNECTIONS, &open(&upstream)).await.done(201);

    agent.delete(&format!("{CONNECTIONS}/conn_0123456789ABCDEFGHIJKL")).await.refused(404, "not_found");
    agent.get(&format!("{CONNECTIONS}/conn_0123456789ABCDEFGHIJKL")).await.refused(404, "not_found");
}

#[tokio::test]
async fn one_person_adds_twenty_in_ten_minutes() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let add = async |number: usize| {
        let mut body = open(&upstream);
        body["name"] = json!(format!("desk-{number}"));
        server.anyone().post(CONNECTIONS, &body).await
    };
    for number in 0..20 {
        add(number).await.done(201);
    }
    let refused = add(20).await;
    refused.refused(429, "too_many_requests");
    assert!(refused.header("retry-after").parse::<u32>().is_ok());
    server.clock.advance_ms(10 * 60 * 1_000);
    add(20).await.done(201);
    // Newest first, page by page, each once.
    let (mut seen, mut path) = (Vec::new(), format!("{CONNECTIONS}?limit=8"));
    loop {
        let page = server.anyone().get(&path).await.done(200);
        let names = page["connections"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        seen.extend(names);
        assert_eq!(page["has_more"].as_bool(), Some(page["next_cursor"].is_string()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("{CONNECTIONS}?limit=8&cursor={cursor}");
    }
    assert_eq!(seen.len(), 21);
    assert_eq!(seen[0], "desk-20");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 21);
    // A cursor somebody changed is refused, whatever stands in it.
    let page = server.anyone().get(&format!("{CONNECTIONS}?limit=8")).await.done(200);
    let inside = URL_SAFE_NO_PAD.decode(page["next_cursor"].as_str().unwrap()).unwrap();
    let mut inside: Value = serde_json::from_slice(&inside).unwrap();
    inside["key"][1] = json!("conn_\0");
    let made_up = URL_SAFE_NO_PAD.encode(inside.to_string());
    let answer = server.anyone().get(&format!("{CONNECTIONS}?limit=8&cursor={made_up}")).await;
    assert_eq!(answer.invalid_at(), ["/cursor"]);
    let bad = ["limit=0", "limit=101", "limit=x", "cursor=nothing", "status=odd"];
    for query in bad {
        let field = query.split('=').next().unwrap();
        let answer = server.anyone().get(&format!("{CONNECTIONS}?{query}")).await;
        assert_eq!(answer.invalid_at(), [format!("/{field}")], "{query}");
    }
}

#[tokio::test]
async fn only_people_add_and_only_where_the_operator_lets_them() {
    let upstream = Upstream::open().await;
    let keys = TestApp::with_keys(&[FULL]).await;
    let refused = keys.holder(&FULL).post("/v1/orgs/north/connections", &open(&upstream)).await;
    refused.refused(403, "forbidden");
    assert!(refused.headers.get("www-authenticate").is_none(), "no other scope would help");
    // The refusal comes before a look at what was sent.
    keys.holder(&FULL).post("/v1/orgs/north/connections", &json!({ "odd": 1 })).await.refused(403, "forbidden");
    let error = keys.holder(&FULL).try_call("/mcp", "add_connection", &open(&upstream)).await.unwrap_err();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("Unknown tool: add_connection")));
    let providers = keys.holder(&FULL).get("/v1/orgs/north/providers").await.done(200);
    assert_eq!(providers["may_add"], false);

    let nobody = TestApp::with(&[("CONNECTIONS_ADD", "nobody")]).await;
    let refused = nobody.anyone().post(CONNECTIONS, &open(&upstream)).await;
    assert!(refused.refused(403, "forbidden")["detail"].as_str().unwrap().contains("does not let people add"));
    assert!(refused.headers.get("www-authenticate").is_none());
}

#[tokio::test]
async fn the_operators_rules_narrow_what_can_be_added() {
    let upstream = Upstream::open().await;
    let cases = [
        ("CONNECTIONS_BY_HAND", "false", open(&upstream), "/type"),
        ("CONNECTIONS_TYPES", "openapi", open(&upstream), "/type"),
        ("CONNECTIONS_HOSTS", "example.test", open(&upstream), "/entry/url"),
        ("CONNECTIONS_KINDS", "reference", super::secret(&upstream), "/credential/kind"),
        ("CONNECTIONS_PROVIDERS", "-notion", json!({ "provider": "notion" }), "/provider"),
    ];
    for (name, value, input, pointer) in cases {
        let server = TestApp::with(&[(name, value)]).await;
        let answer = server.anyone().post(CONNECTIONS, &input).await;
        assert_eq!(answer.invalid_at(), [pointer], "{name}={value}");
    }
}
