//! Lists of tools: who sees which, with what hints, and that a tool is callable where it is listed and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::app::{FULL, INSIDE, Key, LIMITED, READER, TestApp};
use crate::support::people::Caller;

/// The endpoints of an org's playbook `support`.
fn endpoints(org: &str) -> [String; 3] {
    ["/mcp".to_owned(), format!("/orgs/{org}/mcp"), format!("/orgs/{org}/playbooks/support/mcp")]
}

async fn prepared(server: &TestApp, org: &str, maker: &Caller) {
    let body = json!({ "playbook": "support", "name": "Support" });
    maker.post(&format!("/v1/orgs/{org}/playbooks"), &body).await.done(201);
    let _ = server;
}

async fn names(caller: &Caller, org: &str) -> BTreeMap<String, Vec<String>> {
    let mut listed = BTreeMap::new();
    for endpoint in endpoints(org) {
        listed.insert(endpoint.clone(), caller.tool_names(&endpoint).await);
    }
    listed
}

#[tokio::test]
async fn the_tools_of_the_local_developer() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    prepared(&server, "local", &developer).await;
    insta::assert_json_snapshot!("local", names(&developer, "local").await);
    insta::assert_json_snapshot!("local_in_full", developer.tools("/mcp").await);
}

#[tokio::test]
async fn the_tools_of_keys() {
    let server = TestApp::with_keys(&[FULL, READER, LIMITED, INSIDE]).await;
    prepared(&server, "north", &server.holder(&FULL)).await;
    insta::assert_json_snapshot!("full_key", names(&server.holder(&FULL), "north").await);
    insta::assert_json_snapshot!("read_only_key", names(&server.holder(&READER), "north").await);
    insta::assert_json_snapshot!("limited_key", names(&server.holder(&LIMITED), "north").await);
    insta::assert_json_snapshot!("key_inside_a_playbook", names(&server.holder(&INSIDE), "north").await);
}

/// `mcp.md` 6: title and the hints readOnly, destructive, idempotent, openWorld.
const HINTS: [(&str, &str, [bool; 4]); 15] = [
    ("create_playbook", "Create a playbook", [false, false, false, false]),
    ("list_playbooks", "List playbooks", [true, false, true, false]),
    ("update_playbook", "Rename or describe a playbook", [false, false, true, false]),
    ("retire_playbook", "Retire a playbook", [false, true, true, false]),
    ("list_playbook_events", "Read the playbook's history", [true, false, true, false]),
    ("get_event", "Read one event", [true, false, true, false]),
    ("search", "Search tool servers", [true, false, true, true]),
    ("introspect", "Read a tool", [true, false, true, true]),
    ("dry_run", "Check a tool call", [true, false, true, true]),
    ("execute", "Call a tool", [false, true, false, true]),
    ("add_connection", "Connect a service", [false, false, false, false]),
    ("list_connections", "List connections", [true, false, true, false]),
    ("remove_connection", "Remove a connection", [false, true, true, false]),
    ("get_guide", "Read a guide", [true, false, true, false]),
    ("list_models", "List models", [true, false, true, true]),
];

#[tokio::test]
async fn every_tool_has_its_title_its_hints_a_fitting_description_and_a_plain_schema() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    prepared(&server, "local", &developer).await;
    for endpoint in endpoints("local") {
        for tool in developer.tools(&endpoint).await {
            let name = tool["name"].as_str().unwrap();
            let members: BTreeSet<&str> = tool.as_object().unwrap().keys().map(String::as_str).collect();
            let known = ["name", "title", "description", "inputSchema", "annotations"].into();
            assert_eq!(members, known, "{name}");
            let (_, title, [reads, destroys, again, outside]) =
                HINTS.iter().find(|(known, ..)| *known == name).unwrap_or_else(|| panic!("{name} is not in the table"));
            let annotations = json!({
                "title": title, "readOnlyHint": reads, "destructiveHint": destroys,
                "idempotentHint": again, "openWorldHint": outside,
            });
            assert_eq!((&tool["title"], &tool["annotations"]), (&json!(title), &annotations), "{name}");
            let length = tool["description"].as_str().unwrap().chars().count();
            assert!((40..=1_000).contains(&length), "{name}: {length} characters");

            let schema = &tool["inputSchema"];
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{name}");
            assert!(schema["properties"].is_object() && schema["required"].is_array(), "{name}");
            assert!(schema.get("$schema").is_none(), "{name}");
            plain(name, schema);
            let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            assert!(!fields.iter().any(|field| *field == "org"), "{name} takes an org");
            let first = fields.iter().position(|field| *field == "playbook");
            assert!(first.is_none_or(|index| index == 0), "{name}: playbook comes first: {fields:?}");
            assert!(jsonschema::meta::is_valid(schema), "{name}");
        }
    }
}

