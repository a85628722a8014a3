//! The allowance of a key: N allowed is N, whoever asks at once.

use playmaker::identity::Role;
use playmaker::identity::keys::usage::{give_back, reserve};
use playmaker::ledger::{Changed, Ledger, Work};
use serde_json::{Value, json};

use super::House;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Takes a call of the allowance, or gives one back.
async fn take(ledger: &Ledger, id: &str, now_ms: i64, back: Option<i64>) -> Option<i64> {
    let id = id.to_owned();
    let work: Work<Option<i64>> = Box::new(move |connection| {
        Box::pin(async move {
            let taken = match back {
                None => reserve(connection, "north", &id, now_ms).await?,
                Some(from) => give_back(connection, "north", &id, from).await.map(|()| None)?,
            };
            Ok(Changed::nothing(taken))
        })
    });
    ledger.commit("north", work).await.unwrap()
}

async fn limited(house: &House, calls: u32, period: &str) -> String {
    let input = json!({
        "name": format!("of-a-{period}"), "permissions": ["playbook:write"], "usage_limit": calls,
        "usage_period": period, "expires_at": "never",
    });
    let made = house.member(Role::Admin).await.does("create_key", input).await.unwrap();
    made["id"].as_str().unwrap().to_owned()
}

async fn told(house: &House, id: &str) -> (Value, Value) {
    let listed = house.member(Role::Owner).await.does("list_keys", json!({})).await.unwrap();
    let key = listed["keys"].as_array().unwrap().iter().find(|key| key["id"] == id).unwrap().clone();
    (key["usage_count"].clone(), key["status"].clone())
}

/// Security case 75.
#[tokio::test(flavor = "multi_thread")]
async fn of_200_at_once_a_limit_of_100_lets_100_pass() {
    let house = House::open().await;
    let id = limited(&house, 100, "day").await;
    let (ledger, now) = (house.app().ledger.clone(), house.app().clock.now_ms());
    let asked = (0..200).map(|_| take(&ledger, &id, now, None));
    let taken = futures_util::future::join_all(asked).await.into_iter().flatten().count();
    assert_eq!(taken, 100);
    assert_eq!(told(&house, &id).await, (json!(100), json!("exhausted")));
}

#[tokio::test]
async fn a_new_period_begins_anew_and_what_is_given_back_counts_in_its_own() {
    let house = House::open().await;
    let (ledger, now) = (house.app().ledger.clone(), house.app().clock.now_ms());
    for (period, next) in [("day", now + DAY_MS), ("month", now + 31 * DAY_MS)] {
        let id = limited(&house, 1, period).await;
        let from = take(&ledger, &id, now, None).await.unwrap();
        assert_eq!(take(&ledger, &id, now, None).await, None, "{period}");
        take(&ledger, &id, now, Some(from)).await;
        assert_eq!(take(&ledger, &id, now, None).await, Some(from));
        let after = take(&ledger, &id, next, None).await.unwrap();
        assert!(after > from);
        // A server whose clock is behind counts with the others.
        assert_eq!(take(&ledger, &id, now, None).await, None);
        take(&ledger, &id, next, Some(from)).await;
        assert_eq!(take(&ledger, &id, next, None).await, None, "the day before gives nothing back today");
    }
    let id = limited(&house, 2, "total").await;
    assert_eq!(take(&ledger, &id, now, None).await, Some(0));
    assert_eq!(take(&ledger, &id, now + 400 * DAY_MS, None).await, Some(0));
    assert_eq!(take(&ledger, &id, now + 800 * DAY_MS, None).await, None);
    let free = house.member(Role::Admin).await.makes("free").await;
    assert_eq!(take(&ledger, free["id"].as_str().unwrap(), now, None).await, None, "without a limit none is taken");
}
