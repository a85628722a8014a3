use std::collections::BTreeSet;

use serde_json::{Value, json};
use url::Url;

use super::super::{Bounds, HintsGiven, Place, Placement, read};
use super::{at, because, document, document_of, sole, with_parameters};

#[test]
fn yaml_with_anchors_and_merged_keys_is_read() {
    let text = "
openapi: 3.1.0
info: { title: Notes }
x-common: &common
  summary: Read a note
paths:
  /notes/{id}:
    get:
      <<: *common
      responses:
        200: { description: ok }
";
    let read = read(text, Bounds::PERSON, &at("https://api.example")).unwrap();
    assert_eq!(read.title, "Notes");
    assert_eq!(sole(&read).title, "Read a note");
}

#[test]
fn the_last_of_a_doubled_key_counts_with_a_warning() {
    let text = r#"{"openapi":"3.0.0","info":{"title":"a","title":"b"},"paths":{"/":{"get":{}}}}"#;
    let json = read(text, Bounds::OPERATOR, &at("https://api.example")).unwrap();
    assert_eq!((json.title.as_str(), json.warnings.len()), ("b", 1));
    let text = "openapi: 3.0.0\ninfo:\n  title: a\n  title: b\npaths: { /: { get: {} } }\n";
    let yaml = read(text, Bounds::OPERATOR, &at("https://api.example")).unwrap();
    assert_eq!((yaml.title.as_str(), yaml.warnings.len()), ("b", 1));
}

