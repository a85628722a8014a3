use serde_json::{Value, json};

use super::document;

fn names(paths: Value) -> Vec<String> {
    let mut names: Vec<String> = document(paths, json!({})).tools.iter().map(|tool| tool.name.clone()).collect();
    names.sort();
    names
}

#[test]
fn an_operation_id_is_cleaned() {
    let named = names(json!({ "/a": { "get": { "operationId": "__list all/pets!!now.v2-b_" } } }));
    assert_eq!(named, ["list_all_pets_now.v2-b"]);
}

#[test]
fn without_an_id_the_method_and_path_name_it() {
    let named = names(json!({
        "/": { "get": {} },
        "/users/{id}/repos": { "get": {}, "post": { "operationId": "!!" } },
    }));
    assert_eq!(named, ["get_root", "get_users_id_repos", "post_users_id_repos"]);
}

#[test]
fn all_operations_of_one_id_are_named_by_their_path() {
    let named = names(json!({
        "/a": { "get": { "operationId": "list" } },
        "/b": { "get": { "operationId": "list" } },
        "/c": { "get": { "operationId": "other" } },
    }));
    assert_eq!(named, ["get_a", "get_b", "other"]);
}

#[test]
fn names_that_are_still_equal_take_a_hash_of_method_and_path() {
    let named = names(json!({ "/a/b": { "get": {} }, "/a_b": { "get": {} } }));
    assert_eq!(named.len(), 2);
    assert!(named.iter().all(|name| name.starts_with("get_a_b_") && name.len() == "get_a_b_".len() + 8));
    let slash = super::super::naming::short_hash("GET /a/b");
    assert!(named.contains(&format!("get_a_b_{slash}")));
}

#[test]
fn a_long_name_keeps_its_start_and_a_hash() {
    let named = names(json!({ "/a": { "get": { "operationId": "x".repeat(300) } } }));
    let hash = super::super::naming::short_hash("GET /a");
    assert_eq!(named, [format!("{}_{hash}", "x".repeat(119))]);
    assert_eq!(named[0].len(), 128);
}
