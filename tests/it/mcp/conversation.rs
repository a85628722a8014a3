//! One conversation, the same on all six revisions: the greeting, every list, calls that succeed and that fail, and
//! everything that is refused.

use playmaker::mcp::MAX_BODY_BYTES;
use reqwest::Method;
use serde_json::{Value, json};

use super::server::Server;
use super::talk::{Answer, BOTH, MODERN, REVISIONS, Talk};

/// What the local developer is offered, in order.
const TOOLS: [&str; 14] = [
    "create_playbook",
    "list_playbooks",
    "update_playbook",
    "retire_playbook",
    "list_playbook_events",
    "get_event",
    "search",
    "introspect",
    "dry_run",
    "execute",
    "add_connection",
    "list_connections",
    "remove_connection",
    "get_guide",
];

#[tokio::test]
async fn every_revision_converses_alike() {
    for revision in REVISIONS {
        let server = Server::start().await;
        let talk = Talk::at(server.url("/mcp"), revision);
        greeting(&talk, revision).await;
        tools(&talk).await;
        calls(&talk).await;
        guides_and_prompts(&talk).await;
        unknown_names(&talk).await;
        refusals(&talk).await;
    }
}

#[tokio::test]
async fn every_endpoint_greets_with_and_without_a_slash_at_its_end() {
    let server = Server::start().await;
    Talk::at(server.url("/mcp"), MODERN)
        .call("create_playbook", json!({ "playbook": "orders", "name": "Orders" }))
        .await;
    for path in ["/mcp", "/mcp/", "/orgs/local/mcp", "/orgs/local/mcp/", "/orgs/local/playbooks/orders/mcp"] {
        for revision in REVISIONS {
            greeting(&Talk::at(server.url(path), revision), revision).await;
        }
    }
    for (path, status, reason) in
        [("/orgs/other/mcp", 403, "forbidden"), ("/orgs/local/playbooks/missing/mcp", 404, "not_found")]
    {
        let talk = Talk::at(server.url(path), MODERN);
        talk.ask("tools/list", json!({})).await.problem(status, reason);
    }
}

async fn greeting(talk: &Talk, revision: &str) {
    let greeted = if talk.is_modern() {
        let greeted = talk.result("server/discover", json!({})).await;
        let mut newest_first = REVISIONS;
        newest_first.reverse();
        assert_eq!(greeted["supportedVersions"], json!(newest_first));
        assert_eq!(greeted["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "playmaker");
        fresh(talk, &greeted, 60_000);
        greeted
    } else {
        let params = json!({
            "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "a test", "version": "1" },
        });
        let greeted = talk.result("initialize", params).await;
        assert_eq!(greeted["protocolVersion"], revision);
        assert_eq!(
            (&greeted["serverInfo"]["name"], &greeted["serverInfo"]["title"]),
            (&json!("playmaker"), &json!("Playmaker"))
        );
        greeted
    };
    assert_eq!(greeted["capabilities"], json!({ "tools": {}, "resources": {}, "prompts": {} }));
    let instructions = greeted["instructions"].as_str().unwrap();
    assert!(instructions.starts_with("This connection acts as ada (local) in the org local."), "{instructions}");

    for notification in ["notifications/initialized", "notifications/cancelled", "notifications/anything"] {
        let answer = Answer::of(talk.message(None, notification, json!({}))).await;
        assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{revision} {notification}");
    }
    match talk.is_modern() {
        true => drop(talk.ask("ping", json!({})).await.refused(404, -32601)),
        false => assert_eq!(talk.result("ping", json!({})).await, json!({})),
    }
}

async fn tools(talk: &Talk) {
    let listed = talk.result("tools/list", json!({})).await;
    fresh(talk, &listed, 60_000);
    let listed = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = listed.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, TOOLS);
    for tool in listed {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(tool.get("outputSchema").is_none());
    }
}

async fn calls(talk: &Talk) {
    let none = talk.call("list_playbooks", json!({})).await;
    assert_eq!(none["content"][0]["text"], "No playbook yet.");

    let arguments = json!({ "playbook": "orders", "name": "Orders of parts" });
    let made = talk.call("create_playbook", arguments.clone()).await;
    let words = "Created the playbook “Orders of parts”. It is active and empty; a function can be saved in it next.";
    assert_eq!(made["content"][0], json!({ "type": "text", "text": words }));
    assert_eq!(made["structuredContent"]["id"], "orders");
    let written = made["content"][1]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(written).unwrap(), made["structuredContent"]);
    assert_ne!(made["isError"], true);

    let listed = talk.call("list_playbooks", json!({})).await;
    assert_eq!(listed["content"][0]["text"], "1 playbook: “Orders of parts”.");

    assert_eq!(failure(&talk.call("create_playbook", arguments).await)["reason"], "conflict");
    let problem = failure(&talk.call("create_playbook", json!({ "playbook": "A b", "name": 1 })).await);
    assert_eq!(problem["reason"], "invalid_input");
    let pointers: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().filter_map(|fault| fault["pointer"].as_str()).collect();
    assert_eq!(pointers, ["/playbook", "/name"]);
    let problem = failure(&talk.call("list_playbooks", json!({ "include_retired": "yes" })).await);
    assert_eq!(problem["reason"], "invalid_input");
    let problem = failure(&talk.call("list_playbook_events", json!({ "playbook": "missing" })).await);
    assert_eq!(problem["reason"], "not_found");
}

