//! Playbooks, from their making to their retirement, over HTTP and MCP (`http-api.md` 5).

use playmaker::ledger::Book;
use serde_json::{Value, json};

use crate::support::app::{BEGINNING_MS, ELSEWHERE, FULL, INSIDE, Key, LIMITED, READER, TestApp};
use crate::support::people::{Caller, pointers};

const PLAYBOOKS: &str = "/v1/orgs/north/playbooks";

fn support() -> Value {
    json!({ "playbook": "support", "name": " Support ", "description": " Answers customers. " })
}

async fn registry(server: &TestApp, org: &str) -> Vec<(String, String)> {
    let rows = server.app.ledger.book(org, Book::Registry).await.unwrap();
    rows.into_iter().map(|row| (row.kind, row.actor.id)).collect()
}

#[tokio::test]
async fn a_playbook_is_made_renamed_and_retired_for_good() {
    let server = TestApp::with_keys(&[FULL]).await;
    let full = server.holder(&FULL);
    let made = full.post(PLAYBOOKS, &support()).await.done(201);
    let at = "2026-10-01T09:30:00.000Z";
    let expected = json!({
        "id": "support", "name": "Support", "description": "Answers customers.", "status": "active",
        "created_at": at, "created_by": "build-bot", "updated_at": at,
    });
    assert_eq!(made, expected);
    assert_eq!(full.get("/v1/orgs/north/playbooks/support").await.done(200), made);

    server.clock.advance_ms(60_000);
    let change = json!({ "name": "Help desk", "description": "" });
    let changed = full.put("/v1/orgs/north/playbooks/support", &change).await.done(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("Help desk"), &json!("")));
    assert_eq!((&changed["created_at"], &changed["updated_at"]), (&json!(at), &json!("2026-10-01T09:31:00.000Z")));

    server.clock.advance_ms(60_000);
    // The same again changes nothing and records nothing.
    assert_eq!(full.put("/v1/orgs/north/playbooks/support", &change).await.done(200), changed);

    let retired = full.post("/v1/orgs/north/playbooks/support/retire", &json!({})).await.done(200);
    assert_eq!((&retired["status"], &retired["retired_at"]), (&json!("retired"), &json!("2026-10-01T09:32:00.000Z")));
    server.clock.advance_ms(60_000);
    assert_eq!(full.post("/v1/orgs/north/playbooks/support/retire", &json!({})).await.done(200), retired);
    let bare = full.request("POST", "/v1/orgs/north/playbooks/support/retire");
    assert_eq!(
        crate::support::people::Answer::of(bare).await.done(200),
        retired,
        "a command without fields needs no body"
    );

    let refused = full.put("/v1/orgs/north/playbooks/support", &change).await.refused(409, "conflict");
    assert_eq!(refused["kind"], "retired");
    assert_eq!(full.post(PLAYBOOKS, &support()).await.refused(409, "conflict")["kind"], "taken");

    assert_eq!(full.get(PLAYBOOKS).await.done(200), json!({ "playbooks": [] }));
    let all = full.get("/v1/orgs/north/playbooks?include_retired=true").await.done(200);
    assert_eq!(all, json!({ "playbooks": [retired] }));

    let words = ["playbook_created", "playbook_updated", "playbook_retired"];
    assert_eq!(registry(&server, "north").await, words.map(|word| (word.to_owned(), "build-bot".to_owned())));
}

