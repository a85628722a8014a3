//! What results look like in each era (`mcp.md` 3.5, 3.6, 5, 10 and 14).

use serde_json::{Value, json};

use super::Post;

#[tokio::test]
async fn discovery_tells_the_revisions_and_the_server() {
    let result = Post::modern("server/discover", json!({})).send().await.result();
    let expected = json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"],
        "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
        "instructions": "This connection acts as a test.",
        "_meta": {
            "io.modelcontextprotocol/serverInfo": { "name": "playmaker", "title": "Playmaker", "version": "0" },
        },
        "ttlMs": 60_000,
        "cacheScope": "private",
    });
    assert_eq!(result, expected);
}

#[tokio::test]
async fn modern_results_say_how_long_they_stay_fresh_and_legacy_ones_do_not() {
    let table = [
        ("tools/list", json!({}), Some(60_000)),
        ("prompts/list", json!({}), Some(60_000)),
        ("resources/list", json!({}), Some(300_000)),
        ("resources/templates/list", json!({}), Some(300_000)),
        ("resources/read", json!({ "uri": "guide://terminology" }), Some(300_000)),
        ("tools/call", json!({ "name": "echo" }), None),
        ("prompts/get", json!({ "name": "remember", "arguments": { "what": "it" } }), None),
    ];
    for (method, params, ttl_ms) in table {
        let modern = Post::modern(method, params.clone()).send().await.result();
        assert_eq!(modern["resultType"], "complete", "{method}");
        assert_eq!(modern.get("ttlMs"), ttl_ms.map(Value::from).as_ref(), "{method}");
        let scope = modern.get("cacheScope").and_then(Value::as_str);
        assert_eq!(scope, ttl_ms.map(|_| "private"), "{method}");
        let legacy = Post::legacy(method, params).send().await.result();
        for member in ["resultType", "ttlMs", "cacheScope"] {
            assert!(legacy.get(member).is_none(), "{method} {member}");
        }
    }
}

#[tokio::test]
async fn a_list_is_one_page() {
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let result = Post::legacy(method, json!({})).send().await.result();
        assert!(result.get("nextCursor").is_none());
        let refused = Post::legacy(method, json!({ "cursor": "2" })).send().await;
        assert_eq!(refused.refusal(), (200, -32602), "{method}");
    }
}

#[tokio::test]
async fn an_output_comes_in_words_as_text_and_as_structured_content() {
    let params = json!({ "name": "echo", "arguments": { "a": ["“b”\n", 1] } });
    let result = Post::legacy("tools/call", params).send().await.result();
    let expected = json!({
        "content": [
            { "type": "text", "text": "Echoed." },
            { "type": "text", "text": r#"{"a":["“b”\n",1]}"# },
        ],
        "structuredContent": { "a": ["“b”\n", 1] },
    });
    assert_eq!(result, expected);
}

#[tokio::test]
async fn a_failed_operation_is_a_result_with_the_problem_document() {
    let result = Post::legacy("tools/call", json!({ "name": "refuse" })).send().await.result();
    assert_eq!(result["isError"], true);
    assert!(result.get("structuredContent").is_none());
    assert_eq!(result["content"][0]["text"], "The input does not fit at /name: must be text");
    let document: Value = serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&document["reason"], &document["status"]), (&json!("invalid_input"), &json!(422)));
}

#[tokio::test]
async fn what_a_call_cannot_name_is_refused_on_the_stream() {
    let long = "x".repeat(500);
    let table = [
        ("tools/call", json!({ "name": "nothing" }), "Unknown tool: nothing".to_owned()),
        ("tools/call", json!({ "name": long }), format!("Unknown tool: {}", "x".repeat(128))),
        ("tools/call", json!({}), "params.name must be text.".to_owned()),
        ("tools/call", json!({ "name": "echo", "arguments": [] }), "params.arguments must be an object.".to_owned()),
        ("prompts/get", json!({ "name": "nothing" }), "Unknown prompt: nothing".to_owned()),
        ("resources/read", json!({}), "params.uri must be text.".to_owned()),
    ];
    for (method, params, words) in table {
        for post in [Post::legacy(method, params.clone()), Post::modern(method, params)] {
            let answered = post.send().await;
            assert_eq!((answered.refusal(), answered.kind.as_str()), ((200, -32602), "text/event-stream"));
            assert_eq!(answered.message()["error"]["message"], words.as_str());
        }
    }
}

#[tokio::test]
async fn an_unknown_resource_has_a_code_of_its_own_in_the_older_revisions() {
    let params = || json!({ "uri": "guide://nothing" });
    assert_eq!(Post::legacy("resources/read", params()).send().await.refusal(), (200, -32002));
    assert_eq!(Post::modern("resources/read", params()).send().await.refusal(), (200, -32602));
}

#[tokio::test]
async fn a_question_is_put_to_modern_clients_and_the_rest_rides_along() {
    let modern = Post::modern("tools/call", json!({ "name": "ask" })).send().await.result();
    let expected = json!({
        "resultType": "input_required",
        "inputRequests": { "approve": { "method": "elicitation/create", "params": {} } },
        "requestState": "sealed",
        "content": [{ "type": "text", "text": "Open the link." }],
    });
    assert_eq!(modern, expected);
    let legacy = Post::legacy("tools/call", json!({ "name": "ask" })).send().await.result();
    assert_eq!(legacy, json!({ "content": [{ "type": "text", "text": "Open the link." }] }));
}

#[tokio::test]
async fn a_tool_sees_what_its_client_brings() {
    let brought = |responses: Value| {
        json!({
            "name": "request",
            "inputResponses": responses,
            "requestState": "sealed",
            "_meta": {
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "url": {} } },
                "io.modelcontextprotocol/clientInfo": { "name": "n".repeat(200), "version": "1" },
                "traceparent": "00-1-2-01",
            },
        })
    };
    let params = brought(json!({ "approve": { "action": "accept" } }));
    let seen = Post::modern("tools/call", params.clone()).send().await.result()["structuredContent"].take();
    let expected = json!({
        "client": "n".repeat(100),
        "capabilities": { "elicitation": { "url": {} } },
        "responses": { "approve": { "action": "accept" } },
        "state": "sealed",
        "trace": "00-1-2-01",
    });
    assert_eq!(seen, expected);
    let seen = Post::legacy("tools/call", params).send().await.result()["structuredContent"].take();
    assert_eq!((&seen["capabilities"], &seen["responses"], &seen["state"]), (&json!({}), &json!(null), &json!(null)));
    let refused = Post::modern("tools/call", brought(json!(null))).send().await;
    assert_eq!(refused.refusal(), (200, -32602));
}
