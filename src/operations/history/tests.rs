//! The history of a playbook as a caller reads it, through the operations themselves.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{App, Surroundings};
use crate::clock::ManualClock;
use crate::config;
use crate::egress::SystemResolver;
use crate::error::{Problem, Result};
use crate::ids::{Ids, SystemEntropy};
use crate::ledger::{Changed, Event};
use crate::operations::{Answer, Endpoint, admission};
use crate::playbooks;

const PLAYBOOK: &str = "repair-shop";
const START: i64 = 1_790_847_000_000;

/// A server with one playbook.
struct Shop {
    app: Arc<App>,
    clock: Arc<ManualClock>,
    _folder: TempDir,
}

impl Shop {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("playmaker.db").display());
        let environment = config::Environment::from([("DATABASE_URL".to_owned(), url)]);
        let settings = config::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into()))
            .map_err(|refusal| refusal.to_string())
            .unwrap();
        let clock = Arc::new(ManualClock::at(START));
        let surroundings = Surroundings {
            clock: clock.clone(),
            ids: Ids::new(Arc::new(SystemEntropy)),
            account: "ada".into(),
            address: SocketAddr::from(([127, 0, 0, 1], 5555)),
            shared_clock: None,
            resolver: Arc::new(SystemResolver),
            log_secrets: crate::telemetry::SecretRegistry::new(),
        };
        let app = App::start(settings, surroundings).await.unwrap();
        let shop = Self { app, clock, _folder: folder };
        let caller = shop.app.access.local_caller().unwrap();
        for id in [PLAYBOOK, "bike-shop"] {
            playbooks::create(&shop.app.ledger, &caller, START, id.into(), id.into(), String::new()).await.unwrap();
        }
        shop
    }

    /// Records an event of the playbook and gives its id.
    async fn record(&self, kind: &'static str, cause: Option<&str>, data: Value) -> String {
        let caller = self.app.access.local_caller().unwrap();
        let id = self.app.ids.uuid(START).to_string();
        let mut event = Event::history(PLAYBOOK, "calls/one", kind, caller.actor(), data);
        event.id = Some(id.clone());
        event.causation = cause.map(str::to_owned);
        event.correlation = cause.map(str::to_owned);
        let ledger = &self.app.ledger;
        ledger.commit("local", Box::new(move |_| Box::pin(async move { Ok(Changed::by((), event)) }))).await.unwrap();
        id
    }

    async fn call_in(&self, playbook: &str, name: &str, input: Value, over_mcp: bool) -> Result<(Value, String)> {
        let entry = self.app.operations.tool(Endpoint::Own, name).unwrap();
        let caller = self.app.access.local_caller().unwrap();
        let mut context = admission::context(self.app.clone(), caller, over_mcp);
        admission::playbook(entry, &mut context, playbook).await?;
        let Answer { output, summary, .. } = entry.run(context, input).await?;
        Ok((serde_json::from_str(output.get())?, summary))
    }

    async fn call(&self, name: &str, input: Value) -> Result<(Value, String)> {
        self.call_in(PLAYBOOK, name, input, false).await
    }

    async fn refusal(&self, input: Value) -> Problem {
        self.call("list_playbook_events", input).await.unwrap_err()
    }

    /// A call by hand that was answered.
    async fn called(&self) -> (String, String) {
        let begun = json!({ "call_id": "c", "server": "parts", "tool": "find_part", "arguments": { "words": "pump" } });
        let start = self.record("tool_execute_started", None, begun).await;
        let answer = json!({
            "call_id": "c", "is_error": false, "result_bytes": 40, "answer": { "found": 1 }, "result": { "content": [] },
        });
        let end = self.record("tool_execute_answered", Some(&start), answer).await;
        (start, end)
    }
}

fn column<'a>(output: &'a Value, pointer: &str) -> Vec<&'a Value> {
    output["events"].as_array().unwrap().iter().map(|event| event.pointer(pointer).unwrap()).collect()
}

