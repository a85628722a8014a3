use proptest::prelude::*;
use serde_json::{Value, json};

use super::{request, with_body, with_parameters};

/// The path and query of a request with one parameter `n`.
fn written(place: &str, more: Value, value: Value) -> String {
    let mut parameter = json!({ "name": "n", "in": place, "schema": {} });
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let path = if place == "path" { "/p/{n}" } else { "/p" };
    let prepared = request(&with_parameters(path, json!([parameter])), json!({ "n": value })).unwrap();
    let header = |name: &str| {
        let found = prepared.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.to_str().unwrap().to_owned())
    };
    match place {
        "header" => header("n").unwrap_or_default(),
        "cookie" => header("cookie").unwrap_or_default(),
        _ => prepared.path_and_query.trim_start_matches("/v1/p").trim_start_matches(['/', '?']).to_owned(),
    }
}

#[test]
fn each_style_of_the_path() {
    let (list, map) = (json!(["a", "b"]), json!({ "k": "v", "l": 2 }));
    let cases = [
        (json!({}), "a,b", "k,v,l,2"),
        (json!({ "explode": true }), "a,b", "k=v,l=2"),
        (json!({ "style": "label" }), ".a.b", ".k,v,l,2"),
        (json!({ "style": "label", "explode": true }), ".a.b", ".k=v.l=2"),
        (json!({ "style": "matrix" }), ";n=a,b", ";n=k,v,l,2"),
        (json!({ "style": "matrix", "explode": true }), ";n=a;n=b", ";k=v;l=2"),
    ];
    for (style, of_list, of_map) in cases {
        assert_eq!(written("path", style.clone(), list.clone()), of_list, "{style}");
        assert_eq!(written("path", style.clone(), map.clone()), of_map, "{style}");
    }
}

#[test]
fn each_style_of_the_query() {
    let (list, map) = (json!(["a", "b c"]), json!({ "k": "v", "l": { "m": 2 } }));
    let cases = [
        (json!({}), "n=a&n=b%20c", r"k=v&l=%7B%22m%22%3A2%7D"),
        (json!({ "explode": false }), "n=a,b%20c", r"n=k,v,l,%7B%22m%22%3A2%7D"),
        (json!({ "style": "spaceDelimited" }), "n=a%20b%20c", r"n=k%20v%20l%20%7B%22m%22%3A2%7D"),
        (json!({ "style": "pipeDelimited" }), "n=a%7Cb%20c", r"n=k%7Cv%7Cl%7C%7B%22m%22%3A2%7D"),
        (json!({ "style": "deepObject" }), "n[]=a&n[]=b%20c", "n[k]=v&n[l][m]=2"),
    ];
    for (style, of_list, of_map) in cases {
        assert_eq!(written("query", style.clone(), list.clone()), of_list, "{style}");
        assert_eq!(written("query", style.clone(), map.clone()), of_map, "{style}");
    }
    assert_eq!(written("query", json!({}), json!(1.5)), "n=1.5");
    assert_eq!(written("query", json!({}), json!(true)), "n=true");
    assert_eq!(written("query", json!({}), json!([])), "");
    assert_eq!(written("query", json!({}), json!(null)), "");
    assert_eq!(written("query", json!({ "allowEmptyValue": true }), json!("")), "n=");
    assert_eq!(written("query", json!({ "allowReserved": true }), json!("a/b:#c&d")), "n=a/b:%23c%26d");
    let content = json!({ "schema": null, "content": { "application/json": { "schema": {} } } });
    assert_eq!(written("query", content, json!(["a"])), "n=%5B%22a%22%5D");
}

#[test]
fn headers_and_cookies() {
    assert_eq!(written("header", json!({}), json!(["a", "b"])), "a,b");
    assert_eq!(written("header", json!({}), json!({ "k": "v" })), "k,v");
    assert_eq!(written("header", json!({ "explode": true }), json!({ "k": "v" })), "k=v");
    assert_eq!(written("header", json!({}), json!("é x\t")), "%C3%A9 x%09");
    assert_eq!(written("cookie", json!({}), json!(["a", "b;c"])), "n=a,b%3Bc");
    assert_eq!(written("cookie", json!({}), json!({ "k": "v" })), "n=k,v");
    let tool = with_parameters("/p", json!([{ "name": "n", "in": "header", "schema": {} }]));
    for value in ["a\r\nb", "a\nb", "a\0b"] {
        assert_eq!(request(&tool, json!({ "n": value })).unwrap_err()[0].pointer, "/n");
    }
}

