use serde_json::{Value, json};

use super::{body_schema, document, sole};

#[test]
fn what_is_used_once_stands_in_place_and_what_is_shared_under_definitions() {
    let schemas = json!({
        "Once": { "type": "object", "properties": { "a": { "$ref": "#/components/schemas/Twice" } } },
        "Twice": { "type": "string", "maxLength": 3 },
    });
    let schema = body_schema(
        "3.1.0",
        json!({ "type": "object", "properties": {
            "one": { "$ref": "#/components/schemas/Once" },
            "two": { "$ref": "#/components/schemas/Twice" },
        } }),
        schemas,
    );
    assert_eq!(schema["properties"]["one"]["properties"]["a"]["$ref"], "#/$defs/Twice");
    assert_eq!(schema["properties"]["two"]["$ref"], "#/$defs/Twice");
    assert_eq!(schema["$defs"], json!({ "Twice": { "type": "string", "maxLength": 3 } }));
}

#[test]
fn a_cycle_stays_a_reference_and_arguments_are_checked_through_it() {
    let schemas = json!({ "Node": {
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } } },
        "additionalProperties": false,
    } });
    let schema = body_schema("3.0.3", json!({ "$ref": "#/components/schemas/Node" }), schemas);
    let check = jsonschema::draft202012::new(&schema).unwrap();
    assert!(check.is_valid(&json!({ "children": [{ "children": [] }] })));
    assert!(!check.is_valid(&json!({ "children": [{ "childs": [] }] })));
}