async fn guides_and_prompts(talk: &Talk) {
    let listed = talk.result("resources/list", json!({})).await;
    fresh(talk, &listed, 300_000);
    let first = &listed["resources"][0];
    assert_eq!((&first["uri"], &first["mimeType"]), (&json!("guide://terminology"), &json!("text/markdown")));
    let read = talk.result("resources/read", json!({ "uri": first["uri"] })).await;
    fresh(talk, &read, 300_000);
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert_eq!(first["size"], text.len());
    let unknown = talk.error("resources/read", json!({ "uri": "guide://missing" })).await;
    assert_eq!(unknown["code"], if talk.is_modern() { -32602 } else { -32002 });

    let templates = talk.result("resources/templates/list", json!({})).await;
    fresh(talk, &templates, 300_000);
    assert_eq!(templates["resourceTemplates"], json!([]));

    let prompts = talk.result("prompts/list", json!({})).await;
    fresh(talk, &prompts, 60_000);
    assert!(prompts["prompts"].is_array());
    assert_eq!(talk.error("prompts/get", json!({ "name": "missing" })).await["code"], -32602);

    for list in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(talk.error(list, json!({ "cursor": "2" })).await["code"], -32602);
    }
}

async fn unknown_names(talk: &Talk) {
    let unknown = talk.error("tools/call", json!({ "name": "no_such_tool", "arguments": {} })).await;
    assert_eq!((&unknown["code"], &unknown["message"]), (&json!(-32602), &json!("Unknown tool: no_such_tool")));
    let no_object = talk.error("tools/call", json!({ "name": "list_playbooks", "arguments": [] })).await;
    assert_eq!(no_object["code"], -32602);

    let status = if talk.is_modern() { 404 } else { 200 };
    for method in
        ["no/such/method", "subscriptions/listen", "resources/subscribe", "logging/setLevel", "completion/complete"]
    {
        assert_eq!(talk.ask(method, json!({})).await.refused(status, -32601)["id"], 7, "{method}");
    }
}

async fn refusals(talk: &Talk) {
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH] {
        let answer = Answer::of(talk.with(method.clone()).header("accept", BOTH)).await;
        answer.problem(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), "POST, OPTIONS", "{method}");
    }
    let json = "application/json";
    let send = |accept, content_type, body: String| {
        Answer::of(talk.post().header("accept", accept).header("content-type", content_type).body(body))
    };
    let body = || json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }).to_string();
    for accept in [json, "text/event-stream", "text/html", "*/*;q=0"] {
        send(accept, json, body()).await.problem(406, "not_acceptable");
    }
    for content_type in ["text/plain", "application/json; charset=latin1"] {
        send(BOTH, content_type, body()).await.problem(415, "unsupported_media_type");
    }
    send(BOTH, json, " ".repeat(MAX_BODY_BYTES + 1)).await.problem(413, "content_too_large");

    send(BOTH, json, "{".to_owned()).await.refused(400, -32700);
    for body in ["[]", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#] {
        send(BOTH, json, body.to_owned()).await.refused(400, -32600);
    }
}

/// A modern result says what it is and how long it stays fresh; a legacy one says neither.
fn fresh(talk: &Talk, result: &Value, ttl_ms: u32) {
    let said = ["resultType", "ttlMs", "cacheScope"].map(|member| result.get(member).cloned().unwrap_or_default());
    let modern = [json!("complete"), json!(ttl_ms), json!("private")];
    assert_eq!(said, if talk.is_modern() { modern } else { Default::default() });
    assert!(result.get("nextCursor").is_none());
}

/// The problem document of a tool that could not do what was asked.
fn failure(result: &Value) -> Value {
    assert!(result["isError"] == true && result.get("structuredContent").is_none(), "{result}");
    assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
    serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap()
}
