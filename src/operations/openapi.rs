//! The OpenAPI 3.1 document, made from the same list as the routes and the tools; it never varies with configuration.

use serde_json::{Map, Value, json};

use super::{Destructive, Entry, Method, Needs, Operations, Scope};
use crate::error::Reason;

impl Operations {
    /// The document.
    pub fn openapi(&self) -> String {
        let mut paths: Map<String, Value> = Map::new();
        for entry in self.iter() {
            let path = paths.entry(entry.declaration.route()).or_insert_with(|| json!({}));
            path[entry.declaration.method.word().to_lowercase()] = operation(entry);
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Playmaker",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Everything a caller can do. The MCP endpoints offer most of these operations as tools.",
            },
            "paths": paths,
            "components": {
                "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
                "schemas": { "Problem": problem() },
            },
            "security": [{ "bearer": [] }, {}],
        })
        .to_string()
    }
}

fn operation(entry: &Entry) -> Value {
    let declaration = entry.declaration;
    let mut responses = Map::new();
    let media_type = if entry.streams { "application/jsonl" } else { "application/json" };
    let content = json!({ media_type: { "schema": entry.output } });
    responses.insert(declaration.success.to_string(), json!({ "description": "Done.", "content": content }));
    responses.insert(
        "default".into(),
        json!({
            "description": "Refused: a problem document says why and what to do.",
            "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
        }),
    );
    let (parameters, body) = fields(entry);
    let mut operation = json!({
        "operationId": declaration.id,
        "summary": declaration.title,
        "description": declaration.description,
        "parameters": parameters,
        "responses": responses,
        "x-permissions": permissions(declaration.needs),
        "x-read-only": declaration.effect.reads,
        "x-destructive": match declaration.effect.destructive {
            Destructive::No => "no",
            Destructive::Yes => "yes",
            Destructive::WhileToolsMayChange => "while tools may change something",
        },
        "x-idempotent": declaration.effect.idempotent,
        "x-open-world": declaration.effect.open_world,
    });
    if let Some(body) = body {
        operation["requestBody"] = body;
    }
    if matches!(declaration.needs, Needs::Session) {
        // The page's own session: a bearer credential is refused.
        operation["security"] = json!([]);
    }
    operation
}

fn permissions(needs: Needs) -> Value {
    match needs {
        Needs::Caller => json!([]),
        Needs::Any(permissions) => json!(permissions),
        Needs::Person => json!(["person"]),
        Needs::Session => json!(["session"]),
    }
}

/// Path fields and query fields as parameters, the others as the body.
fn fields(entry: &Entry) -> (Vec<Value>, Option<Value>) {
    let declaration = entry.declaration;
    let required: Vec<&str> =
        entry.input.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut parameters = Vec::new();
    for name in match declaration.scope {
        Scope::Server | Scope::Link => [].as_slice(),
        Scope::Org => &["org"],
        Scope::Playbook => &["org", "playbook"],
    } {
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    }
    let (mut properties, mut needed) = (Map::new(), Vec::new());
    for (name, schema) in entry.input.schema["properties"].as_object().into_iter().flatten() {
        let in_path = declaration.path.contains(&format!("{{{name}}}"));
        let is_required = required.contains(&name.as_str());
        if in_path || declaration.method == Method::Get {
            let place = if in_path { "path" } else { "query" };
            parameters.push(json!({ "name": name, "in": place, "required": in_path || is_required, "schema": schema }));
        } else {
            properties.insert(name.clone(), schema.clone());
            if is_required {
                needed.push(name.clone());
            }
        }
    }
    let has_body = matches!(declaration.method, Method::Post | Method::Put);
    let body = has_body.then(|| {
        let schema =
            json!({ "type": "object", "properties": properties, "required": needed, "additionalProperties": false });
        json!({ "required": !needed.is_empty(), "content": { "application/json": { "schema": schema } } })
    });
    (parameters, body)
}

fn problem() -> Value {
    let reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.word()).collect();
    let text = json!({ "type": "string" });
    let issue = json!({ "type": "object", "properties": { "detail": text, "pointer": text }, "required": ["detail", "pointer"] });
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "reason"],
        "properties": {
            "type": { "type": "string", "format": "uri" },
            "title": text,
            "status": { "type": "integer" },
            "detail": text,
            "reason": { "enum": reasons },
            "kind": text,
            "because": text,
            "errors": { "type": "array", "items": issue },
            "instance": { "type": "string", "format": "uri" },
        },
    })
}