#[test]
fn every_member_of_a_cycle_is_a_definition() {
    let to = |name: &str| json!({ "type": "object", "properties": { "next": { "$ref": format!("#/components/schemas/{name}") } } });
    let schemas = json!({ "A": to("B"), "B": to("C"), "C": to("A"), "Once": to("A") });
    let schema = body_schema("3.0.0", json!({ "$ref": "#/components/schemas/Once" }), schemas);
    let names: Vec<&String> = schema["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(schema["properties"]["next"], json!({ "$ref": "#/$defs/A" }));
}

#[test]
fn a_pattern_that_would_take_more_than_linear_time_is_left_out() {
    let tool = sole(&document(
        json!({ "/a": { "get": { "parameters": [
            { "name": "a", "in": "query", "schema": { "type": "string", "pattern": "^(?!x)[a-z]+$" } },
            { "name": "b", "in": "query", "schema": { "type": "string", "pattern": "^[a-z]+\\d$" } },
        ] } } }),
        json!({}),
    ));
    assert_eq!(tool.input_schema["properties"]["a"], json!({ "type": "string" }));
    assert_eq!(tool.input_schema["properties"]["b"]["pattern"], "^[a-z]+\\d$");
    assert_eq!(tool.notes, ["A pattern that cannot be read was left out."]);
    let check = super::super::checker(&tool.input_schema).unwrap();
    assert!(check.is_valid(&json!({ "b": "x1" })) && !check.is_valid(&json!({ "b": "1" })));
}

#[test]
fn a_schema_made_of_itself_is_left_open() {
    let one = |schemas: Value| {
        let schema = body_schema("3.1.0", json!({ "$ref": "#/components/schemas/A" }), schemas);
        assert!(jsonschema::draft202012::new(&schema).unwrap().is_valid(&json!({ "x": 1 })), "{schema}");
    };
    one(json!({ "A": { "$ref": "#/components/schemas/A" } }));
    one(
        json!({ "A": { "allOf": [{ "$ref": "#/components/schemas/B" }] }, "B": { "allOf": [{ "$ref": "#/components/schemas/A" }] } }),
    );
    one(json!({ "A": { "anyOf": [{ "$ref": "#/components/schemas/A" }, { "type": "object" }] } }));
    one(
        json!({ "A": { "description": "x", "$ref": "#/components/schemas/B" }, "B": { "title": "y", "$ref": "#/components/schemas/A" } }),
    );
}

#[test]
fn references_go_anywhere_in_the_document() {
    let read = document(
        json!({
            "/a~b": { "post": { "requestBody": { "content": { "application/json": { "schema": { "type": "integer", "minimum": 4 } } } } } },
            "/c": { "post": { "requestBody": { "content": { "application/json": { "schema":
                { "$ref": "#/paths/~1a~0b/post/requestBody/content/application~1json/schema" } } } } } },
            "/d": { "post": { "requestBody": { "content": { "application/json": { "schema": { "$ref": "#mark" } } } } } },
            "/e": { "post": { "requestBody": { "content": { "application/json": { "schema": { "$ref": "https://ids.example/thing" } } } } } },
            "/f": { "post": { "requestBody": { "content": { "application/json": { "schema": { "$ref": "https://elsewhere.example/x" } } } } } },
            "/g": { "post": { "requestBody": { "content": { "application/json": { "schema": { "$dynamicRef": "#node" } } } } } },
        }),
        json!({ "schemas": {
            "Marked": { "$anchor": "mark", "type": "boolean" },
            "Named": { "$id": "https://ids.example/thing", "type": "null" },
            "Node": { "$dynamicAnchor": "node", "type": "array" },
        } }),
    );
    let body = |name: &str| {
        let tool = read.tools.iter().find(|tool| tool.name == name).unwrap();
        (tool.input_schema["properties"]["body"].clone(), tool.notes.len())
    };
    assert_eq!(body("post_c"), (json!({ "type": "integer", "minimum": 4 }), 0));
    assert_eq!(body("post_d"), (json!({ "type": "boolean" }), 0));
    assert_eq!(body("post_e"), (json!({ "type": "null" }), 0));
    assert_eq!(body("post_f"), (json!({}), 1));
    assert_eq!(body("post_g"), (json!({ "type": "array" }), 0));
}

#[test]
fn siblings_of_a_reference_count_from_3_1_on() {
    let schemas = json!({ "S": { "type": "string", "description": "theirs" } });
    let schema = json!({ "$ref": "#/components/schemas/S", "description": "ours", "maxLength": 2 });
    assert_eq!(
        body_schema("3.0.0", schema.clone(), schemas.clone()),
        json!({ "type": "string", "description": "ours" })
    );
    let newer = body_schema("3.1.0", schema, schemas);
    assert_eq!((&newer["maxLength"], &newer["description"]), (&json!(2), &json!("ours")));
    assert_eq!(newer["allOf"][0]["type"], "string");
}

#[test]
fn keywords_of_3_0_take_their_newer_form() {
    let shaped = |schema: Value| body_schema("3.0.0", schema, json!({ "S": { "type": "string" } }));
    assert_eq!(
        shaped(json!({ "type": "string", "nullable": true, "enum": ["a"] })),
        json!({ "type": ["string", "null"], "enum": ["a", null] })
    );
    assert_eq!(
        shaped(json!({ "$ref": "#/components/schemas/S", "nullable": true })),
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
    );
    assert_eq!(
        shaped(
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false })
        ),
        json!({ "type": "integer", "exclusiveMinimum": 1, "maximum": 5 })
    );
    assert_eq!(shaped(json!({ "type": "string", "example": "x" })), json!({ "type": "string", "examples": ["x"] }));
    assert_eq!(
        shaped(json!({ "type": "string", "format": "byte", "xml": {}, "externalDocs": {}, "x-a": 1 })),
        json!({ "type": "string", "contentEncoding": "base64" })
    );
    assert_eq!(shaped(json!({ "type": "string", "format": "odd" })), json!({ "type": "string" }));
    assert_eq!(shaped(json!({ "type": "string", "pattern": "(" })), json!({ "type": "string" }));
}

#[test]
fn what_the_service_alone_writes_is_not_asked_for() {
    let schemas = json!({ "Id": { "type": "string", "readOnly": true } });
    let schema = json!({ "type": "object", "required": ["id", "at", "name"], "properties": {
        "id": { "$ref": "#/components/schemas/Id" },
        "at": { "type": "string", "readOnly": true },
        "name": { "type": "string" },
    } });
    assert_eq!(
        body_schema("3.0.0", schema, schemas),
        json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } })
    );
}

