//! Whatever a client sends, the endpoint neither breaks nor says that it is its own fault.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Post;
use crate::json::any_json;

fn answer(post: Post) -> (u16, i64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let answered = post.send().await;
        let code = match answered.text.as_str() {
            "" => 0,
            _ => answered.message()["error"]["code"].as_i64().unwrap_or_default(),
        };
        (answered.status, code)
    })
}

fn member() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 13] = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "_meta",
        "name",
        "uri",
        "arguments",
        "cursor",
        "inputResponses",
        "protocolVersion",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ];
    prop_oneof![prop::sample::select(&KNOWN[..]).prop_map(str::to_owned), ".{0,4}"]
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(member(), any_json(), 0..5).prop_map(|members| members.into_iter().collect())
}

fn method() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "initialize",
            "server/discover",
            "ping",
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/read",
            "prompts/list",
            "prompts/get",
            "notifications/cancelled",
        ][..],
    )
}

fn sound((status, code): (u16, i64)) -> bool {
    status < 500 && code != -32603
}

proptest! {
    #[test]
    fn any_bytes(body in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(sound(answer(Post::raw(body))));
    }

    #[test]
    fn any_message(body in object(), version in ".{0,12}") {
        let version: String = version.chars().filter(char::is_ascii_graphic).collect();
        prop_assert!(sound(answer(Post::raw(body.to_string()).with("mcp-protocol-version", &version))));
    }

    #[test]
    fn any_parameters(method in method(), params in object()) {
        prop_assert!(sound(answer(Post::legacy(method, params.clone()))));
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        let body = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params }).to_string();
        let post = headers.into_iter().fold(Post::raw(body), |post, (name, value)| post.with(name, value));
        prop_assert!(sound(answer(post)));
    }
}
