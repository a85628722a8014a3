use std::time::Duration;

use serde_json::{Value, json};

use super::house::{House, refused};
use super::stand_in::SECRET;

#[tokio::test]
async fn a_call_gives_its_answer_and_leaves_two_events() {
    let house = House::build().await;
    let answer = house.execute("crm", "find_contact", json!({ "name": "Ada" })).await.unwrap();
    assert_eq!(answer["outcome"], "result");
    assert_eq!((&answer["text"], &answer["answer"]), (&json!("Found."), &json!({ "asked": { "name": "Ada" } })));
    let calls = house.upstream.calls();
    assert_eq!((calls.len(), calls[0].headers["x-key"].to_str().unwrap()), (1, SECRET));
    assert_eq!(calls[0].body["params"]["_meta"]["playmaker/call_id"], answer["call_id"]);

    let history = house.history().await;
    let kinds: Vec<&str> = history.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["tool_execute_started", "tool_execute_answered"]);
    assert_eq!(history[1].causation_id.as_deref(), Some(history[0].id.as_str()));
    assert_eq!((&history[0].data["call_id"], &history[1].data["call_id"]), (&answer["call_id"], &answer["call_id"]));
    assert_eq!(history[0].data["arguments"], json!({ "name": "Ada" }));
    assert_eq!(history[0].data["read_only"], true);
    assert_eq!(history[1].data["answer"], json!({ "asked": { "name": "Ada" } }));
    assert_eq!((history[0].actor.id.as_str(), &history[1].data["is_error"]), ("local", &json!(false)));
}

#[tokio::test]
async fn an_http_api_is_called_with_the_entrys_headers_and_shows_its_status() {
    let house = House::build().await;
    let answer = house.execute("notes", "getNote", json!({ "id": 7 })).await.unwrap();
    assert_eq!(answer["answer"], json!({ "id": 7, "text": "Buy milk" }));
    assert_eq!(answer["http"], json!({ "status": 200, "headers": { "x-request-id": "r-1" } }));
    assert_eq!(house.upstream.seen("/api/notes/7")[0].headers["x-key"], SECRET);

    let missing = house.execute("notes", "getNote", json!({ "id": 8 })).await.unwrap();
    assert_eq!((&missing["outcome"], &missing["http"]["status"]), (&json!("tool_error"), &json!(404)));
    let broken = house.execute("notes", "breakIt", json!({})).await.unwrap();
    assert_eq!(broken["outcome"], "server_failure");
    let last = house.history().await.pop().unwrap();
    assert_eq!((last.kind.as_str(), &last.data["because"]), ("tool_execute_failed", &json!("server_failure")));

    house.execute("notes", "addNote", json!({ "body": { "text": "x" } })).await.unwrap();
    let sent = &house.upstream.seen("/api/notes")[0];
    assert_eq!((sent.headers.contains_key("idempotency-key"), &sent.body), (true, &json!({ "text": "x" })));
}

#[tokio::test]
async fn a_secret_in_an_answer_is_replaced_wherever_it_is_shown_or_kept() {
    let house = House::build().await;
    let answer = house.execute("crm", "leak", json!({})).await.unwrap();
    assert_eq!(answer["text"], "the key is [secret]");
    let kept: Vec<Value> = house.history().await.into_iter().map(|row| row.data).collect();
    assert!(!format!("{answer} {kept:?}").contains(SECRET));
    let refusal = house.execute("crm", "find_contact", json!({ "name": SECRET })).await.unwrap_err();
    assert_eq!(refusal.issues()[0].pointer, "/arguments");
    assert!(house.upstream.calls().iter().all(|call| call.body["params"]["name"] == "leak"));
}

#[tokio::test]
async fn content_is_not_kept_where_the_entry_says_so() {
    let house = House::build().await;
    house.execute("quiet", "find_contact", json!({ "name": "Ada Lovelace" })).await.unwrap();
    let history = house.history().await;
    assert_eq!((history[0].data.get("arguments"), history[1].data.get("answer")), (None, None));
    assert_eq!((&history[0].data["content_kept"], &history[0].data["arguments_bytes"]), (&json!(false), &json!(23)));
    assert_eq!(history[1].data["result_sha256"].as_str().map(str::len), Some(64));
}

#[tokio::test]
async fn each_refusal_has_its_words_and_sends_nothing() {
    let house = House::build().await;
    let offered = |because| ("unavailable", Some("tool_not_offered"), Some(because), None);
    assert_eq!(refused(house.execute("nowhere", "x", json!({})).await), offered("tool_server_not_configured"));
    assert_eq!(refused(house.execute("closed", "leak", json!({})).await), offered("tool_server_not_configured"));
    assert_eq!(refused(house.execute("quiet", "leak", json!({})).await), offered("tool_not_allowed"));
    assert_eq!(refused(house.execute("quiet", "gone", json!({})).await), offered("tool_not_listed"));
    let invalid = house.execute("crm", "find_contact", json!({ "name": 7, "more": 1 })).await.unwrap_err();
    let pointers: Vec<&str> = invalid.issues().iter().map(|issue| issue.pointer.as_str()).collect();
    assert!(pointers.contains(&"/arguments/name") && pointers.contains(&"/arguments/more"));
    let large = house.execute("crm", "find_contact", json!({ "name": "x".repeat(17_000) })).await.unwrap_err();
    assert_eq!(large.issues()[0].pointer, "/arguments");
    assert!(house.upstream.calls().is_empty() && house.history().await.is_empty());
}