#[tokio::test]
async fn a_call_by_hand_is_read_newest_first_with_what_led_to_it() {
    let shop = Shop::open().await;
    let (start, end) = shop.called().await;
    let (output, summary) = shop.call("list_playbook_events", json!({})).await.unwrap();
    assert_eq!(summary, "Found 2 events of this playbook, newest first, each with its fact and its metadata.");
    assert_eq!(column(&output, "/id"), [&json!(end), &json!(start)]);
    assert_eq!(
        column(&output, "/summary"),
        ["The tool find_part of parts, called by hand, answered.", "The tool find_part of parts was called by hand.",]
    );
    assert_eq!((&output["has_more"], &output["next_cursor"]), (&json!(false), &json!(null)));
    let newest = &output["events"][0];
    assert_eq!(
        newest["data"],
        json!({ "call_id": "c", "is_error": false, "result_bytes": 40, "answer": { "found": 1 } })
    );
    assert_eq!(
        newest["metadata"],
        json!({
            "stream": "calls/one", "position": 2, "global_position": 4,
            "correlation_id": start, "causation_id": start, "at": "2026-10-01T09:30:00.000Z",
            "by": { "type": "local", "id": "local", "name": "ada" },
        })
    );
}

#[tokio::test]
async fn pages_hold_each_event_once_whatever_comes_in_between() {
    let shop = Shop::open().await;
    let mut recorded = Vec::new();
    for number in 0..7 {
        recorded.push(shop.record("tool_execute_failed", None, json!({ "number": number })).await);
    }
    let mut read = Vec::new();
    let mut input = json!({ "limit": 3 });
    loop {
        let (output, _) = shop.call("list_playbook_events", input).await.unwrap();
        read.extend(column(&output, "/id").into_iter().map(|id| id.as_str().unwrap().to_owned()));
        shop.record("tool_execute_failed", None, json!({})).await;
        let Some(next) = output["next_cursor"].as_str() else {
            break;
        };
        input = json!({ "limit": 3, "cursor": next });
    }
    recorded.reverse();
    assert_eq!(read, recorded);
}

#[tokio::test]
async fn a_cursor_is_of_its_playbook_and_filters_alone() {
    let shop = Shop::open().await;
    shop.called().await;
    let (output, _) = shop.call("list_playbook_events", json!({ "limit": 1 })).await.unwrap();
    let cursor = &output["next_cursor"];
    let elsewhere = shop.call_in("bike-shop", "list_playbook_events", json!({ "cursor": cursor }), false).await;
    let otherwise = shop.refusal(json!({ "cursor": cursor, "order": "asc" })).await;
    let broken = shop.refusal(json!({ "cursor": "page-2" })).await;
    for refusal in [&elsewhere.unwrap_err(), &otherwise, &broken] {
        assert_eq!(refusal.issues()[0].pointer, "/cursor");
    }
    assert_ne!(otherwise.detail(), broken.detail());
    // The order that holds anyway may be said or left out.
    assert!(shop.call("list_playbook_events", json!({ "cursor": cursor, "order": "desc" })).await.is_ok());
}

#[tokio::test]
async fn events_are_found_by_type_by_time_and_by_what_they_belong_to() {
    let shop = Shop::open().await;
    let (start, end) = shop.called().await;
    shop.clock.advance_ms(60_000);
    let later =
        shop.record("tool_execute_failed", None, json!({ "because": "timed_out", "detail": "It took long." })).await;
    let ids = async |input| {
        let (output, summary) = shop.call("list_playbook_events", input).await.unwrap();
        (json!(column(&output, "/id")), summary)
    };
    assert_eq!(ids(json!({ "type": "tool_execute_answered" })).await.0, json!([end]));
    assert_eq!(ids(json!({ "since": "2026-10-01T11:30:01+02:00" })).await.0, json!([later]));
    let (tree, summary) = ids(json!({ "run_id": start.to_uppercase() })).await;
    assert_eq!(tree, json!([start, end]));
    assert_eq!(
        summary,
        "Found 2 events of the run asked for in this playbook, oldest first, each with its fact and its metadata."
    );
    assert_eq!(ids(json!({ "type": "run_started" })).await, (json!([]), "No event matches.".into()));
}

