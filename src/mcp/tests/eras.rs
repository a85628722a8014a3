//! The six revisions and their two eras (`mcp.md` 3.2 to 3.5).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Post, Probe};

const SIX: [&str; 6] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

#[tokio::test]
async fn initialize_answers_the_revision_asked_for_or_the_newest_legacy_one() {
    let table = [
        ("2024-10-07", "2024-10-07"),
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("draft", "2025-11-25"),
        ("", "2025-11-25"),
    ];
    for (asked, answered) in table {
        let result = Post::legacy("initialize", json!({ "protocolVersion": asked })).send().await.result();
        let expected = json!({
            "protocolVersion": answered,
            "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
            "serverInfo": { "name": "playmaker", "title": "Playmaker", "version": "0" },
            "instructions": "This connection acts as a test.",
        });
        assert_eq!(result, expected, "{asked}");
    }
}

#[tokio::test]
async fn the_headers_of_a_handshake_agree_with_it() {
    let post = |params: Value| Post::legacy("initialize", params);
    let asked = || json!({ "protocolVersion": "2025-06-18" });
    let equal = post(asked()).with("mcp-protocol-version", "2025-06-18").with("mcp-method", "initialize");
    assert_eq!(equal.send().await.result()["protocolVersion"], "2025-06-18");
    let other = post(asked()).with("mcp-protocol-version", "2025-11-25");
    assert_eq!(other.send().await.refusal(), (400, -32600));
    let other = post(asked()).with("mcp-method", "tools/list");
    assert_eq!(other.send().await.refusal(), (400, -32600));
    assert_eq!(post(json!({})).send().await.refusal(), (200, -32602));
}

#[tokio::test]
async fn an_initialize_with_both_signs_opens_a_handshake_and_one_with_the_modern_sign_alone_does_not() {
    let both = Post::modern("initialize", json!({ "protocolVersion": "2025-11-25" }));
    let both = both.without("mcp-protocol-version").send().await.result();
    assert_eq!(both["protocolVersion"], "2025-11-25");
    assert!(both.get("resultType").is_none());
    assert_eq!(Post::modern("initialize", json!({})).send().await.refusal(), (404, -32601));
}

#[tokio::test]
async fn a_legacy_request_needs_no_handshake_and_speaks_what_its_header_says() {
    for revision in &SIX[1..] {
        let post = Post::legacy("ping", json!({})).with("mcp-protocol-version", revision);
        assert_eq!(post.send().await.result(), json!({}), "{revision}");
    }
    let ignored = Post::legacy("ping", json!({})).with("mcp-method", "tools/call").with("mcp-name", "x");
    assert_eq!(ignored.send().await.result(), json!({}));
    let session = Post::legacy("ping", json!({})).with("mcp-session-id", "s").with("last-event-id", "7");
    assert_eq!(session.send().await.result(), json!({}));
    for unknown in ["2024-01-01", "1", "", "2026-07-27"] {
        let refused = Post::legacy("ping", json!({})).with("mcp-protocol-version", unknown).send().await;
        assert_eq!(refused.refusal(), (400, -32022), "{unknown}");
        let data = refused.message()["error"]["data"].take();
        assert_eq!(data, json!({ "supported": SIX, "requested": unknown }));
    }
}

