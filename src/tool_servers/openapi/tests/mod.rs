//! Documents as people write them, and what becomes of them.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use url::Url;

use super::{Bounds, Document, Placement, Prepared, Tool, read};
use crate::error::Issue;

mod answers;
mod hostile;
mod naming;
mod reading;
mod requests;
mod schemas;
mod servers;
mod toolkits;

/// A place with the entry's own address, as most entries have one.
fn at(url: &str) -> Placement {
    Placement { base_url: Some(Url::parse(url).unwrap()), ..Placement::default() }
}

/// A 3.1 document of these paths and components, read for `https://api.example/v1`.
fn document(paths: Value, components: Value) -> Document {
    document_of("3.1.0", paths, components)
}

fn document_of(version: &str, paths: Value, components: Value) -> Document {
    let text = json!({ "openapi": version, "info": { "title": "Shop" }, "paths": paths, "components": components });
    read(&text.to_string(), Bounds::OPERATOR, &at("https://api.example/v1")).unwrap()
}

/// The only tool of a document.
fn sole(document: &Document) -> Arc<Tool> {
    assert_eq!(document.tools.len(), 1, "{:?}", document.unusable);
    Arc::clone(&document.tools[0])
}

/// The tool of one GET operation with these parameters.
fn with_parameters(path: &str, parameters: Value) -> Arc<Tool> {
    sole(&document(json!({ path: { "get": { "parameters": parameters } } }), json!({})))
}

/// The tool of one POST operation with a body of this type.
fn with_body(kind: &str, media: Value) -> Arc<Tool> {
    let body = json!({ "required": true, "content": { kind: media } });
    sole(&document(json!({ "/things": { "post": { "requestBody": body } } }), json!({})))
}

/// The input schema's property `body` of a 3.0 or 3.1 operation, with the definitions beside it.
fn body_schema(version: &str, schema: Value, schemas: Value) -> Value {
    let body = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    let paths = json!({ "/things": { "post": { "requestBody": body } } });
    let input = sole(&document_of(version, paths, json!({ "schemas": schemas }))).input_schema.clone();
    let mut schema = input["properties"]["body"].clone();
    if let (Some(defs), Some(map)) = (input.get("$defs"), schema.as_object_mut()) {
        map.insert("$defs".to_owned(), defs.clone());
    }
    schema
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn request(tool: &Tool, value: Value) -> Result<Prepared, Vec<Issue>> {
    tool.request(&arguments(value), None)
}

fn because(document: &Document) -> Vec<&'static str> {
    document.unusable.iter().map(|one| one.because.word()).collect()
}
