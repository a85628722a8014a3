use std::sync::Arc;

use serde_json::{Value, json};

use super::house::{House, refused};
use super::stand_in::{SECRET, StandIn};
use crate::config::Permission;
use crate::error::Result;
use crate::identity::{Caller, Permissions, Playbooks, Who};

fn names(output: &Value) -> Vec<String> {
    let servers = output["servers"].as_array().unwrap().iter();
    servers
        .flat_map(|server| {
            let tools = server["tools"].as_array().cloned().unwrap_or_default();
            tools
                .into_iter()
                .map(move |tool| format!("{}/{}", server["name"].as_str().unwrap(), tool["name"].as_str().unwrap()))
        })
        .collect()
}

fn key(permissions: &[Permission], playbooks: Playbooks) -> Arc<Caller> {
    Arc::new(Caller {
        org: "local".into(),
        who: Who::Key { id: "k".into(), name: "k".into(), person: None },
        permissions: Permissions::of(permissions),
        playbooks,
        origin: None,
    })
}

#[tokio::test]
async fn the_best_match_comes_first_over_all_servers() {
    let house = House::build().await;
    let found = house.run("search_in_playbook", json!({ "terms": "contact" })).await.unwrap();
    assert_eq!(names(&found), ["crm/find_contact", "quiet/find_contact"]);
    let tool = &found["servers"][0]["tools"][0];
    assert_eq!((&tool["rank"], &tool["arguments"]), (&json!(1), &json!(["name", "key"])));
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    let note = house.run("search_in_playbook", json!({ "terms": "write notes" })).await.unwrap();
    assert_eq!(names(&note)[0], "notes/addNote");
    assert_eq!(note["servers"][0]["operations"]["usable"], 3);
    let none = house.run("search_in_playbook", json!({ "terms": "fimd_contakt" })).await.unwrap();
    assert_eq!((&none["total"], &none["did_you_mean"][0]), (&json!(0), &json!("crm/find_contact")));
}

#[tokio::test]
async fn a_playbook_sees_its_own_servers_and_the_org_all_with_who_may_use_them() {
    let house = House::build().await;
    let own = house.run("search_in_playbook", json!({})).await.unwrap();
    let shown: Vec<&str> =
        own["servers"].as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(shown, ["crm", "notes", "quiet"]);
    assert!(own["servers"][0].get("playbooks").is_none() && own.get("providers").is_none());
    let all = house.run("search", json!({})).await.unwrap();
    assert_eq!(all["servers"][0]["playbooks"], json!(["another"]));
    assert_eq!((&all["servers"][1]["name"], &all["servers"][1]["playbooks"]), (&json!("crm"), &json!(["*"])));
    assert_eq!(all["servers"][1]["left_out"], json!({ "bad_name": 1 }));
    assert_eq!(all["servers"][3]["missing"], json!(["gone"]));
    assert!(all["providers"].as_array().is_some_and(|providers| providers.iter().any(|one| one["name"] == "notion")));
    assert!(!all.to_string().contains(SECRET) && !all.to_string().contains(&house.upstream.base));
}

#[tokio::test]
async fn a_limited_key_names_its_playbook_and_is_shown_no_provider() {
    let house = House::build().await;
    let limited = key(&[Permission::PlaybookRead], Playbooks::Only(vec!["sales".into()]));
    let run = |input| house.run_as(limited.clone(), "search", input);
    assert_eq!(refused(run(json!({})).await.map(|(output, _)| output)).0, "forbidden");
    assert_eq!(refused(run(json!({ "playbook": "another" })).await.map(|(output, _)| output)).0, "forbidden");
    let (found, _) = run(json!({ "playbook": "sales" })).await.unwrap();
    assert!(found.get("providers").is_none() && found["servers"][2].get("missing").is_none());
    assert_eq!(refused(house.run("search", json!({ "playbook": "nowhere" })).await).0, "not_found");
    let unknown = house.run("search", json!({ "server": "nowhere" })).await.unwrap_err();
    assert_eq!(unknown.issues()[0].pointer, "/server");
}

#[tokio::test]
async fn pages_follow_one_another_and_end() {
    let house = House::build().await;
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut input = json!({ "limit": 2 });
        if !cursor.is_null() {
            input["cursor"] = cursor;
        }
        let page = house.run("search_in_playbook", input).await.unwrap();
        found.extend(names(&page));
        assert_eq!(page["total"], 10);
        cursor = page["next_cursor"].clone();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(found.len(), 10);
    assert!(cursor.is_null() && found.is_sorted());
}