#[tokio::test]
async fn a_modern_request_says_its_revision_and_capabilities() {
    let missing = [
        (json!({}), "protocolVersion (text) and io.modelcontextprotocol/clientCapabilities (object)"),
        (json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" }), "clientCapabilities (object)"),
        (json!({ "io.modelcontextprotocol/clientCapabilities": {} }), "protocolVersion (text)"),
        (
            json!({ "io.modelcontextprotocol/protocolVersion": 1, "io.modelcontextprotocol/clientCapabilities": {} }),
            "protocolVersion (text)",
        ),
        (
            json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": [] }),
            "clientCapabilities (object)",
        ),
    ];
    for (meta, named) in missing {
        let post = Post::legacy("server/discover", json!({ "_meta": meta }));
        let refused = post.with("mcp-protocol-version", "2026-07-28").with("mcp-method", "server/discover");
        let refused = refused.send().await;
        assert_eq!(refused.refusal(), (400, -32602), "{meta}");
        assert!(refused.text.contains(named), "{} {named}", refused.text);
    }
    let by_header_alone = Post::legacy("tools/list", json!({})).with("mcp-protocol-version", "2027-01-01");
    assert_eq!(by_header_alone.send().await.refusal(), (400, -32602));
}

#[tokio::test]
async fn the_headers_of_a_modern_request_agree_with_its_body() {
    let call = || Post::modern("tools/call", json!({ "name": "echo", "arguments": {} }));
    assert_eq!(call().send().await.status, 200);
    for header in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        assert_eq!(call().without(header).send().await.refusal(), (400, -32020), "{header} missing");
        let other = call().without(header).with(header, "other");
        assert_eq!(other.send().await.refusal(), (400, -32020), "{header} differs");
        let upper = call().without(header).with(header, "ECHO");
        assert_eq!(upper.send().await.refusal(), (400, -32020), "{header} differs in case");
        let twice = call().with(header, "echo");
        assert_eq!(twice.send().await.refusal(), (400, -32020), "{header} twice");
    }
    let unneeded = Post::modern("tools/list", json!({})).with("mcp-param-x", "1").with("mcp-name", "x");
    assert_eq!(unneeded.send().await.status, 200);
}

#[tokio::test]
async fn an_encoded_name_is_decoded_before_it_is_compared() {
    let read = |uri: &str, header: &str| {
        let post = Post::modern("resources/read", json!({ "uri": uri }));
        post.without("mcp-name").with("mcp-name", header)
    };
    let encoded = |text: &[u8]| format!("=?base64?{}?=", STANDARD.encode(text));
    let known = "guide://terminology";
    assert_eq!(read(known, known).send().await.status, 200);
    assert_eq!(read(known, &encoded(known.as_bytes())).send().await.status, 200);
    assert_eq!(read("Ünter", &encoded("Ünter".as_bytes())).send().await.refusal(), (200, -32602));
    for (uri, header) in [
        (known, encoded(b"guide://other")),
        (known, "=?base64?Z3VpZGU?=".to_owned()),
        (known, "=?base64?!!!!?=".to_owned()),
        (known, "=?base64?".to_owned()),
        ("\u{fffd}", encoded(b"\xff")),
        ("a\nb", encoded(b"a\nb")),
    ] {
        assert_eq!(read(uri, &header).send().await.refusal(), (400, -32020), "{header}");
    }
}

#[tokio::test]
async fn a_revision_of_the_future_is_refused_with_those_spoken() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" });
    let post = Post::modern("server/discover", json!({ "_meta": meta })).without("mcp-protocol-version");
    let refused = post.with("mcp-protocol-version", "2031-01-01").send().await;
    assert_eq!(refused.refusal(), (400, -32022));
    let data = refused.message()["error"]["data"].take();
    assert_eq!(data, json!({ "supported": SIX, "requested": "2031-01-01" }));
}

#[tokio::test]
async fn each_era_has_its_methods() {
    let never =
        ["subscriptions/listen", "resources/subscribe", "logging/setLevel", "completion/complete", "tasks/get", ""];
    for method in never {
        assert_eq!(Post::legacy(method, json!({})).send().await.refusal(), (200, -32601), "{method}");
        assert_eq!(Post::modern(method, json!({})).send().await.refusal(), (404, -32601), "{method}");
    }
    assert_eq!(Post::modern("ping", json!({})).send().await.refusal(), (404, -32601));
    let both = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    for method in both {
        assert_eq!(Post::legacy(method, json!({})).send().await.status, 200, "{method}");
        assert_eq!(Post::modern(method, json!({})).send().await.status, 200, "{method}");
    }
    let gateway = Probe { tools_alone: true, ..Probe::default() };
    for method in &both[1..] {
        let refused = Post::legacy(method, json!({})).send_to(gateway.clone()).await;
        assert_eq!(refused.refusal(), (200, -32601), "{method}");
    }
    let asked = Post::legacy("initialize", json!({ "protocolVersion": "2025-11-25" }));
    let result = asked.send_to(gateway).await.result();
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
}
