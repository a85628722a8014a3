//! The OpenAPI document: valid 3.1, complete, and the same whatever is configured (decision D15).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::app::{FULL, TestApp};

async fn document(server: &TestApp) -> Value {
    server.anyone().get("/openapi.json").await.done(200)
}

#[tokio::test]
async fn it_is_as_recorded_and_never_varies() {
    let local = document(&TestApp::local().await).await;
    let keys = TestApp::with_keys(&[FULL]).await;
    assert_eq!(document(&keys).await, local);
    assert_eq!(document(&TestApp::closed().await).await, local);
    let with_key = keys.holder(&FULL).get("/openapi.json").await.done(200);
    assert_eq!(with_key, local);
    assert_eq!(playmaker::operations::Operations::all().openapi(), local.to_string());
    insta::assert_json_snapshot!("openapi", local);
}

#[tokio::test]
async fn it_is_a_valid_document_of_3_1() {
    let document = document(&TestApp::local().await).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with("/v1/"), "{path}");
        for (method, operation) in item.as_object().unwrap() {
            let at = format!("{method} {path}");
            assert!(["get", "post", "put", "delete"].contains(&method.as_str()), "{at}");
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{at}: the id is used twice");
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{at}");
            parameters(&at, path, operation);
            body(&at, operation);
            let success =
                operation["responses"].as_object().unwrap().iter().find(|(status, _)| status.starts_with('2'));
            // One answer has no bound: it comes as lines.
            let streams = operation["operationId"] == "export_audit";
            let media_type = if streams { "application/jsonl" } else { "application/json" };
            let schema = &success.unwrap_or_else(|| panic!("{at} never succeeds")).1["content"][media_type]["schema"];
            assert_eq!(schema["type"], "object", "{at} gives its output's schema");
            assert!(operation["responses"]["default"].is_object(), "{at} says how it refuses");
        }
    }
    references(&document, &document);
}

/// Each parameter of the path is declared, once and required, and none that is not in it.
fn parameters(at: &str, path: &str, operation: &Value) {
    let in_path: BTreeSet<&str> =
        path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let mut declared = BTreeSet::new();
    for parameter in operation["parameters"].as_array().unwrap() {
        let (name, place) = (parameter["name"].as_str().unwrap(), parameter["in"].as_str().unwrap());
        assert!(declared.insert((place, name)), "{at}: {name} is declared twice");
        assert_eq!(place == "path", in_path.contains(name), "{at}: {name}");
        assert!(place != "path" || parameter["required"] == true, "{at}: {name}");
        assert!(jsonschema::meta::is_valid(&parameter["schema"]), "{at}: {name}");
        assert!(at.starts_with("get") || place == "path", "{at}: a command takes no query");
    }
    for name in in_path {
        assert!(declared.contains(&("path", name)), "{at}: {name} is not declared");
    }
}

fn body(at: &str, operation: &Value) {
    match operation.get("requestBody") {
        None => assert!(at.starts_with("get") || at.starts_with("delete"), "{at} takes no body"),
        Some(body) => {
            assert!(at.starts_with("post") || at.starts_with("put"), "{at} takes a body");
            let schema = &body["content"]["application/json"]["schema"];
            assert!(jsonschema::meta::is_valid(schema) && schema["additionalProperties"] == false, "{at}");
        }
    }
}

/// Every `$ref` leads somewhere, and every schema beside it is one.
fn references(document: &Value, value: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} leads out"));
                assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
            }
            if let Some(schema) = members.get("schema") {
                assert!(jsonschema::meta::is_valid(schema), "{schema}");
            }
            members.values().for_each(|inner| references(document, inner));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(document, inner)),
        _ => {}
    }
}

#[tokio::test]
async fn it_lists_what_is_routed_and_who_may_what() {
    let server = TestApp::local().await;
    let document = document(&server).await;
    for entry in server.app.operations.iter() {
        let declaration = entry.declaration;
        let at = format!("{} {}", declaration.method.word(), declaration.route());
        let operation = &document["paths"][declaration.route()][declaration.method.word().to_lowercase()];
        assert_eq!(operation["operationId"], declaration.id, "{at}");
        // Every documented route is there: it is refused by its org, its link or its input, never as unknown.
        let path = declaration.route().replace("{org}", "south").replace(['{', '}'], "");
        let answer = server.anyone().send(declaration.method.word(), &path, "{}").await;
        assert!(answer.status != 405, "{at}: {}", answer.text);
        assert!(!answer.text.contains("nothing at this path"), "{at}: {}", answer.text);
    }
}
