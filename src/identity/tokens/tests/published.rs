//! The key set of an issuer over time: how often it is asked for, and what holds when it cannot be had.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{MockIssuer, NOW_MS, NOW_S, PUBLIC, Signer, external_payload, identity, ok, set, with};
use crate::clock::ManualClock;
use crate::egress::{Client, Policy};
use crate::identity::tokens::{Checker, Failure, Keys, Published, Rules};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// An issuer on loopback, the checker of its tokens and a clock that stands still.
pub(super) struct World {
    pub(super) mock: MockIssuer,
    pub(super) checker: Checker,
    pub(super) published: Arc<Published>,
    pub(super) clock: Arc<ManualClock>,
}

impl World {
    /// With the keys at `/jwks`, found without discovery.
    pub(super) async fn new() -> Self {
        let mock = MockIssuer::new().await;
        let jwks = mock.url("/jwks");
        Self::with(mock, &[("IDENTITY_JWKS_URL", &jwks)])
    }

    pub(super) fn with(mock: MockIssuer, variables: &[(&str, &str)]) -> Self {
        let identity = identity(&mock.url(""), variables);
        let clock = Arc::new(ManualClock::at(NOW_MS));
        let egress = Client::new(Policy::default()).unwrap();
        let published = Published::new(&identity, egress, clock.clone());
        let keys = Keys::Published(Arc::clone(&published));
        let checker = Checker::new(Rules::external(&identity), keys, clock.clone());
        Self { mock, checker, published, clock }
    }

    /// Publishes these keys, with `headers`.
    pub(super) fn publish(&self, headers: &str, signers: &[&Signer]) {
        self.mock.answer("/jwks", ok(headers, set(signers).to_string()));
    }

    /// A token of this key that does not end while a test moves the clock.
    pub(super) fn token(&self, signer: &Signer) -> String {
        let payload = with(external_payload(&self.mock.url("")), "iat", Value::Null);
        signer.token(&with(payload, "exp", json!(NOW_S + 1_000_000)))
    }

    /// Why a token of this key is not taken, or `good`.
    pub(super) async fn verdict(&self, signer: &Signer) -> &'static str {
        self.verdict_of(&self.token(signer)).await
    }

    pub(super) async fn verdict_of(&self, token: &str) -> &'static str {
        match self.checker.check(token).await {
            Ok(_) => "good",
            Err(Failure::Refused(refused)) => refused.cause(),
            Err(Failure::Unavailable) => "unavailable",
        }
    }

    pub(super) fn fetches(&self) -> usize {
        self.mock.count("/jwks")
    }
}

const UNKNOWN: &str = "its key is not in the key set";

/// Security case 7: 1,000 unknown key ids, at once and one after the other, cost one fetch in 30 s.
#[tokio::test]
async fn a_storm_of_unknown_keys_costs_one_fetch() {
    let world = World::new().await;
    let good = Signer::es256("good");
    world.publish("", &[&good]);
    let stranger = Signer::es256("x");
    let payload = external_payload(&world.mock.url(""));
    let unknown =
        |number: usize| stranger.token_with(&with(stranger.header(), "kid", format!("k{number}").into()), &payload);

    let cold: Vec<String> = (0..1_000).map(unknown).collect();
    let verdicts = join_all(cold.iter().map(|token| world.verdict_of(token))).await;
    assert!(verdicts.iter().all(|verdict| *verdict == UNKNOWN), "{verdicts:?}");
    assert_eq!(world.fetches(), 1);

    assert_eq!(world.verdict(&good).await, "good");
    for number in 1_000..1_100 {
        assert_eq!(world.verdict_of(&unknown(number)).await, UNKNOWN);
    }
    world.clock.advance_ms(29_999);
    assert_eq!(world.verdict_of(&unknown(1)).await, UNKNOWN);
    assert_eq!(world.fetches(), 1);

    world.clock.advance_ms(1);
    join_all(cold.iter().map(|token| world.verdict_of(token))).await;
    assert_eq!(world.fetches(), 2);
}

/// Security case 7: a new key is found by the one fetch that an unknown id gets.
#[tokio::test]
async fn a_new_key_is_found_at_once() {
    let world = World::new().await;
    let (old, new) = (Signer::es256("old"), Signer::es256("new"));
    world.publish("", &[&old]);
    assert_eq!(world.verdict(&old).await, "good");
    world.publish("", &[&old, &new]);
    assert_eq!((world.verdict(&new).await, world.fetches()), ("good", 2));
    assert_eq!((world.verdict(&old).await, world.fetches()), ("good", 2));
}

