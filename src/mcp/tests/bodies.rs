//! What a body may be (`mcp.md` 2.2).

use serde_json::json;

use super::Post;

#[tokio::test]
async fn a_body_that_is_not_json_is_a_parse_error_without_an_id() {
    let deep = |levels: usize| {
        let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{nested}}}}}"#)
    };
    assert_eq!(Post::raw(deep(638)).send().await.status, 200);
    let bodies = [
        b"".to_vec(),
        b"{".to_vec(),
        b"\xff\xfe".to_vec(),
        br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#.to_vec(),
        deep(639).into_bytes(),
        deep(10_000).into_bytes(),
    ];
    for body in bodies {
        let answered = Post::raw(body.clone()).send().await;
        assert_eq!(answered.refusal(), (400, -32700), "{body:?}");
        assert_eq!(answered.kind, "application/json");
        assert!(answered.message().get("id").is_none());
    }
}

#[tokio::test]
async fn a_message_of_the_wrong_shape_is_an_invalid_request() {
    let table = [
        // (body, whether its id can be read)
        ("[]", false),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, false),
        ("1", false),
        (r#"{"id":1,"method":"ping"}"#, true),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, true),
        (r#"{"jsonrpc":2,"id":1,"method":"ping"}"#, true),
        (r#"{"jsonrpc":"2.0","id":1}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, true),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, false),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, false),
        (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, false),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, false),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1,"a":2}}}"#, true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"\u0061":2}}}"#, true),
    ];
    for (body, id_is_read) in table {
        let answered = Post::raw(body).send().await;
        assert_eq!(answered.refusal(), (400, -32600), "{body}");
        let id = answered.message().get("id").cloned();
        assert_eq!(id, id_is_read.then(|| json!(1)), "{body}");
    }
}

#[tokio::test]
async fn an_id_comes_back_as_it_was_sent() {
    for id in [json!("a"), json!(""), json!(0), json!(-7), json!(u64::MAX)] {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let message = Post::raw(body.to_string()).send().await.message();
        assert_eq!(message, json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
}

#[tokio::test]
async fn the_media_type_is_json_in_utf_8_and_not_encoded() {
    let table = [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ("application/json;charset=\"utf-8\"", 200),
        ("application/json; charset=latin1", 415),
        ("text/plain", 415),
        ("application/json-rpc", 415),
        ("", 415),
    ];
    for (kind, status) in table {
        let post = Post::legacy("ping", json!({})).without("content-type").with("content-type", kind);
        assert_eq!(post.send().await.status, status, "{kind}");
    }
    let post = || Post::legacy("ping", json!({}));
    assert_eq!(post().without("content-type").send().await.status, 415);
    assert_eq!(post().with("content-type", "application/json").send().await.status, 415);
    assert_eq!(post().with("content-encoding", "identity").send().await.status, 200);
    let encoded = post().with("content-encoding", "gzip").send().await;
    assert_eq!((encoded.status, encoded.kind.as_str()), (415, "application/problem+json"));
    assert_eq!(encoded.message()["reason"], "unsupported_media_type");
}

#[tokio::test]
async fn a_body_is_at_most_a_mebibyte() {
    let padded = |bytes: usize| {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    assert_eq!(Post::raw(padded(1_048_576)).send().await.status, 200);
    let answered = Post::raw(padded(1_048_577)).send().await;
    assert_eq!(answered.status, 413);
    assert_eq!(answered.message()["reason"], "content_too_large");
    let told = Post::raw(padded(100)).with("content-length", "1048577").send().await;
    assert_eq!(told.status, 413);
}