/// No combinator and no reference anywhere, and every field described.
fn plain(at: &str, schema: &Value) {
    let Some(object) = schema.as_object() else { return };
    for keyword in ["oneOf", "anyOf", "allOf", "not", "if", "$ref", "$defs", "patternProperties"] {
        assert!(!object.contains_key(keyword), "{at}: {keyword}");
    }
    for (field, inner) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        assert!(inner["description"].as_str().is_some_and(|text| !text.is_empty()), "{at}/{field} has no description");
        plain(&format!("{at}/{field}"), inner);
    }
    for keyword in ["items", "additionalProperties"] {
        plain(&format!("{at}/{keyword}"), &schema[keyword]);
    }
}

#[tokio::test]
async fn execute_is_destructive_only_while_something_outside_can_be_changed() {
    let hint = async |server: &TestApp, caller: &Caller, org: &str| {
        prepared(server, org, caller).await;
        let tools = caller.tools("/mcp").await;
        let execute = tools.iter().find(|tool| tool["name"] == "execute").unwrap();
        execute["annotations"]["destructiveHint"].clone()
    };
    let people_may_add = TestApp::local().await;
    assert_eq!(hint(&people_may_add, &people_may_add.anyone(), "local").await, true);
    let nobody_may = TestApp::with(&[("CONNECTIONS_ADD", "nobody")]).await;
    assert_eq!(hint(&nobody_may, &nobody_may.anyone(), "local").await, false);
    let keys_alone = TestApp::with_keys(&[FULL]).await;
    assert_eq!(hint(&keys_alone, &keys_alone.holder(&FULL), "north").await, false);
}

#[tokio::test]
async fn nobody_who_may_not_add_is_offered_to_add() {
    let server = TestApp::with(&[("CONNECTIONS_ADD", "nobody")]).await;
    let developer = server.anyone();
    assert!(!developer.tool_names("/mcp").await.contains(&"add_connection".to_owned()));
    let error = developer.try_call("/mcp", "add_connection", &json!({ "provider": "notion" })).await.unwrap_err();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("Unknown tool: add_connection")));
}

#[tokio::test]
async fn a_tool_that_is_unknown_is_named_back_and_cut() {
    let server = TestApp::local().await;
    let long = "ä".repeat(300);
    for (name, shown) in [("no_such_tool", "no_such_tool"), ("get_playbook", "get_playbook"), (&long, &"ä".repeat(128))]
    {
        let error = server.anyone().try_call("/mcp", name, &json!({})).await.unwrap_err();
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().starts_with(&format!("Unknown tool: {shown}")), "{error}");
        assert!(error["message"].as_str().unwrap().chars().count() < 150, "{error}");
    }
}

/// Each set of permissions, everywhere or in one playbook.
fn every_key() -> Vec<Key> {
    let all = ["org:read", "org:write", "playbook:read", "playbook:write"];
    let mut keys = Vec::new();
    for set in 1..16_usize {
        let permissions: Vec<&str> = (0..4).filter(|bit| set >> bit & 1 == 1).map(|bit| all[bit]).collect();
        for playbooks in [None, Some(["support"].as_slice())] {
            let id: &str = format!("key-{set}-{}", playbooks.is_some()).leak();
            let text: &str = format!("a-key-with-some-permissions-{id}").leak();
            keys.push(Key { id, text, permissions: permissions.clone().leak(), playbooks, ..FULL });
        }
    }
    keys
}

#[tokio::test]
async fn whatever_a_caller_holds_it_may_call_what_is_listed_and_nothing_else() {
    let keys = every_key();
    let mut all = keys.clone();
    all.push(FULL);
    let server = TestApp::with_keys(&all).await;
    prepared(&server, "north", &server.holder(&FULL)).await;
    let every: BTreeSet<&str> = server.app.operations.iter().map(|entry| entry.declaration.name).collect();
    for key in &keys {
        let caller = server.holder(key);
        for endpoint in endpoints("north") {
            let listed = caller.tool_names(&endpoint).await;
            for name in &every {
                // With next to nothing: refused by the operation, or harmless. Who reaches one playbook alone names it.
                let names_it = *name == "search" && key.playbooks.is_some() && !endpoint.contains("/playbooks/");
                let arguments = if names_it { json!({ "playbook": "support" }) } else { json!({}) };
                let called = caller.try_call(&endpoint, name, &arguments).await;
                let is_listed = listed.iter().any(|one| one == name);
                match called {
                    Ok(called) => {
                        assert!(is_listed, "{} calls {name} at {endpoint} though it is not listed", key.id);
                        let forbidden = called.is_error && called.value["reason"] == "forbidden";
                        assert!(!forbidden, "{} is offered {name} at {endpoint} and refused", key.id);
                    }
                    Err(error) => {
                        assert!(!is_listed && error["code"] == -32602, "{} {name} at {endpoint}: {error}", key.id);
                    }
                }
            }
        }
    }
}