#[tokio::test]
async fn what_no_filter_can_be_is_refused_at_its_field() {
    let shop = Shop::open().await;
    for (input, pointer) in [
        (json!({ "type": "playbook_created" }), "/type"),
        (json!({ "since": "2026-10-01" }), "/since"),
        (json!({ "since": "2026-02-30T00:00:00Z" }), "/since"),
        (json!({ "since": "2026-10-01T24:00:00Z" }), "/since"),
        (json!({ "run_id": "one" }), "/run_id"),
        (json!({ "order": "newest" }), "/order"),
        (json!({ "limit": 101 }), "/limit"),
        (json!({ "playbook": "bike-shop" }), "/playbook"),
    ] {
        let refusal = shop.refusal(input.clone()).await;
        assert_eq!((refusal.status(), refusal.issues()[0].pointer.as_str()), (422, pointer), "{input}");
    }
}

#[tokio::test]
async fn one_event_is_whole_and_over_mcp_cut_at_64_kib_a_field() {
    let shop = Shop::open().await;
    let (_, end) = shop.called().await;
    let (event, summary) = shop.call("get_event", json!({ "event_id": end })).await.unwrap();
    assert_eq!(event["data"]["result"], json!({ "content": [] }));
    assert_eq!(summary, "The tool find_part of parts, called by hand, answered.");

    let text = "x".repeat(70_000);
    let large = shop.record("tool_execute_answered", None, json!({ "is_error": true, "result": text })).await;
    let (whole, _) = shop.call("get_event", json!({ "event_id": large })).await.unwrap();
    assert_eq!(whole["data"]["result"], text);
    let (cut, words) = shop.call_in(PLAYBOOK, "get_event", json!({ "event_id": large }), true).await.unwrap();
    assert_eq!(cut["data"], json!({ "is_error": true, "result_bytes": 70_002 }));
    assert!(
        words.ends_with("Too large to show here: its result, told by size alone; the whole is read over HTTP."),
        "{words}"
    );
}

#[tokio::test]
async fn an_event_of_another_playbook_is_not_there() {
    let shop = Shop::open().await;
    let (start, _) = shop.called().await;
    let other = shop.call_in("bike-shop", "get_event", json!({ "event_id": start }), false).await.unwrap_err();
    let unknown = shop.call("get_event", json!({ "event_id": "0".repeat(36) })).await.unwrap_err();
    assert_eq!((other.status(), other.detail()), (404, unknown.detail()));
}

#[tokio::test]
async fn the_history_of_a_retired_playbook_stays_readable() {
    let shop = Shop::open().await;
    shop.called().await;
    let caller = shop.app.access.local_caller().unwrap();
    playbooks::retire(&shop.app.ledger, &caller, START, PLAYBOOK.into()).await.unwrap();
    let (output, _) = shop.call("list_playbook_events", json!({})).await.unwrap();
    assert_eq!(output["events"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_page_ends_after_4_mib_and_goes_on_behind() {
    let shop = Shop::open().await;
    for _ in 0..6 {
        shop.record("tool_execute_answered", None, json!({ "result": "x".repeat(1_000_000) })).await;
    }
    let (first, _) = shop.call("list_playbook_events", json!({})).await.unwrap();
    assert_eq!((column(&first, "/id").len(), &first["has_more"]), (5, &json!(true)));
    let next = json!({ "cursor": first["next_cursor"] });
    let (second, _) = shop.call("list_playbook_events", next).await.unwrap();
    assert_eq!((column(&second, "/id").len(), &second["has_more"]), (1, &json!(false)));
}
