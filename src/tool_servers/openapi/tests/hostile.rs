use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::operations::compiles;
use super::super::{Bounds, read};
use super::at;

/// A document with a bit of everything.
fn sample() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Sample" },
        "servers": [{ "url": "https://{host}/v1", "variables": { "host": { "default": "a.example" } } }],
        "paths": {
            "/things/{id}": {
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
                "get": { "operationId": "get", "parameters": [
                    { "$ref": "#/components/parameters/Page" },
                    { "name": "filter", "in": "query", "style": "deepObject", "schema": { "$ref": "#/components/schemas/Filter" } },
                ] },
                "put": { "operationId": "put", "requestBody": { "required": true, "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/Thing" } },
                    "multipart/form-data": { "schema": { "type": "object", "properties": { "f": { "type": "string", "format": "binary" } } } },
                } } },
            },
        },
        "components": {
            "parameters": { "Page": { "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 1 } } },
            "schemas": {
                "Filter": { "type": "object", "additionalProperties": { "type": "string" }, "example": { "a": "b" } },
                "Thing": { "allOf": [{ "$ref": "#/components/schemas/Base" }, { "type": "object", "required": ["parts"],
                    "properties": { "parts": { "type": "array", "items": { "$ref": "#/components/schemas/Thing" } } } }] },
                "Base": { "type": "object", "properties": { "name": { "type": ["string", "null"], "pattern": "^a+$" } },
                    "oneOf": [{ "required": ["name"] }, { "not": { "required": ["name"] } }] },
            },
        },
    })
}

/// Every pointer into a value.
fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| {
            pointers(inner, format!("{at}/{}", super::super::source::escape(key)), found);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(index, inner)| {
            pointers(inner, format!("{at}/{index}"), found);
        }),
        _ => {}
    }
    found.push(at);
}

fn junk() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!(-1.5)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("string")),
        Just(json!("")),
        Just(json!(["a", 1, null])),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "#/components/schemas/Thing" })),
        Just(json!({ "$ref": "#/paths/~1things~1{id}/put" })),
        Just(json!({ "$ref": "#/components/schemas/Base", "allOf": [{ "$ref": "#/components/schemas/Thing" }] })),
        "\\PC{0,12}".prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is put anywhere, reading ends in tools whose schemas compile or in one refusal.
    #[test]
    fn a_document_changed_anywhere_is_read_or_refused(changes in prop::collection::vec((any::<prop::sample::Index>(), junk()), 1..4)) {
        let mut document = sample();
        for (index, junk) in changes {
            let mut all = Vec::new();
            pointers(&document, String::new(), &mut all);
            *document.pointer_mut(index.get::<String>(&all)).unwrap() = junk;
        }
        if let Ok(read) = read(&document.to_string(), Bounds::PERSON, &at("https://api.example")) {
            prop_assert_eq!(read.operations.total, read.operations.usable + read.operations.unusable);
            for tool in &read.tools {
                prop_assert!(compiles(&tool.input_schema), "{}", tool.input_schema);
                prop_assert!((1..=128).contains(&tool.name.len()));
                let _ = super::request(tool, json!({ "id": "x", "page": [1], "filter": { "a": {} }, "body": { "f": 1 } }));
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read(&text, Bounds::PERSON, &at("https://api.example"));
        let _ = read(&format!("openapi: 3.0.0\npaths: {text}"), Bounds::PERSON, &at("https://api.example"));
    }
}

#[test]
fn anchors_that_multiply_are_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let start = Instant::now();
    assert!(read(&text, Bounds::PERSON, &at("https://api.example")).is_err());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_deepest_document_of_an_operator_is_read() {
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(180), "}".repeat(180));
    let text = format!(
        r#"{{"openapi":"3.1.0","paths":{{"/a":{{"post":{{"requestBody":{{"content":{{"application/json":{{"schema":{deep}}}}}}}}}}}}}}}"#
    );
    let read = read(&text, Bounds::OPERATOR, &at("https://api.example")).unwrap();
    assert!(super::sole(&read).simplified);
}

#[test]
fn a_long_chain_of_references_is_no_deep_schema() {
    let schemas: serde_json::Map<String, Value> = (0..2000)
        .map(|number| {
            let next = json!({ "$ref": format!("#/components/schemas/S{}", number + 1) });
            (format!("S{number}"), json!({ "type": "object", "properties": { "next": next } }))
        })
        .collect();
    let schema = super::body_schema("3.0.0", json!({ "$ref": "#/components/schemas/S0" }), Value::Object(schemas));
    assert!(schema.to_string().len() < 64 << 10);
}

/// About a megabyte with 450 operations; each schema refers to the one `step` further within its group.
fn large(group: usize) -> String {
    let mut document = sample();
    for number in 0..450 {
        let next = number / group * group + (number + 1) % group;
        let schema = json!({ "type": "object", "description": "d".repeat(1000), "properties": {
            "a": { "type": "string", "description": "e".repeat(900) },
            "b": { "$ref": format!("#/components/schemas/T{next}") },
            "c": { "type": "array", "items": { "$ref": "#/components/schemas/Base" } },
        } });
        let body = json!({ "schema": { "$ref": format!("#/components/schemas/T{number}") } });
        document["components"]["schemas"][format!("T{number}")] = schema;
        document["paths"][format!("/t{number}/{{id}}")] = json!({ "post": {
            "operationId": format!("post{number}"),
            "requestBody": { "content": { "application/json": body } },
        } });
    }
    document.to_string()
}

#[test]
fn a_document_of_a_megabyte_is_read_at_once() {
    let text = large(5);
    assert!(text.len() > 1_000_000, "{}", text.len());
    let start = Instant::now();
    let read = read(&text, Bounds::OPERATOR, &at("https://api.example")).unwrap();
    let took = start.elapsed();
    assert_eq!((read.operations.usable, read.tools.iter().filter(|tool| tool.simplified).count()), (452, 0));
    // A second where nothing else runs; the rest is room for a busy machine.
    println!("{took:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn a_document_whose_every_schema_reaches_all_others_is_read_too() {
    let read = read(&large(450), Bounds::OPERATOR, &at("https://api.example")).unwrap();
    assert_eq!((read.operations.usable, read.tools.iter().filter(|tool| tool.simplified).count()), (452, 450));
}