/// Security case 7: a key that was taken out stops at the next good fetch, after ten minutes at most.
#[tokio::test]
async fn a_removed_key_stops_at_the_next_fetch() {
    let world = World::new().await;
    let (kept, removed) = (Signer::es256("kept"), Signer::es256("removed"));
    world.publish("", &[&kept, &removed]);
    assert_eq!(world.verdict(&removed).await, "good");
    world.publish("", &[&kept]);
    world.clock.advance_ms(7 * MINUTE_MS);
    assert_eq!((world.verdict(&removed).await, world.fetches()), ("good", 1), "remembered, and the set is fresh");
    world.clock.advance_ms(3 * MINUTE_MS);
    assert_eq!((world.verdict(&removed).await, world.fetches()), (UNKNOWN, 2));
    assert_eq!(world.verdict(&kept).await, "good");
}

#[tokio::test]
async fn an_ageing_set_is_renewed_while_it_is_used() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    world.publish("", &[&signer]);
    assert_eq!(world.verdict(&signer).await, "good");
    world.clock.advance_ms(8 * MINUTE_MS);
    assert_eq!(world.verdict(&signer).await, "good");
    world.published.settled().await;
    assert_eq!(world.fetches(), 2);
    world.clock.advance_ms(7 * MINUTE_MS);
    assert_eq!((world.verdict(&signer).await, world.fetches()), ("good", 2));
}

#[tokio::test]
async fn max_age_counts_within_a_minute_and_an_hour() {
    for (header, fresh_ms) in [
        ("Cache-Control: public, max-age=300\r\n", 5 * MINUTE_MS),
        ("Cache-Control: MAX-AGE=\"300\"\r\n", 5 * MINUTE_MS),
        ("Cache-Control: max-age=0\r\n", MINUTE_MS),
        ("Cache-Control: max-age=-5\r\n", MINUTE_MS),
        ("Cache-Control: max-age=99999999999\r\n", HOUR_MS),
        ("Cache-Control: max-age=soon\r\n", 10 * MINUTE_MS),
        ("Cache-Control: no-store\r\n", 10 * MINUTE_MS),
    ] {
        let world = World::new().await;
        let (kept, removed) = (Signer::es256("kept"), Signer::es256("removed"));
        world.publish(header, &[&kept, &removed]);
        assert_eq!(world.verdict(&removed).await, "good");
        world.publish(header, &[&kept]);
        // Before four fifths of the time nothing is asked.
        world.clock.advance_ms(fresh_ms / 5 * 4 - 1);
        assert_eq!((world.verdict(&removed).await, world.fetches()), ("good", 1), "{header}");
        world.clock.advance_ms(fresh_ms / 5 + 1);
        assert_eq!(world.verdict(&removed).await, UNKNOWN, "{header}");
    }
}

/// Security case 7: the old set is used for a day when no other can be had, then nothing is.
#[tokio::test]
async fn an_old_set_lives_a_day_and_then_nothing_can_be_checked() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    world.publish("", &[&signer]);
    assert_eq!(world.verdict(&signer).await, "good");
    world.mock.answer("/jwks", b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n".to_vec());
    for _ in 0..23 {
        world.clock.advance_ms(HOUR_MS);
        assert_eq!(world.verdict(&signer).await, "good");
        world.published.settled().await;
    }
    assert!(world.fetches() > 20, "it was asked again and again");
    world.clock.advance_ms(HOUR_MS - 1);
    assert_eq!(world.verdict(&signer).await, "good");
    world.published.settled().await;
    world.clock.advance_ms(1);
    assert_eq!(world.verdict(&signer).await, "unavailable");
    let bad = world.token(&signer).replace('.', "!");
    assert_eq!(world.verdict_of(&bad).await, "not three parts in base64url", "what is bad anyway is refused as ever");

    world.publish("", &[&signer]);
    world.clock.advance_ms(MINUTE_MS);
    assert_eq!(world.verdict(&signer).await, "good");
}