#[tokio::test]
async fn a_cursor_counts_for_its_own_search_and_lists_alone() {
    let house = House::build().await;
    let first = house.run("search", json!({ "limit": 2, "terms": "contact" })).await.unwrap();
    let next = |terms| house.run("search", json!({ "limit": 100, "terms": terms, "cursor": first["next_cursor"] }));
    let words = |refused: Result<Value>| {
        let issue = refused.unwrap_err().issues()[0].clone();
        assert_eq!(issue.pointer, "/cursor");
        issue.detail
    };
    next("contact").await.unwrap();
    assert!(words(next("note").await).contains("other filters"));
    let entry = json!({ "url": format!("{}/mcp", house.upstream.base) });
    house.run("add_connection", json!({ "name": "desk", "type": "mcp", "entry": entry })).await.unwrap();
    assert!(words(next("contact").await).contains("the tools changed meanwhile"));
}

#[tokio::test]
async fn an_unreachable_server_is_shown_as_such_and_its_last_list_still_searched() {
    let house = House::build().await;
    house.run("search_in_playbook", json!({})).await.unwrap();
    house.upstream.answer_with(500);
    house.clock.advance_ms(61_000);
    let stale = house.run("search_in_playbook", json!({ "server": "crm" })).await.unwrap();
    assert!(stale["servers"][0]["stale_since"].is_string() && stale["total"] == 6);
    house.clock.advance_ms(3_600_000);
    let gone = house.run("search_in_playbook", json!({ "server": "crm" })).await.unwrap();
    assert_eq!((&gone["servers"][0]["because"], gone["servers"][0].get("tools")), (&json!("failing"), None));
}

#[tokio::test]
async fn lists_are_read_once_for_many_and_again_when_old() {
    let house = House::build().await;
    let lists = || house.upstream.seen("/mcp").iter().filter(|seen| seen.body["method"] == "tools/list").count();
    let run = || house.run("search_in_playbook", json!({ "server": "crm" }));
    let (one, two, three) = tokio::join!(run(), run(), run());
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert_eq!(lists(), 1);
    house.clock.advance_ms(59_000);
    run().await.unwrap();
    assert_eq!(lists(), 1);
    house.clock.advance_ms(2_000);
    run().await.unwrap();
    assert_eq!(lists(), 2);
}

#[tokio::test]
async fn a_tool_is_shown_whole() {
    let house = House::build().await;
    let tool = house.run("introspect", json!({ "server": "notes", "tool": "getNote" })).await.unwrap();
    assert_eq!(
        (&tool["method"], &tool["path"], &tool["type"]),
        (&json!("GET"), &json!("/notes/{id}"), &json!("openapi"))
    );
    assert_eq!(tool["input_schema"]["required"], json!(["id"]));
    let tool = house.run("introspect", json!({ "server": "crm", "tool": "find_contact" })).await.unwrap();
    assert!(tool.get("method").is_none() && tool["description"] == "Finds a person by name.");
}

#[tokio::test]
async fn a_dry_run_tells_each_check_and_calls_nothing() {
    let house = House::build().await;
    let fits = json!({ "server": "notes", "tool": "addNote", "arguments": { "body": { "text": "x" } } });
    let told = house.run("dry_run", fits).await.unwrap();
    assert_eq!(
        (&told["would_call"], &told["destructive"], &told["recorded_as"]),
        (&json!(true), &json!(true), &json!("whole"))
    );
    assert_eq!(
        told["checks"],
        json!({
            "server_known": true, "tool_allowed": true, "connection_ready": "not_a_connection",
            "credential_present": "present", "server_reachable": true, "tool_listed": true
        })
    );
    assert_eq!((&told["request"]["method"], &told["request"]["path"]), (&json!("POST"), &json!("/api/notes")));
    let bad = json!({ "server": "notes", "tool": "getNote", "arguments": { "id": "seven" } });
    let told = house.run("dry_run", bad.clone()).await.unwrap();
    assert_eq!((&told["would_call"], &told["refusal"]["reason"]), (&json!(false), &json!("invalid_input")));
    assert_eq!(told["arguments"]["errors"][0]["pointer"], "/arguments/id");
    assert_eq!(
        house.run("validate", bad).await.unwrap(),
        json!({ "valid": false, "errors": told["arguments"]["errors"] })
    );
    let refusal = house.run("dry_run", json!({ "server": "quiet", "tool": "leak" })).await.unwrap_err().document();
    assert_eq!((&refusal["because"], &refusal["checks"]["tool_allowed"]), (&json!("tool_not_allowed"), &json!(false)));
    assert_eq!(refusal["checks"]["server_reachable"], Value::Null);
    assert!(house.upstream.seen("/api/notes").is_empty() && house.history().await.is_empty());
}