#[test]
fn what_is_no_document_is_refused_in_clear_words() {
    let refused = |text: &str| read(text, Bounds::PERSON, &at("https://api.example")).unwrap_err().detail;
    assert!(refused("[]").contains("not an object"));
    assert!(refused(r#"{"openapi":"3.0.0"}"#).contains("`paths`"));
    assert!(refused(r#"{"openapi":"4.0.0","paths":{}}"#).contains("unknown"));
    assert!(refused(r#"{"paths":{}}"#).contains("`openapi`"));
    assert!(refused(r#"{"swagger":"2.0","paths":{}}"#).contains("Swagger 2.0"));
    assert!(refused("{\"openapi\": ").contains("JSON"));
    assert!(refused("a: !!python/object x").contains("tag"), "{}", refused("a: !!python/object x"));
    assert!(refused(&" ".repeat((4 << 20) + 1)).contains("bytes"));
    assert!(refused(&format!("a: {}{}", "[".repeat(80), "]".repeat(80))).contains("bound"));
    assert!(refused(&format!("{{\"a\": {}{}}}", "[".repeat(80), "]".repeat(80))).contains("levels"));
    assert!(refused(&format!("[{}0]", "0,".repeat(100_000))).contains("values"));
}

#[test]
fn an_ill_typed_part_spoils_the_smallest_thing() {
    let read = document(
        json!({
            "/ok": { "get": { "parameters": "none", "tags": 7, "responses": [1] } },
            "/bad": 3,
            "/worse": { "get": "x", "post": {} },
            "/schema": { "get": { "parameters": [{ "name": "q", "in": "query", "schema": { "type": 5, "maxLength": "x" } }] } },
        }),
        json!({}),
    );
    assert_eq!((read.operations.total, read.operations.usable), (5, 3));
    assert_eq!(because(&read), ["malformed", "malformed"]);
    assert_eq!(read.operations.by_because["malformed"], 2);
}

#[test]
fn each_cause_is_told() {
    let required = |more: Value| {
        let mut parameter = json!({ "required": true, "schema": {} });
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "get": { "parameters": [parameter] } })
    };
    let one = |path: &str, item: Value| because(&document(json!({ path: item }), json!({})));
    assert_eq!(one("/a", json!({ "$ref": "#/nowhere" })), ["unresolved_ref"]);
    assert_eq!(one("/a", json!({ "$ref": "other.yaml" })), ["remote_ref"]);
    assert_eq!(one("/a", json!({ "get": { "parameters": [{ "$ref": "#/x" }] } })), ["unresolved_ref"]);
    assert_eq!(one("/a", json!({ "get": { "requestBody": { "$ref": "a.json#/x" } } })), ["remote_ref"]);
    assert_eq!(one("/a", required(json!({ "name": "q" }))), ["bad_parameter"]);
    assert_eq!(one("a", json!({ "get": {} })), ["bad_path"]);
    assert_eq!(one("/{a", json!({ "get": {} })), ["bad_path"]);
    assert_eq!(one("/{a}/{a}", json!({ "get": {} })), ["bad_path"]);
    assert_eq!(one("/a/../b", json!({ "get": {} })), ["bad_path"]);
    assert_eq!(one("/a", json!({ "trace": {} })), ["method_not_offered"]);
    assert_eq!(one("/a", required(json!({ "name": "Authorization", "in": "header" }))), ["credential_parameter"]);
    assert_eq!(one("/a", required(json!({ "name": "q", "in": "query", "schema": false }))), ["impossible_input"]);
    assert_eq!(one("/a", json!({ "get": 1 })), ["malformed"]);
}

#[test]
fn operations_after_the_last_that_is_taken_are_over_the_limit() {
    let paths: serde_json::Map<String, Value> =
        (0..600).map(|number| (format!("/p{number:03}"), json!({ "get": {} }))).collect();
    let text = json!({ "openapi": "3.0.0", "paths": paths }).to_string();
    let read = read(&text, Bounds::PERSON, &at("https://api.example")).unwrap();
    assert_eq!((read.operations.usable, read.operations.by_because["over_the_limit"]), (512, 88));
    assert_eq!(read.unusable[0].path, "/p512");
}

#[test]
fn parameters_of_the_path_item_are_merged_and_the_operations_win() {
    let read = document(
        json!({ "/a/{id}": {
            "parameters": [
                { "name": "id", "in": "path", "schema": { "type": "string" } },
                { "$ref": "#/components/parameters/Page" },
            ],
            "get": { "parameters": [{ "name": "page", "in": "query", "required": true, "schema": { "type": "integer" } }] },
        } }),
        json!({ "parameters": { "Page": { "name": "page", "in": "query", "schema": { "type": "string" } } } }),
    );
    let schema = sole(&read).input_schema.clone();
    assert_eq!(schema["properties"]["page"]["type"], "integer");
    assert_eq!(schema["required"], json!(["id", "page"]));
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn the_same_name_in_two_places_and_odd_names_are_told_apart() {
    let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "schema": { "type": "string" } });
    let tool = with_parameters(
        "/a/{id}/{rest}",
        json!([
            parameter("id", "header"),
            parameter("id", "query"),
            parameter("id", "path"),
            parameter("filter[name]", "query"),
            parameter("gone", "path"),
            parameter("Accept", "header"),
            parameter("Mcp-Session", "header"),
            { "name": "old", "in": "query", "deprecated": true, "description": "Old.", "schema": {} },
            { "name": "odd", "in": "query" },
        ]),
    );
    let properties = tool.input_schema["properties"].as_object().unwrap();
    let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["id", "query_id", "header_id", "filter_name", "rest", "old"]));
    assert_eq!(properties["old"], json!({ "deprecated": true, "description": "Old." }));
    assert_eq!(tool.notes.len(), 2, "{:?}", tool.notes);
    assert!(tool.description.contains("Note: "));
}

#[test]
fn a_parameter_called_body_steps_aside_for_the_body() {
    let read = document(
        json!({ "/a": { "post": {
            "parameters": [{ "name": "body", "in": "query", "schema": {} }],
            "requestBody": { "content": { "application/json": {}, "text/csv": {} } },
        } } }),
        json!({}),
    );
    let tool = sole(&read);
    assert!(tool.input_schema["properties"].get("query_body").is_some());
    assert!(tool.notes[0].contains("text/csv"));
}

#[test]
fn keys_are_never_asked_of_an_agent() {
    let paths = json!({ "/a": { "get": {
        "security": [{ "key": [] }],
        "parameters": [
            { "name": "api_key", "in": "query", "schema": {} },
            { "name": "token", "in": "query", "required": true, "schema": {} },
        ],
    } } });
    let components = json!({ "securitySchemes": {
        "key": { "type": "apiKey", "in": "query", "name": "api_key" },
        "bearer": { "type": "http", "scheme": "bearer" },
    } });
    let text = json!({ "openapi": "3.0.0", "paths": paths, "components": components }).to_string();
    let place = Placement { credential: Some((Place::Query, "token".to_owned())), ..at("https://api.example") };
    let read = read(&text, Bounds::OPERATOR, &place).unwrap();
    let tool = sole(&read);
    assert_eq!(tool.input_schema["properties"], json!({}));
    assert!(tool.needs_credential);
    assert_eq!(read.credential_places.len(), 2);
}

#[test]
fn no_security_or_an_empty_alternative_needs_no_credential() {
    let needs = |security: Value| {
        sole(&document(json!({ "/a": { "get": { "security": security } } }), json!({}))).needs_credential
    };
    assert!(!needs(json!([])));
    assert!(!needs(json!([{}, { "key": [] }])));
    assert!(needs(json!([{ "key": [] }])));
}

#[test]
fn titles_and_descriptions_are_plain() {
    let tool = sole(&document(
        json!({ "/a": { "get": {
            "operationId": "listPets", "deprecated": true,
            "description": "All <b>pets</b>.<br/> See <https://pets.example>.<script>x</script>",
        } } }),
        json!({}),
    ));
    assert_eq!(tool.title, "List pets");
    assert_eq!(tool.description, "Deprecated. All pets. See <https://pets.example>.x");
}

#[test]
fn hints_come_from_the_method_unless_the_operator_says_otherwise() {
    let paths = json!({ "/a": { "get": { "operationId": "g" }, "put": { "operationId": "u" }, "post": { "operationId": "p" }, "delete": { "operationId": "d" } } });
    let text = json!({ "openapi": "3.0.0", "paths": paths }).to_string();
    let mut place = at("https://api.example");
    let given = HintsGiven { destructive: Some(false), ..HintsGiven::default() };
    place.hints.insert("p".to_owned(), given);
    place.exclude.insert("d".to_owned());
    place.rename.insert("u".to_owned(), "replace".to_owned());
    let read = read(&text, Bounds::OPERATOR, &place).unwrap();
    let hints: Vec<(&str, bool, bool, bool)> = read
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.hints.read_only, tool.hints.destructive, tool.hints.idempotent))
        .collect();
    assert_eq!(hints, [("g", true, false, true), ("p", false, false, false), ("replace", false, true, true)]);
}

#[test]
fn methods_of_3_2_are_offered_there_alone() {
    let paths = json!({ "/a": { "query": {}, "additionalOperations": { "PURGE": {}, "CONNECT": {} } } });
    assert_eq!(document_of("3.1.0", paths.clone(), json!({})).operations.total, 0);
    let read = document_of("3.2.0", paths, json!({}));
    let names: Vec<&str> = read.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["purge_a", "query_a"]);
    assert_eq!(because(&read), ["method_not_offered"]);
}

