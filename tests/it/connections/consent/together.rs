//! Many calls, several servers, and servers that die, at the end of one token (`connections.md` 10.4; security cases 83 to
//! 91 and 101).

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use super::Scene;
use super::renewing::{HOUR, INSIDE};
use crate::support::app::TestApp;
use crate::support::database::on_postgres;
use crate::support::eventually;
use crate::support::simulator::{Fault, Reuse};

const UNHURRIED: [(&str, &str); 3] =
    [("RATE_CALLER", "1000000/1000000"), ("RATE_EXECUTE", "1000000/1000000"), ("STREAMS_CALLER", "1000")];

async fn calls(server: &TestApp) -> bool {
    let arguments = json!({ "server": "sim", "tool": "list_notes", "arguments": {} });
    let called = server.anyone().call(INSIDE, "execute", &arguments).await;
    assert!(!called.is_error, "{}", called.value);
    called.value["outcome"] == "result"
}

impl Scene {
    /// The same connection with a server that takes every call at once, and another one beside it where the database has
    /// room for two.
    async fn unhurried() -> (Self, Option<TestApp>) {
        let scene = Self::connected(|_| {}).await;
        scene.works().await;
        scene.server.app.close().await;
        let server = scene.server.beside(&UNHURRIED).await;
        let other = if on_postgres() { Some(server.beside(&[]).await) } else { None };
        (Self { server, ..scene }, other)
    }

    fn family_lives(&self) -> bool {
        self.simulator.given().iter().any(|token| token.starts_with("sim-refresh") && self.simulator.lives(token))
    }
}

/// Security cases 83 and 84.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_at_the_end_of_a_token_ask_once() {
    let (scene, other) = Scene::unhurried().await;
    scene.server.clock.advance_ms(2 * HOUR);
    let servers = [&scene.server, other.as_ref().unwrap_or(&scene.server)];
    let answers = join_all((0..200).map(|number| calls(servers[number % 2]))).await;
    assert_eq!(answers.into_iter().filter(|worked| *worked).count(), 200);
    assert_eq!(scene.renewals(), 1);
    assert!(scene.family_lives());
}

/// Security case 85: a slow issuer is waited for; one that is too slow makes the calls fail for now, and never breaks the
/// connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_issuer_is_waited_for_and_a_hanging_one_given_up() {
    let (scene, other) = Scene::unhurried().await;
    let servers = [&scene.server, other.as_ref().unwrap_or(&scene.server)];
    scene.simulator.set(|quirks| quirks.reuse = Reuse::EndsFamily { grace_ms: HOUR });
    scene.meets([Fault::Hang]);
    scene.server.clock.advance_ms(2 * HOUR);
    let waiting = join_all((0..20).map(|number| calls(servers[number % 2])));
    let released = async {
        eventually("the request", async || (scene.simulator.held() == 1).then_some(())).await;
        scene.simulator.release();
    };
    let (answers, ()) = tokio::join!(waiting, released);
    assert!(answers.into_iter().all(|worked| worked));
    assert_eq!(scene.renewals(), 1);

    scene.meets([Fault::Hang]);
    scene.server.clock.advance_ms(2 * HOUR);
    // The whole exchange may take twenty seconds; nothing here makes that shorter.
    let problem = scene.is_refused("connection_unavailable").await;
    assert!(!problem.to_string().contains("reconnect"), "{problem}");
    scene.server.clock.advance_ms(2_000);
    scene.works().await;
    assert_eq!(scene.rows().await, ["connection_refresh_failing", "connection_unavailable", "connection_recovered"]);
}

/// A server of its own threads that can be killed in the midst of whatever it does.
struct Mortal {
    runtime: tokio::runtime::Runtime,
    server: Option<TestApp>,
}

impl Mortal {
    /// Takes the place of the scene's server.
    async fn in_place_of(scene: &Scene) -> Self {
        scene.server.app.close().await;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(1).build().unwrap();
        let started = runtime.spawn({
            let beside = scene.server.to_be_beside(&[]);
            async move { beside.start().await }
        });
        Self { server: Some(started.await.unwrap()), runtime }
    }