#[test]
fn a_path_value_never_leads_elsewhere() {
    let tool = with_parameters("/p/{n}/q", json!([]));
    for value in [".", "..", ""] {
        assert_eq!(request(&tool, json!({ "n": value })).unwrap_err()[0].pointer, "/n", "{value}");
    }
    assert_eq!(request(&tool, json!({ "n": "../x" })).unwrap().url.path(), "/v1/p/..%2Fx/q");
    assert_eq!(request(&tool, json!({ "n": "a?b#c%2e\\" })).unwrap().url.path(), "/v1/p/a%3Fb%23c%252e%5C/q");
    assert!(request(&with_parameters("/p/.{n}", json!([])), json!({ "n": "." })).is_err());
}

#[test]
fn missing_and_unknown_arguments_are_told() {
    let tool = with_parameters("/p/{id}", json!([{ "name": "q", "in": "query", "required": true, "schema": {} }]));
    let issues = request(&tool, json!({ "zz": 1 })).unwrap_err();
    let pointers: Vec<&str> = issues.iter().map(|issue| issue.pointer.as_str()).collect();
    assert_eq!(pointers, ["/zz", "/q", "/id"]);
}

#[test]
fn no_argument_takes_the_place_of_the_credential() {
    let filter = json!([{ "name": "filter", "in": "query", "schema": { "type": "object" } }]);
    let text = json!({ "openapi": "3.0.0", "paths": { "/p": { "get": { "parameters": filter } } } }).to_string();
    let place = super::super::Placement {
        credential: Some((super::super::Place::Query, "key".to_owned())),
        ..super::at("https://api.example")
    };
    let tool = super::sole(&super::read(&text, super::Bounds::OPERATOR, &place).unwrap());
    assert!(request(&tool, json!({ "filter": { "key": "mine" } })).is_err());
    assert_eq!(request(&tool, json!({ "filter": { "keys": "a" } })).unwrap().path_and_query, "/p?keys=a");
}

#[test]
fn the_idempotency_key_is_filled_in_where_it_is_known() {
    let parameter = json!([{ "name": "idempotency-key", "in": "header", "required": true, "schema": {} }]);
    let tool = with_parameters("/p", parameter);
    assert!(tool.input_schema.get("required").is_none());
    let sent = |value: Value, key: Option<&str>| {
        let prepared = tool.request(&super::arguments(value), key).unwrap();
        prepared.headers.iter().find(|(name, _)| name == "idempotency-key").map(|(_, value)| value.clone())
    };
    assert_eq!(sent(json!({}), Some("k1")).unwrap(), "k1");
    assert_eq!(sent(json!({ "idempotency-key": "own" }), Some("k1")).unwrap(), "own");
    assert_eq!(sent(json!({}), None), None);
}

fn body(kind: &str, media: Value, value: Value) -> (String, String) {
    let prepared = request(&with_body(kind, media), json!({ "body": value })).unwrap();
    let body = prepared.body.unwrap();
    (body.media_type, String::from_utf8(body.bytes).unwrap())
}

