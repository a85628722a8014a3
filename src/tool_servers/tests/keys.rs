use serde_json::json;

use super::house::{House, refused};
use crate::tool_servers::execute::Call;

#[tokio::test]
async fn no_call_begins_in_a_playbook_that_was_retired_meanwhile() {
    let house = House::build().await;
    let servers = &house.app.tool_servers;
    let (_, found) = servers.check("local", "sales", "crm", "find_contact").await.unwrap();
    house.run("retire_playbook", json!({ "playbook": "sales" })).await.unwrap();
    let call = Call {
        org: "local".into(),
        playbook: "sales".into(),
        actor: house.caller.actor(),
        server: "crm".into(),
        tool: "find_contact".into(),
        arguments: serde_json::Map::new(),
        idempotency_key: None,
    };
    let refusal = servers.execute(found.unwrap(), call).await.unwrap_err();
    assert_eq!((refusal.reason().word(), refusal.kind_word()), ("conflict", Some("retired")));
    assert!(house.upstream.calls().is_empty() && house.history().await.is_empty());
}

#[tokio::test]
async fn the_same_call_under_one_key_is_made_once() {
    let house = House::build().await;
    let first = house.keyed("find_contact", "k1", json!({ "name": "Ada" })).await.unwrap();
    let again = house.keyed("find_contact", "k1", json!({ "name": "Ada" })).await.unwrap();
    assert_eq!((first.get("replayed"), &again["replayed"]), (None, &json!(true)));
    assert_eq!((&first["call_id"], &first["answer"]), (&again["call_id"], &again["answer"]));
    assert_eq!((house.upstream.calls().len(), house.history().await.len()), (1, 2));

    let other = house.keyed("find_contact", "k1", json!({ "name": "Grace" })).await;
    assert_eq!(refused(other), ("conflict", Some("taken"), None, None));
    house.clock.advance_ms(24 * 3_600_000);
    house.keyed("find_contact", "k1", json!({ "name": "Grace" })).await.unwrap();
}

#[tokio::test]
async fn the_keys_answer_needs_no_server() {
    let house = House::build().await;
    house.keyed("refuse", "k1", json!({})).await.unwrap();
    house.upstream.answer_with(500);
    house.clock.advance_ms(120_000);
    assert_eq!(house.keyed("refuse", "k1", json!({})).await.unwrap()["outcome"], "tool_error");
}

#[tokio::test]
async fn a_call_still_going_holds_its_key_and_a_cut_one_leaves_its_effect_unknown() {
    let house = House::build().await;
    for (tool, effect) in [("slow", Some("effect_unknown")), ("slow_read", None)] {
        let call = house.keyed(tool, tool, json!({}));
        let again = async {
            house.upstream.began.notified().await;
            house.keyed(tool, tool, json!({})).await
        };
        tokio::select! {
            _ = call => panic!("the tool never answers"),
            again = again => assert_eq!(refused(again).1, Some("concurrent_change")),
        }
        let ended = |rows: &[crate::ledger::Row]| rows.last().is_some_and(|row| row.kind == "tool_execute_failed");
        let mut seen = house.history().await;
        while !ended(&seen) {
            let last = seen.last().map_or(0, |row| row.position);
            house.app.ledger.tail("local", last, 10).await.unwrap();
            seen = house.history().await;
        }
        match effect {
            Some(_) => assert_eq!(refused(house.keyed(tool, tool, json!({})).await).1, effect),
            // What only reads is called again.
            None => tokio::select! {
                _ = house.keyed(tool, tool, json!({})) => panic!("the tool never answers"),
                () = house.upstream.began.notified() => {}
            },
        }
    }
}