/// Security case 7: HTML, 50 MB, a redirect to another host or port, and what is no key set.
#[tokio::test]
async fn an_answer_that_is_no_key_set_changes_nothing() {
    let signer = Signer::es256("k");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let port = silent.local_addr().unwrap().port();
    let to = |location: String| {
        format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into_bytes()
    };
    let keys = set(&[&signer]).to_string();
    for (what, answer) in [
        ("HTML", ok("Content-Type: text/html\r\n", "<html><body>Log in</body></html>")),
        ("50 MB", ok("", format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(50 << 20)))),
        ("another host", to(format!("http://localhost:{port}/jwks"))),
        ("another port", to(format!("http://127.0.0.1:{port}/jwks"))),
        ("a loop", to("/jwks".into())),
        ("no keys", ok("", "{}")),
        ("a list", ok("", "[]")),
        ("keys twice", ok("", keys.replacen('{', "{\"keys\":[],", 1))),
        ("not found", b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("nothing", b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
    ] {
        let world = World::new().await;
        world.mock.answer("/jwks", answer.clone());
        assert_eq!(world.verdict(&signer).await, "unavailable", "{what}, at first");

        world.publish("", &[&signer]);
        world.clock.advance_ms(MINUTE_MS);
        assert_eq!(world.verdict(&signer).await, "good", "{what}");
        world.mock.answer("/jwks", answer);
        world.clock.advance_ms(10 * MINUTE_MS);
        assert_eq!(world.verdict(&signer).await, "good", "{what}: the old set stays");
    }
    assert_eq!(silent.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn redirects_within_the_origin_are_followed() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    let to = |location: &str| {
        format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into_bytes()
    };
    for (from, location) in [("/jwks", "/1"), ("/1", "/2"), ("/2", "/3")] {
        world.mock.answer(from, to(location));
    }
    world.mock.answer("/3", ok("", set(&[&signer]).to_string()));
    assert_eq!(world.verdict(&signer).await, "good");
}

#[tokio::test]
async fn a_failing_issuer_is_asked_later_and_later() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    for wait_ms in [1_000, 2_000, 4_000] {
        let before = world.fetches();
        for _ in 0..3 {
            assert_eq!(world.verdict(&signer).await, "unavailable");
        }
        assert_eq!(world.fetches(), before + 1);
        world.clock.advance_ms(wait_ms - 1);
        assert_eq!((world.verdict(&signer).await, world.fetches()), ("unavailable", before + 1));
        world.clock.advance_ms(1);
    }
}

#[tokio::test]
async fn the_start_fetches_the_keys_before_anybody_calls() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    world.publish("", &[&signer]);
    Arc::clone(&world.published).warm(std::future::pending()).await;
    assert_eq!(world.fetches(), 1);
    assert_eq!((world.verdict(&signer).await, world.fetches()), ("good", 1));
}

#[tokio::test]
async fn a_stop_ends_the_tries_of_the_start() {
    let world = World::new().await;
    Arc::clone(&world.published).warm(std::future::ready(())).await;
}

#[tokio::test]
async fn keys_are_found_through_discovery_and_found_again_where_they_moved() {
    let mock = MockIssuer::new().await;
    let world = World::with(mock, &[]);
    let signer = Signer::es256("k");
    let says = |path: &str| json!({ "issuer": world.mock.url(""), "jwks_uri": world.mock.url(path) }).to_string();
    let discovery = "/.well-known/oauth-authorization-server";
    world.mock.answer(discovery, ok("", says("/jwks")));
    world.publish("", &[&signer]);
    assert_eq!(world.verdict(&signer).await, "good");
    assert_eq!(world.mock.asked(), [discovery, "/jwks"]);

    world.mock.answer("/jwks", b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n".to_vec());
    world.mock.answer(discovery, ok("", says("/moved")));
    let new = Signer::es256("new");
    world.mock.answer("/moved", ok("", set(&[&signer, &new]).to_string()));
    world.clock.advance_ms(10 * MINUTE_MS);
    assert_eq!(world.verdict(&signer).await, "good");
    world.clock.advance_ms(MINUTE_MS);
    assert_eq!(world.verdict(&signer).await, "good");
    world.published.settled().await;
    assert_eq!(world.verdict(&new).await, "good");
}

/// Security case 6: addresses in a header are never asked; quiet.
#[tokio::test]
async fn no_header_makes_the_server_ask_anybody_else() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let address = format!("http://{}/key", silent.local_addr().unwrap());
    let world = World::new().await;
    let (good, evil) = (Signer::es256("good"), Signer::es256("good"));
    world.publish("", &[&good]);
    let payload = external_payload(&world.mock.url(""));
    for member in ["jku", "x5u", "kid"] {
        let token = evil.token_with(&with(evil.header(), member, address.as_str().into()), &payload);
        assert_ne!(world.verdict_of(&token).await, "good");
    }
    assert_eq!(world.mock.asked(), ["/jwks", "/jwks"], "at first, and once for the unknown id");
    assert_eq!(silent.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// Security case 2 and 5: what is bad before a key is looked for asks nobody.
#[tokio::test]
async fn a_bad_token_asks_nobody() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    let payload = external_payload(&world.mock.url(""));
    for token in [
        "garbage".to_owned(),
        signer.token_with(&with(signer.header(), "alg", "none".into()), &payload),
        signer.token(&with(payload.clone(), "iss", PUBLIC.into())),
        signer.token_with(&with(signer.header(), "kid", "k".repeat(300).into()), &payload),
    ] {
        assert!(world.checker.check(&token).await.is_err());
    }
    assert_eq!(world.fetches(), 0);
}