#[test]
fn bodies_of_json_forms_bytes_and_text() {
    let sent = body("application/*", json!({}), json!({ "a": [1] }));
    assert_eq!(sent, ("application/json".to_owned(), r#"{"a":[1]}"#.to_owned()));
    let media = json!({
        "schema": { "type": "object" },
        "encoding": { "list": { "explode": false }, "deep": { "style": "deepObject" }, "json": { "contentType": "application/json" } },
    });
    let value = json!({ "a": "x y", "deep": { "k": 1 }, "json": { "k": 1 }, "list": [1, 2] });
    let (kind, text) = body("application/x-www-form-urlencoded", media, value);
    assert_eq!(kind, "application/x-www-form-urlencoded");
    assert_eq!(text, "a=x%20y&deep[k]=1&json=%7B%22k%22%3A1%7D&list=1,2");
    let sent = body("image/png", json!({}), json!({ "base64": "aGk=", "media_type": "image/x-icon" }));
    assert_eq!(sent, ("image/x-icon".to_owned(), "hi".to_owned()));
    let sent = body("application/xml", json!({ "schema": { "type": "object" } }), json!("<a/>"));
    assert_eq!(sent, ("application/xml".to_owned(), "<a/>".to_owned()));
    let refused = request(&with_body("image/png", json!({})), json!({ "body": { "base64": "?" } })).unwrap_err();
    assert_eq!(refused[0].pointer, "/body/base64");
}

#[test]
fn a_multipart_body_carries_files_and_json_parts() {
    let media = json!({
        "schema": { "type": "object", "properties": {
            "file": { "type": "string", "format": "binary" },
            "more": { "type": "array", "items": { "type": "string", "format": "binary" } },
            "meta": { "type": "object" },
            "note": { "type": "string" },
        } },
        "encoding": { "note": { "contentType": "text/markdown", "headers": { "X-Kind": { "schema": { "default": "k" } } } } },
    });
    let tool = with_body("multipart/form-data", media);
    let schema = &tool.input_schema["properties"]["body"]["properties"];
    assert!(schema["file"]["properties"].get("base64").is_some());
    let value = json!({
        "file": { "filename": "a\"b.txt", "media_type": "text/plain", "text": "hello" },
        "more": [{ "base64": "aGk=" }],
        "meta": { "a": 1 },
        "note": "n",
    });
    let prepared = request(&tool, json!({ "body": value })).unwrap().body.unwrap();
    let boundary = prepared.media_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let text = String::from_utf8(prepared.bytes).unwrap();
    assert!(text.ends_with(&format!("--{boundary}--\r\n")));
    for part in [
        "name=\"file\"; filename=\"a%22b.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n",
        "name=\"more\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\nhi\r\n",
        "name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n",
        "name=\"note\"\r\nContent-Type: text/markdown\r\nX-Kind: k\r\n\r\nn\r\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let header =
        request(&tool, json!({ "body": { "file": { "media_type": "a/b\r\nX: y", "text": "" } } })).unwrap_err();
    assert_eq!(header[0].pointer, "/body/file/media_type");
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is written is read back by a reader of each style that knows nothing of the writer.
    #[test]
    fn lists_come_back_from_every_style(items in prop::collection::vec("\\PC{1,8}", 1..5)) {
        prop_assume!(!matches!(items.join(",").as_str(), "." | ".."));
        let value = json!(items);
        let listed = |text: &str, separator: &str| text.split(separator).map(decoded).collect::<Vec<_>>();
        prop_assert_eq!(listed(&written("path", json!({}), value.clone()), ","), items.clone());
        let query = written("query", json!({}), value.clone());
        let pairs: Vec<String> = url::form_urlencoded::parse(query.as_bytes()).map(|(_, value)| value.into_owned()).collect();
        prop_assert_eq!(&pairs, &items);
        let query = written("query", json!({ "explode": false }), value.clone());
        prop_assert_eq!(listed(query.strip_prefix("n=").unwrap(), ","), items.clone());
        let query = written("query", json!({ "style": "pipeDelimited" }), value.clone());
        prop_assert_eq!(listed(query.strip_prefix("n=").unwrap(), "%7C").concat(), items.concat().replace('|', ""));
        let matrix = written("path", json!({ "style": "matrix", "explode": true }), value);
        prop_assert_eq!(listed(matrix.strip_prefix(";n=").unwrap(), ";n="), items);
    }

    #[test]
    fn objects_come_back_from_the_query(map in prop::collection::btree_map("[a-z é&=]{1,6}", "\\PC{0,8}", 1..5)) {
        let query = written("query", json!({ "style": "deepObject" }), json!(map));
        let read: std::collections::BTreeMap<String, String> = url::form_urlencoded::parse(query.as_bytes())
            .map(|(name, value)| (name[2..name.len() - 1].to_owned(), value.into_owned()))
            .collect();
        prop_assert_eq!(read, map);
    }
}
