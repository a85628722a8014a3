//! A reader that follows an org's ledger loses nothing and reads nothing twice, however many write.

use std::collections::HashMap;

use playmaker::ledger::{Actor, Changed, Event, Ledger};
use serde_json::json;

use crate::support::app::TestApp;
use crate::support::database::on_postgres;

const WRITERS: usize = 8;
const EACH: usize = 40;

async fn write(ledger: &Ledger, org: &str, writer: usize, number: usize) {
    // Now and then several events in one commit, and now and then none because the work failed.
    let events = (0..=number % 3).map(|part| {
        let data = json!({ "writer": writer, "number": number, "part": part });
        Event::audit(format!("writers/{writer}"), "written", Actor::system(), data)
    });
    let events: Vec<Event> = events.collect();
    let fails = number % 7 == 3;
    let work = ledger.commit(
        org,
        Box::new(move |_| {
            Box::pin(async move {
                if fails {
                    Err(playmaker::error::Problem::not_found("not this time"))
                } else {
                    Ok(Changed::of((), events))
                }
            })
        }),
    );
    assert_eq!(work.await.is_err(), fails);
}

async fn follow(ledger: Ledger, org: &'static str, expected: usize) -> Vec<(usize, usize, usize)> {
    let (mut position, mut read) = (0, Vec::new());
    while read.len() < expected {
        for row in ledger.tail(org, position, 16).await.unwrap() {
            assert_eq!(row.position, position + 1, "no gap and nothing twice");
            position = row.position;
            let number = |member: &str| usize::try_from(row.data[member].as_u64().unwrap()).unwrap();
            read.push((number("writer"), number("number"), number("part")));
        }
    }
    read
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_writers_lose_and_skip_no_event_for_those_who_follow() {
    let first = TestApp::local().await;
    let mut servers = vec![first];
    if on_postgres() {
        servers.push(servers[0].beside(&[]).await);
    }
    let written: Vec<(usize, usize, usize)> = (0..WRITERS)
        .flat_map(|writer| (0..EACH).map(move |number| (writer, number)))
        .filter(|(_, number)| number % 7 != 3)
        .flat_map(|(writer, number)| (0..=number % 3).map(move |part| (writer, number, part)))
        .collect();
    let readers: Vec<_> =
        servers.iter().map(|server| tokio::spawn(follow(server.app.ledger.clone(), "busy", written.len()))).collect();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let ledger = servers[writer % servers.len()].app.ledger.clone();
            tokio::spawn(async move {
                for number in 0..EACH {
                    write(&ledger, "busy", writer, number).await;
                    write(&ledger, "another", writer, 0).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let mut orders = Vec::new();
    for reader in readers {
        let limit = std::time::Duration::from_secs(60);
        let read = tokio::time::timeout(limit, reader).await.expect("every event is read").unwrap();
        let mut sorted = read.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, written);
        // What one writer wrote is read in the order it was written.
        let mut last: HashMap<usize, (usize, usize)> = HashMap::new();
        for (writer, number, part) in &read {
            let before = last.insert(*writer, (*number, *part));
            assert!(before.is_none_or(|before| before < (*number, *part)));
        }
        orders.push(read);
    }
    assert!(orders.windows(2).all(|pair| pair[0] == pair[1]), "every reader sees the same order");
}

#[tokio::test]
async fn the_events_of_one_commit_are_dense_in_their_order_however_many_they_are() {
    let server = TestApp::local().await;
    let ledger = &server.app.ledger;
    // Of two streams in turn; positions go on where the commit before ended.
    for begin in [0, 600] {
        let events = (begin..begin + 600).map(|number: i64| {
            Event::audit(format!("streams/{}", number % 2), "written", Actor::system(), json!({ "number": number }))
        });
        let events: Vec<Event> = events.collect();
        let work = ledger.commit("busy", Box::new(move |_| Box::pin(async move { Ok(Changed::of((), events)) })));
        work.await.unwrap();
    }
    let rows = ledger.after("busy", 0, 2_000).await.unwrap();
    assert_eq!(rows.len(), 1_200);
    for (number, row) in (0..).zip(&rows) {
        assert_eq!((row.position, &row.data["number"]), (number + 1, &json!(number)));
    }
    for stream in 0..2 {
        let rows = ledger.stream("busy", &format!("streams/{stream}")).await.unwrap();
        let numbers: Vec<i64> = rows.iter().map(|row| row.data["number"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (0..600).map(|number| number * 2 + stream).collect::<Vec<_>>());
    }
}