#[tokio::test]
async fn a_server_that_refuses_the_key_is_told_without_asking_to_wait() {
    let house = House::build().await;
    house.upstream.answer_with(401);
    let failed = |because, wait| ("unavailable", Some("tool_server_failed"), Some(because), wait);
    assert_eq!(refused(house.execute("crm", "leak", json!({})).await), failed("key_refused", None));
    house.upstream.answer_with(500);
    assert_eq!(refused(house.execute("notes", "getNote", json!({ "id": 7 })).await), failed("failing", Some(5)));
}

#[tokio::test]
async fn a_refused_key_of_a_call_frees_what_it_held() {
    let house = House::build().await;
    house.execute("notes", "getNote", json!({ "id": 7 })).await.unwrap();
    house.upstream.answer_with(401);
    let failed = ("unavailable", Some("tool_server_failed"), Some("key_refused"), None);
    assert_eq!(refused(house.execute("notes", "getNote", json!({ "id": 7 })).await), failed);
    assert_eq!(house.history().await.last().unwrap().kind, "tool_execute_failed");
}

#[tokio::test]
async fn a_caller_that_leaves_cuts_the_call_and_that_is_recorded() {
    let house = House::build().await;
    {
        let call = house.execute("crm", "slow", json!({}));
        tokio::select! {
            _ = call => panic!("the tool never answers"),
            () = house.upstream.began.notified() => {}
        }
    }
    let row = loop {
        let rows = house.app.ledger.tail("local", 2, 10).await.unwrap();
        if let Some(row) = rows.into_iter().find(|row| row.kind == "tool_execute_failed") {
            break row;
        }
    };
    assert_eq!(row.data["because"], "cancelled");
}

#[tokio::test]
async fn a_stop_cuts_the_calls_in_hand() {
    let house = House::build().await;
    let call = house.execute("crm", "slow", json!({}));
    let stop = async {
        house.upstream.began.notified().await;
        house.app.lifecycle.stop();
    };
    let (answer, ()) = tokio::join!(call, stop);
    assert_eq!(refused(answer).0, "unavailable");
    house.app.lifecycle.drained().await;
    assert_eq!(house.history().await.last().unwrap().data["because"], "cancelled");
}

#[tokio::test]
async fn long_texts_are_cut_and_say_so() {
    let house = House::build().await;
    let answer = house.execute("crm", "long", json!({})).await.unwrap();
    let text = answer["text"].as_str().unwrap();
    assert!(text.len() <= 64 << 10 && text.ends_with("has 100000 bytes.]"));
    assert!(answer.get("answer").is_none() && answer["result_bytes"].as_u64().unwrap() > 100_000);
}

/// A call of a dead server that cannot be read: nobody knows who asked for it.
const UNREADABLE: &str = "INSERT INTO tool_calls (org, call_id, playbook, server, tool, actor, caller, read_only, \
     started_event, started_at, lease_until) VALUES ('local', '0', 'sales', 'crm', 'slow', '', '', FALSE, '', 0, 0)";

#[tokio::test]
async fn a_dead_servers_calls_are_closed_as_lost_whatever_else_fails() {
    let house = House::build().await;
    house.change(UNREADABLE).await;
    let call = house.execute("crm", "slow", json!({}));
    let sweep = async {
        house.upstream.began.notified().await;
        assert_eq!(house.app.tool_servers.sweep().await.unwrap(), 0, "its lease still runs");
        house.clock.advance_ms(50_000);
        let started = house.history().await.pop().unwrap();
        house.app.tool_servers.renew("local", started.data["call_id"].as_str().unwrap()).await.unwrap();
        house.clock.advance_ms(50_000);
        assert_eq!(house.app.tool_servers.sweep().await.unwrap(), 0, "its lease was renewed");
        house.clock.advance_ms(11_000);
        assert_eq!(house.app.tool_servers.sweep().await.unwrap(), 1);
        assert_eq!(house.app.tool_servers.sweep().await.unwrap(), 0);
    };
    tokio::select! {
        _ = call => panic!("the tool never answers"),
        () = sweep => {}
    }
    house.app.lifecycle.stop();
    house.app.lifecycle.drained().await;
    let history = house.history().await;
    let ends: Vec<&Value> = history[1..].iter().map(|row| &row.data["because"]).collect();
    assert_eq!(ends, ["lost"], "the late end of the call itself is not recorded again");
    assert_eq!(Duration::from_millis(history[1].data["duration_ms"].as_u64().unwrap()), Duration::from_secs(111));
}
