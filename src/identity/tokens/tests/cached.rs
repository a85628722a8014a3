//! What was good is remembered, for as long as it is.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::published::World;
use super::{NOW_MS, NOW_S, PUBLIC, Signer, external_payload, key_set, own_payload, with};
use crate::clock::ManualClock;
use crate::identity::tokens::{Checker, Failure, Keys, OwnKeys, Rules};

fn own() -> (Checker, OwnKeys, Signer, Arc<ManualClock>) {
    let (keys, signer, clock) = (OwnKeys::default(), Signer::es256("k"), Arc::new(ManualClock::at(NOW_MS)));
    keys.replace(key_set(&[&signer]));
    (Checker::new(Rules::own(PUBLIC), Keys::Own(keys.clone()), clock.clone()), keys, signer, clock)
}

#[tokio::test]
async fn a_remembered_token_ends_when_it_ends() {
    let (checker, _, signer, clock) = own();
    let token = signer.token(&with(own_payload(), "exp", json!(NOW_S + 100)));
    let first = checker.check(&token).await.unwrap();
    let again = checker.check(&token).await.unwrap();
    assert!(Arc::ptr_eq(&first, &again), "remembered");
    clock.advance_ms(159_999);
    assert!(checker.check(&token).await.is_ok());
    clock.advance_ms(1);
    let Err(Failure::Refused(refused)) = checker.check(&token).await else { panic!("refused") };
    assert_eq!(refused.cause(), "ended");
}

#[tokio::test]
async fn a_remembered_token_ends_with_its_key() {
    let (checker, keys, signer, _) = own();
    let token = signer.token(&own_payload());
    assert!(checker.check(&token).await.is_ok());
    // Another key under the same id is not the key that signed it.
    keys.replace(key_set(&[&Signer::es256("k")]));
    let Err(Failure::Refused(refused)) = checker.check(&token).await else { panic!("refused") };
    assert_eq!(refused.cause(), "its signature is wrong");
    keys.replace(key_set(&[]));
    let Err(Failure::Refused(refused)) = checker.check(&token).await else { panic!("refused") };
    assert_eq!(refused.cause(), "its key is not in the key set");
    keys.replace(key_set(&[&signer]));
    assert!(checker.check(&token).await.is_ok());
}

#[tokio::test]
async fn a_remembered_token_of_an_issuer_outside_ends_after_a_day() {
    let world = World::new().await;
    let signer = Signer::es256("k");
    world.publish("Cache-Control: max-age=3600\r\n", &[&signer]);
    let token = signer.token(&with(external_payload(&world.mock.url("")), "exp", json!(NOW_S + 1_000_000)));
    assert_eq!(world.verdict_of(&token).await, "good");
    world.clock.advance_ms((24 * 3_600 - 10) * 1_000);
    assert_eq!(world.verdict_of(&token).await, "good");
    world.clock.advance_ms(1);
    assert_eq!(world.verdict_of(&token).await, "issued in the future or too long ago");
}

/// How long a check takes: `cargo nextest run --release --lib tokens::tests::cached --run-ignored only --no-capture`.
#[tokio::test]
#[ignore = "a measurement, not a check"]
async fn figures() {
    const ROUNDS: usize = 2_000;
    for signer in [Signer::es256("k"), Signer::rsa("k", "RS256"), Signer::ed25519("k"), Signer::es384("k")] {
        let world = World::new().await;
        world.publish("", &[&signer]);
        let payload = external_payload(&world.mock.url(""));
        let tokens: Vec<String> =
            (0..ROUNDS).map(|number| signer.token(&with(payload.clone(), "jti", number.into()))).collect();
        world.checker.check(&tokens[0]).await.unwrap();
        for (what, tokens) in [("first", &tokens[..]), ("again", &tokens[..])] {
            let mut took: Vec<u128> = Vec::new();
            for token in tokens {
                let began = Instant::now();
                world.checker.check(token).await.unwrap();
                took.push(began.elapsed().as_nanos());
            }
            took.sort_unstable();
            let micros = |part: usize| took[ROUNDS * part / 100] as f64 / 1_000.0;
            println!("{} {what}: p50 {:.1} µs, p99 {:.1} µs", signer.algorithm, micros(50), micros(99));
        }
    }
}