#[test]
fn parts_of_plain_objects_become_one_object() {
    let schemas = json!({
        "Base": { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false },
    });
    let schema = json!({ "allOf": [
        { "$ref": "#/components/schemas/Base" },
        { "type": "object", "properties": { "b": { "type": "integer" } } },
    ] });
    assert_eq!(
        body_schema("3.0.0", schema, schemas.clone()),
        json!({
            "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": { "a": { "type": "string" }, "b": { "type": "integer" } },
        })
    );
    let clash =
        json!({ "allOf": [{ "$ref": "#/components/schemas/Base" }, { "properties": { "a": { "type": "integer" } } }] });
    assert_eq!(body_schema("3.0.0", clash, schemas)["allOf"].as_array().unwrap().len(), 2);
}

#[test]
fn one_of_stays_only_while_its_branches_are_apart() {
    let shaped = |schema: Value| body_schema("3.1.0", schema, json!({}));
    assert!(shaped(json!({ "oneOf": [{ "type": "string" }, { "type": "object" }] })).get("oneOf").is_some());
    assert!(shaped(json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] })).get("anyOf").is_some());
    assert!(shaped(json!({ "oneOf": [{ "enum": [1] }, { "const": 2 }] })).get("oneOf").is_some());
    assert!(
        shaped(json!({ "oneOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }] }))
            .get("anyOf")
            .is_some()
    );
}

#[test]
fn a_plain_discriminator_marks_the_branches() {
    let schemas = json!({
        "Cat": { "type": "object", "properties": { "kind": { "type": "string" } } },
        "Dog": { "type": "object", "properties": { "kind": { "type": "string" } } },
    });
    let branches = json!([{ "$ref": "#/components/schemas/Cat" }, { "$ref": "#/components/schemas/Dog" }]);
    let mapping = json!({ "cat": "#/components/schemas/Cat", "dog": "Dog" });
    let schema = json!({ "oneOf": branches, "discriminator": { "propertyName": "kind", "mapping": mapping } });
    let shaped = body_schema("3.0.0", schema, schemas);
    assert_eq!(shaped["oneOf"][1]["properties"]["kind"]["const"], "dog");
    let check = jsonschema::draft202012::new(&shaped).unwrap();
    assert!(check.is_valid(&json!({ "kind": "cat" })));
    assert!(!check.is_valid(&json!({ "kind": "cow" })));
}

#[test]
fn a_schema_over_its_bound_is_simplified_from_below() {
    let leaf = json!({ "type": "object", "description": "Leaf", "properties": { "text": { "type": "string", "description": "y".repeat(900) } } });
    let many: serde_json::Map<String, Value> = (0..40).map(|number| (format!("p{number}"), leaf.clone())).collect();
    let middle = json!({ "type": "object", "properties": many });
    let schema = json!({ "type": "object", "properties": { "a": middle, "b": middle, "c": { "type": "integer" } } });
    let body = json!({ "content": { "application/json": { "schema": schema } } });
    let tool = sole(&document(json!({ "/a": { "post": { "requestBody": body } } }), json!({})));
    assert!(tool.simplified);
    assert!(tool.input_schema.to_string().len() <= 64 << 10);
    let cut = &tool.input_schema["properties"]["body"]["properties"];
    assert_eq!(cut["c"]["type"], "integer");
    assert_eq!(cut["a"]["properties"]["p0"], json!({ "type": "object", "description": "Leaf (simplified)" }));
}

#[test]
fn an_input_that_cannot_be_cut_is_too_large() {
    let parameters: Vec<Value> = (0..400)
        .map(|number| json!({ "name": format!("p{number}"), "in": "query", "description": "z".repeat(1000), "schema": {} }))
        .collect();
    let read = document(json!({ "/a": { "get": { "parameters": parameters } } }), json!({}));
    assert_eq!(super::because(&read), ["too_large"]);
}