    /// Whatever it had in hand stops where it is; nothing is finished, nothing given back.
    fn killed(mut self) {
        self.server.take();
        self.runtime.shutdown_background();
    }
}

/// Security cases 86 and 87: the server dies between the exchange and the keeping of what it brought.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_with_new_tokens_costs_at_most_one_reconnect() {
    for (reuse, works) in [(Reuse::EndsFamily { grace_ms: HOUR }, true), (Reuse::EndsFamily { grace_ms: 0 }, false)] {
        let scene = Scene::connected(|_| {}).await;
        scene.simulator.set(|quirks| quirks.reuse = reuse);
        let mortal = Mortal::in_place_of(&scene).await;
        scene.meets([Fault::Hang]);
        scene.server.clock.advance_ms(2 * HOUR);
        let caller = mortal.server.as_ref().unwrap().anyone();
        let call = tokio::spawn(async move {
            let arguments = json!({ "server": "sim", "tool": "list_notes", "arguments": {} });
            let params = json!({ "name": "execute", "arguments": arguments });
            // The server dies under it.
            let _ = tokio::time::timeout(Duration::from_secs(5), caller.ask(INSIDE, "tools/call", params)).await;
        });
        eventually("the request", async || (scene.simulator.held() == 1).then_some(())).await;
        mortal.killed();
        call.abort();
        scene.simulator.release();
        let server =
            eventually("the file is free", async || scene.server.to_be_beside(&[]).try_to_start().await.ok()).await;
        let scene = Scene { server, ..scene };
        // Its claim stands until it lapses.
        scene.server.clock.advance_ms(46_000);
        if works {
            scene.works().await;
            assert_eq!(scene.rows().await, ["connection_refresh_lost"]);
        } else {
            scene.is_refused("connection_broken").await;
            assert_eq!(scene.rows().await, ["connection_refresh_lost", "connection_broken"]);
            assert_eq!(scene.last_row().await.1, json!({ "cause": "lost" }));
            scene.server.clock.advance_ms(HOUR);
            scene.is_refused("connection_broken").await;
        }
        assert_eq!(scene.renewals(), 2, "the old token is tried once more, and no more");
    }
}

/// Security case 89: the row was not moved although the tokens are in the store: whoever comes next publishes them.
#[tokio::test]
async fn tokens_that_were_stored_and_not_published_are_used_without_asking() {
    let scene = Scene::connected(|_| {}).await;
    scene.server.clock.advance_ms(2 * HOUR);
    scene.works().await;
    assert_eq!(scene.renewals(), 1);
    scene.server.database().run("UPDATE connections SET credential_version = 1, expires_at = 0").await;
    scene.server.database().run("UPDATE connection_renewals SET due_at = 0, intent_version = 1").await;
    scene.works().await;
    assert_eq!((scene.renewals(), scene.refresh().await), (1, json!("fresh")));
    assert_eq!(scene.rows().await, Vec::<String>::new());
}

/// Security case 101: a server whose own clock is wrong asks neither too soon nor twice.
#[tokio::test]
async fn a_wrong_clock_of_one_server_does_no_harm() {
    if !on_postgres() {
        return; // One server alone writes a SQLite file, and its clock is the one there is.
    }
    let (scene, _) = Scene::unhurried().await;
    for wrong_ms in [-24 * HOUR, -2 * 60_000, 2 * 60_000, 24 * HOUR] {
        let other = scene.server.beside_at(wrong_ms).await;
        assert!(calls(&other).await);
        assert_eq!(scene.renewals(), 0, "{wrong_ms}");
    }
    scene.server.clock.advance_ms(2 * HOUR);
    let other = scene.server.beside_at(-24 * HOUR).await;
    let (one, two) = tokio::join!(calls(&scene.server), calls(&other));
    assert!(one && two);
    assert_eq!(scene.renewals(), 1);
}
