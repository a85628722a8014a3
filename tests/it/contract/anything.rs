//! Whatever JSON is sent to whatever operation, over HTTP and over MCP, the answer is never an incident.

use playmaker::identity::Role;
use playmaker::operations::{Endpoint, Scope};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::roles::UNHURRIED;
use crate::support::app::TestApp;
use crate::support::people::{Answer, Caller};

/// How many inputs each operation is sent.
const CASES: usize = 24;

/// Texts that were somebody's undoing, beside any other.
fn texts() -> impl Strategy<Value = String> {
    let odd = [
        "",
        "support",
        "nowhere",
        "desk",
        "\0",
        "\u{feff}",
        "\u{202e}",
        "'; DROP TABLE events; --",
        "../../etc/passwd",
        "%00",
        "${PATH}",
        "{{7*7}}",
        "-1",
        "9223372036854775808",
        "null",
        "conn_0123456789ABCDEFGHIJKL",
        "link_0",
        "true",
        "https://example.test/",
        "http://127.0.0.1/",
        "2026-10-01T09:30:00Z",
        "ſ",
        "\u{1F469}\u{200D}\u{1F4BB}",
    ];
    prop_oneof![
        4 => proptest::sample::select(odd.to_vec()).prop_map(str::to_owned),
        2 => "\\PC{0,40}",
        1 => any::<String>(),
        1 => (1_usize..70_000).prop_map(|length| "x".repeat(length)),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(json!(1e308)),
        4 => texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((texts(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value that may fit a schema, so that an input gets past the first check now and then.
fn fitting(schema: &Value, runner: &mut TestRunner) -> Value {
    let draw = |runner: &mut TestRunner, most: usize| (0..most).new_tree(runner).unwrap().current();
    if draw(runner, 5) == 0 {
        return values().new_tree(runner).unwrap().current();
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        return choices[draw(runner, choices.len())].clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            let mut members = Map::new();
            for (name, inner) in &properties {
                let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if (required && draw(runner, 12) > 0) || draw(runner, 3) == 0 {
                    members.insert(name.clone(), fitting(inner, runner));
                }
            }
            if properties.is_empty() || draw(runner, 12) == 0 {
                members
                    .insert(texts().new_tree(runner).unwrap().current(), values().new_tree(runner).unwrap().current());
            }
            members.into()
        }
        Some("array") => (0..draw(runner, 4)).map(|_| fitting(&schema["items"], runner)).collect::<Vec<_>>().into(),
        Some("boolean") => json!(draw(runner, 2) == 0),
        Some("integer") => json!(draw(runner, 120)),
        Some("string") => match schema["pattern"].as_str() {
            Some(pattern) if draw(runner, 4) > 0 => {
                let inner = pattern.trim_start_matches('^').trim_end_matches('$');
                proptest::string::string_regex(inner).unwrap().new_tree(runner).unwrap().current().into()
            }
            _ => texts().new_tree(runner).unwrap().current().into(),
        },
        _ => values().new_tree(runner).unwrap().current(),
    }
}

async fn prepared() -> TestApp {
    let server = TestApp::local().await;
    let body = json!({ "playbook": "support", "name": "Support" });
    server.anyone().post("/v1/orgs/local/playbooks", &body).await.done(201);
    server
}

fn runner() -> TestRunner {
    TestRunner::new(Config::default())
}

fn orderly(at: &str, input: &Value, answer: &Answer) {
    assert!(answer.status < 500 || answer.status == 503, "{at} with {input}: {} {}", answer.status, answer.text);
    if answer.status >= 400 {
        let problem = answer.json();
        assert_eq!(problem["status"], answer.status, "{at} with {input}: {problem}");
        for issue in problem["errors"].as_array().into_iter().flatten() {
            let pointer = issue["pointer"].as_str().unwrap();
            assert!(pointer.is_empty() || pointer.starts_with('/'), "{at} with {input}: {problem}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_input_is_an_incident_over_http() {
    let server = prepared().await;
    let browser = server.anyone().with("origin", &server.origin());
    anything_is_sent(&server, "local", async || browser.clone()).await;
    server.anyone().get("/ready").await.done(200);
}

/// The same where people sign in, so that what a person alone may do is reached too.
#[tokio::test(flavor = "multi_thread")]
async fn no_input_of_an_owner_is_an_incident() {
    let server = TestApp::signing_in_with(&[UNHURRIED]).await;
    // Each operation finds another owner, since some of them end the one who asks.
    let number = std::sync::atomic::AtomicU32::new(0);
    let owner = async || {
        let email = format!("ada{}@north.test", number.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
        Caller::clone(&*server.person("Ada", &email, "north", Role::Owner).await)
    };
    let first = owner().await;
    first.post("/v1/orgs/north/playbooks", &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    anything_is_sent(&server, "north", owner).await;
    server.anyone().get("/ready").await.done(200);
}

async fn anything_is_sent(server: &TestApp, org: &str, somebody: impl AsyncFn() -> Caller) {
    let mut runner = runner();
    for entry in server.app.operations.iter() {
        let declaration = entry.declaration;
        let browser = somebody().await;
        for _ in 0..CASES {
            let mut input = fitting(&entry.input.schema, &mut runner);
            let mut path = declaration.route().replace("{org}", org);
            if declaration.scope == Scope::Playbook {
                path = path.replace("{playbook}", "support");
            }
            while let Some((before, rest)) = path.split_once('{') {
                let (name, after) = rest.split_once('}').unwrap();
                let value = input.as_object_mut().and_then(|fields| fields.remove(name));
                let text = match value {
                    Some(Value::String(text)) if !text.is_empty() => text,
                    other => other.unwrap_or_default().to_string(),
                };
                let text: String = text.chars().take(300).collect();
                let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
                path = format!("{before}{}{after}", encoded.replace('+', "%20").replace('.', "%2E"));
            }
            let answer = match declaration.method.word() {
                "GET" => {
                    let mut query = url::form_urlencoded::Serializer::new(String::new());
                    for (name, value) in input.as_object().into_iter().flatten() {
                        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        let short = |text: &str| text.chars().take(300).collect::<String>();
                        query.append_pair(&short(name), &short(&text));
                    }
                    browser.get(&format!("{path}?{}", query.finish())).await
                }
                "DELETE" => browser.delete(&path).await,
                method => browser.send(method, &path, input.to_string()).await,
            };
            orderly(declaration.id, &input, &answer);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_input_is_an_incident_over_mcp() {
    let (server, mut runner) = (prepared().await, runner());
    let endpoints = [
        (Endpoint::Own, "/mcp"),
        (Endpoint::Org, "/orgs/local/mcp"),
        (Endpoint::Playbook, "/orgs/local/playbooks/support/mcp"),
    ];
    for (endpoint, path) in endpoints {
        for tool in server.anyone().tools(path).await {
            let name = tool["name"].as_str().unwrap();
            assert!(server.app.operations.tool(endpoint, name).is_some());
            for _ in 0..CASES / 2 {
                let mut arguments = fitting(&tool["inputSchema"], &mut runner);
                if arguments.get("playbook").is_some() && name != "create_playbook" && name != "retire_playbook" {
                    arguments["playbook"] = json!("support");
                }
                if name == "retire_playbook" && arguments["playbook"] == "support" {
                    continue;
                }
                let params = json!({ "name": name, "arguments": arguments });
                let answer = server.anyone().ask(path, "tools/call", params).await;
                assert_eq!(answer.status, 200, "{name} with {arguments}: {}", answer.text);
                let message = answer.message();
                if let Some(error) = message.get("error") {
                    assert_eq!(error["code"], -32602, "{name} with {arguments}: {error}");
                } else if message["result"]["isError"] == true {
                    let text = message["result"]["content"][1]["text"].as_str().unwrap();
                    let problem: Value = serde_json::from_str(text).unwrap();
                    assert_ne!(problem["reason"], "internal", "{name} with {arguments}: {problem}");
                }
            }
        }
    }
    server.anyone().get("/ready").await.done(200);
}