#[test]
fn the_answer_asked_for_and_its_schema_come_from_the_responses() {
    let tool = sole(&document(
        json!({ "/a": { "get": { "responses": {
            "200": { "content": { "application/vnd.shop+json; v=1": { "schema": { "$ref": "#/components/schemas/Thing" } } } },
            "404": { "content": { "text/plain": {} } },
        } } } }),
        json!({ "schemas": { "Thing": { "type": "object", "properties": { "id": { "type": "integer", "readOnly": true } } } } }),
    ));
    let prepared = super::request(&tool, json!({})).unwrap();
    assert_eq!(prepared.headers[0].1, "application/vnd.shop+json, */*;q=0.1");
    assert_eq!(tool.output_schema, Some(json!({ "type": "object", "properties": { "id": { "type": "integer" } } })));
}

#[test]
fn the_document_is_read_alike_whatever_the_order_of_its_members() {
    let one = r##"{"openapi":"3.0.0","paths":{"/b":{"get":{"operationId":"x"}},"/a":{"get":{"operationId":"x",
        "parameters":[{"in":"query","name":"q","schema":{"type":"string","maxLength":3}}]}}}}"##;
    let two = r##"{"paths":{"/a":{"get":{"parameters":[{"schema":{"maxLength":3,"type":"string"},"name":"q","in":"query"}],
        "operationId":"x"}},"/b":{"get":{"operationId":"x"}}},"openapi":"3.0.0"}"##;
    let tools = |text: &str| format!("{:?}", read(text, Bounds::OPERATOR, &at("https://api.example")).unwrap().tools);
    assert_eq!(tools(one), tools(two));
}

#[test]
fn a_document_of_a_person_needs_one_certain_address() {
    let text = |servers: Value| json!({ "openapi": "3.0.0", "servers": servers, "paths": {} }).to_string();
    let read_it = |servers: Value| read(&text(servers), Bounds::PERSON, &Placement::default());
    assert_eq!(
        read_it(json!([{ "url": "https://api.example/v1" }])).unwrap().base_url,
        Url::parse("https://api.example/v1").unwrap()
    );
    for servers in [json!([]), json!([{ "url": "/v1" }]), json!([{ "url": "http://a.example" }])] {
        assert!(read_it(servers).unwrap_err().detail.contains("give `url`"));
    }
    let two = json!([{ "url": "https://a.example" }, { "url": "https://b.example" }]);
    assert!(read_it(two).unwrap_err().detail.contains("exactly one"));
}

#[test]
fn a_whole_document_gives_these_tools() {
    let read = read(include_str!("shop.yaml"), Bounds::PERSON, &Placement::default()).unwrap();
    let tools: Vec<Value> = read
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name, "title": tool.title, "description": tool.description, "hints": tool.hints,
                "method": tool.method.as_str(), "path": tool.path, "server": tool.server.as_str(),
                "needs_credential": tool.needs_credential, "input_schema": tool.input_schema,
            })
        })
        .collect();
    let shown = json!({ "operations": read.operations, "unusable": read.unusable, "tools": tools });
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap());
}