#[tokio::test]
async fn an_agent_does_the_same_by_tools_in_words_for_the_person() {
    let server = TestApp::with_keys(&[FULL]).await;
    let agent = server.holder(&FULL);
    for (endpoint, id) in [("/mcp", "support"), ("/orgs/north/mcp", "billing")] {
        let mut words = Vec::new();
        let mut call = async |tool: &'static str, arguments: Value| {
            let called = agent.call(endpoint, tool, &arguments).await;
            words.push(called.words.clone());
            called.done()
        };
        let made = call("create_playbook", json!({ "playbook": id, "name": "Support" })).await;
        assert_eq!(made, agent.get(&format!("{PLAYBOOKS}/{id}")).await.done(200));
        assert_eq!(call("list_playbooks", json!({})).await, json!({ "playbooks": [made] }));
        call("update_playbook", json!({ "playbook": id, "name": "Desk", "description": "d" })).await;
        call("update_playbook", json!({ "playbook": id, "name": "Desk", "description": "d" })).await;
        call("retire_playbook", json!({ "playbook": id })).await;
        call("list_playbooks", json!({})).await;
        let expected = [
            "Created the playbook “Support”. It is active and empty; a function can be saved in it next.",
            "1 playbook: “Support”.",
            "The playbook is now called “Desk”, with its description as given.",
            "Nothing changed; the playbook “Desk” stays as it is.",
            "The playbook “Desk” is retired for good. Its history stays readable.",
            "No playbook yet.",
        ];
        assert_eq!(words, expected);
        let refused = agent.call(endpoint, "create_playbook", &json!({ "playbook": id, "name": "Again" })).await;
        assert_eq!(refused.refused("conflict")["kind"], "taken");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_refused_alike_over_both_protocols() {
    let server = TestApp::with_keys(&[FULL]).await;
    let full = server.holder(&FULL);
    full.post(PLAYBOOKS, &support()).await.done(201);
    let name = |name: &str| json!({ "playbook": "another", "name": name });
    let id = |id: &str| json!({ "playbook": id, "name": "Name" });
    let cases: Vec<(Value, Vec<&str>)> = vec![
        (json!({}), vec!["/name", "/playbook"]),
        (name(""), vec!["/name"]),
        (name(" \t\u{a0} "), vec!["/name"]),
        (name(&"x".repeat(101)), vec!["/name"]),
        (json!({ "playbook": "another", "name": null }), vec!["/name"]),
        (json!({ "playbook": "another", "name": "N\0", "description": "\0" }), vec!["/description", "/name"]),
        (json!({ "playbook": "another", "name": 5, "description": [] }), vec!["/description", "/name"]),
        (json!({ "playbook": "another", "name": "N", "description": "x".repeat(2_001) }), vec!["/description"]),
        (json!({ "playbook": "another", "name": "N", "org": "south" }), vec!["/org"]),
        (id("ab"), vec!["/playbook"]),
        (id(&"a".repeat(49)), vec!["/playbook"]),
        (id("1st-desk"), vec!["/playbook"]),
        (id("Support"), vec!["/playbook"]),
        (id("sup_port"), vec!["/playbook"]),
        (id("support\n"), vec!["/playbook"]),
        (id("süpport"), vec!["/playbook"]),
        (id(""), vec!["/playbook"]),
    ];
    for (input, expected) in cases {
        let over_http = full.post(PLAYBOOKS, &input).await.refused(422, "invalid_input");
        let mut found = pointers(&over_http);
        found.sort();
        assert_eq!(found, expected, "{input}");
        assert_eq!(full.call("/mcp", "create_playbook", &input).await.refused("invalid_input"), over_http, "{input}");
    }
    // The bounds themselves are taken, counted in characters.
    let largest = json!({ "playbook": "a".repeat(48), "name": "ä".repeat(100), "description": "ö".repeat(2_000) });
    full.post(PLAYBOOKS, &largest).await.done(201);

    let missing = full.put("/v1/orgs/north/playbooks/support", &json!({ "name": "Only" })).await;
    assert_eq!(missing.invalid_at(), ["/description"]);
    full.put("/v1/orgs/north/playbooks/nowhere", &json!({ "name": "N", "description": "" }))
        .await
        .refused(404, "not_found");
    full.post("/v1/orgs/north/playbooks/nowhere/retire", &json!({})).await.refused(404, "not_found");
    full.get("/v1/orgs/north/playbooks/nowhere").await.refused(404, "not_found");
    let odd = full.get("/v1/orgs/north/playbooks/%3Cscript%3E").await;
    assert!(!odd.text.contains("script") && [404, 422].contains(&odd.status), "{}", odd.text);
}

#[tokio::test]
async fn of_many_who_make_the_same_one_exactly_one_does() {
    let server = TestApp::with_keys(&[FULL]).await;
    let making = (0..16).map(|_| {
        let caller = server.holder(&FULL);
        tokio::spawn(async move { caller.post(PLAYBOOKS, &support()).await })
    });
    let making: Vec<_> = making.collect();
    let mut made = 0;
    for one in making {
        let answer = one.await.unwrap();
        match answer.status {
            201 => made += 1,
            _ => {
                let kind = answer.refused(409, "conflict")["kind"].take();
                assert!(kind == "taken" || kind == "concurrent_change", "{kind}");
            }
        }
    }
    assert_eq!(made, 1);
    assert_eq!(registry(&server, "north").await.len(), 1);
}

#[tokio::test]
async fn a_limited_key_sees_and_makes_only_its_own() {
    let server = TestApp::with_keys(&[FULL, LIMITED, INSIDE, READER]).await;
    let (full, limited, inside) = (server.holder(&FULL), server.holder(&LIMITED), server.holder(&INSIDE));
    for id in ["other", "support"] {
        full.post(PLAYBOOKS, &json!({ "playbook": id, "name": id })).await.done(201);
    }
    let ids = async |caller: &Caller| {
        let listed = caller.get(PLAYBOOKS).await.done(200);
        let by_tool = caller.call("/mcp", "list_playbooks", &json!({})).await.done();
        assert_eq!(listed, by_tool);
        listed["playbooks"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&full).await, ["other", "support"]);
    assert_eq!(ids(&server.holder(&READER)).await, ["other", "support"]);
    assert_eq!(ids(&limited).await, ["support"]);
    assert_eq!(ids(&inside).await, ["support"]);

    limited.post(PLAYBOOKS, &json!({ "playbook": "not-listed", "name": "N" })).await.refused(403, "forbidden");
    let refused = limited.call("/mcp", "create_playbook", &json!({ "playbook": "not-listed", "name": "N" })).await;
    refused.refused("forbidden");
    limited.post(PLAYBOOKS, &json!({ "playbook": "billing", "name": "N" })).await.done(201);
    let change = json!({ "name": "N", "description": "" });
    limited.put("/v1/orgs/north/playbooks/other", &change).await.refused(403, "forbidden");
    limited.put("/v1/orgs/north/playbooks/nowhere", &change).await.refused(403, "forbidden");
    limited.post("/v1/orgs/north/playbooks/other/retire", &json!({})).await.refused(403, "forbidden");
    inside.get("/v1/orgs/north/playbooks/support").await.refused(403, "forbidden");
}

#[tokio::test]
async fn two_orgs_have_nothing_in_common() {
    let server = TestApp::with_keys(&[FULL, ELSEWHERE]).await;
    let both: [(&Key, &str); 2] = [(&FULL, "north"), (&ELSEWHERE, "south")];
    for (key, org) in both {
        let body = json!({ "playbook": "support", "name": org });
        server.holder(key).post(&format!("/v1/orgs/{org}/playbooks"), &body).await.done(201);
    }
    for (key, org) in both {
        let listed = server.holder(key).call("/mcp", "list_playbooks", &json!({})).await.done();
        assert_eq!(listed["playbooks"].as_array().unwrap().len(), 1);
        assert_eq!(listed["playbooks"][0]["name"], org);
        assert_eq!(registry(&server, org).await, [("playbook_created".to_owned(), key.id.to_owned())]);
    }
}

#[tokio::test]
async fn inside_a_retired_playbook_one_reads_and_does_nothing() {
    let server = TestApp::with_keys(&[FULL]).await;
    let full = server.holder(&FULL);
    full.post(PLAYBOOKS, &support()).await.done(201);
    full.post("/v1/orgs/north/playbooks/support/retire", &json!({})).await.done(200);
    full.get("/v1/orgs/north/playbooks/support/events").await.done(200);
    full.get("/v1/orgs/north/playbooks/support/tool-servers/search").await.done(200);
    let execute = "/v1/orgs/north/playbooks/support/tool-servers/desk/tools/look/execute";
    assert_eq!(full.post(execute, &json!({})).await.refused(409, "conflict")["kind"], "retired");
    let inside = "/orgs/north/playbooks/support/mcp";
    let refused = full.call(inside, "execute", &json!({ "server": "desk", "tool": "look" })).await;
    assert_eq!(refused.refused("conflict")["kind"], "retired");
    assert!(full.tool_names(inside).await.contains(&"execute".to_owned()), "its endpoint lists the same tools");
    assert_eq!(BEGINNING_MS % 1_000, 0);
}