#[tokio::test]
async fn a_reader_learns_that_it_could_not_execute() {
    let house = House::build().await;
    let reader = key(&[Permission::PlaybookRead], Playbooks::All);
    let input = json!({ "server": "crm", "tool": "leak" });
    let (told, words) = house.run_as(reader.clone(), "dry_run", input.clone()).await.unwrap();
    assert_eq!((&told["permission"], &told["refusal"]["reason"]), (&json!(false), &json!("forbidden")));
    assert!(words.ends_with("Nothing was called."));
    assert_eq!(refused(house.run_as(reader, "execute", input).await.map(|(output, _)| output)).0, "forbidden");
}

#[tokio::test]
async fn words_say_what_was_found() {
    let house = House::build().await;
    let (_, words) =
        house.run_as(house.caller.clone(), "search_in_playbook", json!({ "terms": "contact" })).await.unwrap();
    assert_eq!(words, "2 tools on 2 servers match.");
    let (_, words) = house.run_as(house.caller.clone(), "search", json!({ "terms": "notion" })).await.unwrap();
    assert_eq!(words, "No tool matches. A person can connect “Notion” and “Notion (MCP server)”.");
    let (_, words) = house
        .run_as(
            house.caller.clone(),
            "execute",
            json!({ "server": "crm", "tool": "find_contact", "arguments": { "name": "Ada" } }),
        )
        .await
        .unwrap();
    assert_eq!(
        words,
        "The tool “find_contact” of “crm” was called. Its answer: asked: (name: “Ada”). The call is in the history."
    );
}

#[tokio::test]
async fn what_is_shown_is_taken_and_nothing_else() {
    let house = House::build().await;
    let shown = names(&house.run("search_in_playbook", json!({ "limit": 100 })).await.unwrap());
    let tools = ["find_contact", "leak", "refuse", "long", "gone", "getNote", "addNote", "breakIt"];
    for server in ["crm", "quiet", "closed", "notes", "nowhere"] {
        for tool in tools {
            let tried = house.execute(server, tool, json!({})).await;
            let offered = !tried.is_err_and(|problem| problem.kind_word() == Some("tool_not_offered"));
            assert_eq!(offered, shown.contains(&format!("{server}/{tool}")), "{server}/{tool}");
        }
    }
}

#[tokio::test]
async fn an_old_document_is_asked_whether_it_changed_and_kept_while_it_cannot_be_read() {
    let house = House::build().await;
    let day = 24 * 3_600_000 + 1;
    let run = || house.run("search_in_playbook", json!({ "server": "notes" }));
    run().await.unwrap();
    house.clock.advance_ms(day);
    assert_eq!(run().await.unwrap()["total"], 3);
    let asked = house.upstream.seen("/openapi.json");
    assert_eq!((asked.len(), asked[1].headers["if-none-match"].to_str().unwrap()), (2, "\"v1\""));
    house.upstream.answer_with(500);
    house.clock.advance_ms(day);
    let kept = run().await.unwrap();
    assert!(kept["total"] == 3 && kept["servers"][0]["document_stale_since"].is_string());
}

#[tokio::test]
async fn an_org_without_servers_is_told_how_to_come_by_one() {
    let house = House::with(StandIn::start().await, "{}").await;
    let words =
        |id: &'static str, terms: &'static str| house.run_as(house.caller.clone(), id, json!({ "terms": terms }));
    let (_, told) = words("search_in_playbook", "").await.unwrap();
    assert_eq!(told, "No tool server is here yet; whoever runs the server sets one up, or a person adds one.");
    let (_, told) = words("search", "notion").await.unwrap();
    assert!(told.ends_with("a person adds one, or a person connects a provider listed."), "{told}");
}
