//! Listing keys: whose, which, and page by page.

use playmaker::identity::Role;
use serde_json::{Value, json};

use super::{House, at, text};

fn names(page: &Value) -> Vec<&str> {
    page["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_admin_sees_every_key_and_anybody_else_their_own() {
    let house = House::open().await;
    let (admin, member) = (house.member(Role::Admin).await, house.member(Role::Member).await);
    let viewer = house.member(Role::Viewer).await;
    admin.makes("first").await;
    house.server.clock.advance_ms(1);
    let own = member.makes("mine").await;
    let all = admin.does("list_keys", json!({})).await.unwrap();
    assert_eq!(names(&all), ["build-bot", "mine", "first"]);
    assert_eq!((&all["has_more"], &all["next_cursor"]), (&json!(false), &Value::Null));
    let configured = &all["keys"][0];
    let of = |field: &str| configured[field].clone();
    assert_eq!([of("source"), of("status"), of("display")], [json!("configuration"), json!("active"), Value::Null]);
    assert_eq!(of("playbooks"), "*");
    assert!(!all.to_string().contains("sha256") && !all.to_string().contains(text(&own)));

    assert_eq!(names(&member.does("list_keys", json!({})).await.unwrap()), ["mine"]);
    assert_eq!(names(&viewer.does("list_keys", json!({})).await.unwrap()), Vec::<&str>::new());
    let of_member = json!({ "person": member.caller.id() });
    for who in [&admin, &member] {
        assert_eq!(names(&who.does("list_keys", of_member.clone()).await.unwrap()), ["mine"]);
    }
    assert_eq!(names(&viewer.does("list_keys", of_member).await.unwrap()), Vec::<&str>::new());
}

#[tokio::test]
async fn pages_go_on_where_one_ended_and_filters_leave_nothing_out() {
    let house = House::open().await;
    let admin = house.member(Role::Admin).await;
    for number in 0..7 {
        let made = admin.makes(&format!("key-{number}")).await;
        if number % 2 == 0 {
            admin.does("revoke_key", json!({ "id": made["id"] })).await.unwrap();
        }
        house.server.clock.advance_ms(1);
    }
    for (status, expected) in [
        (None, vec!["build-bot", "key-6", "key-5", "key-4", "key-3", "key-2", "key-1", "key-0"]),
        (Some("active"), vec!["build-bot", "key-5", "key-3", "key-1"]),
        (Some("revoked"), vec!["key-6", "key-4", "key-2", "key-0"]),
        (Some("expired"), vec![]),
    ] {
        for limit in [1, 2, 3, 100] {
            let (mut found, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let mut input = json!({ "limit": limit });
                if let Some(status) = status {
                    input["status"] = json!(status);
                }
                if let Some(cursor) = &cursor {
                    input["cursor"] = json!(cursor);
                }
                let page = admin.does("list_keys", input).await.unwrap();
                assert!(names(&page).len() <= limit);
                found.extend(names(&page).into_iter().map(str::to_owned));
                cursor = page["next_cursor"].as_str().map(str::to_owned);
                assert_eq!(page["has_more"], cursor.is_some());
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{status:?} by {limit}");
        }
    }
    let cursor = admin.does("list_keys", json!({ "limit": 1 })).await.unwrap()["next_cursor"].clone();
    assert_eq!(at(admin.does("list_keys", json!({ "cursor": cursor, "status": "revoked" })).await), "/cursor");
}
