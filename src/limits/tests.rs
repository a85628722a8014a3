//! The table of `identity.md` 12, at a clock the tests move.

use std::sync::Arc;

use http::HeaderMap;
use proptest::prelude::*;

use super::*;
use crate::clock::ManualClock;
use crate::config::{Environment, Permission, Playbooks, Rate};
use crate::identity::{Permissions, Who};

const NOW_MS: i64 = 1_790_847_000_000;
const MINUTE_MS: i64 = 60_000;

fn limits(variables: &[(&str, &str)]) -> (Limits, Arc<ManualClock>) {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment: Environment = variables.collect();
    let settings = crate::config::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into()));
    let clock = Arc::new(ManualClock::at(NOW_MS));
    (Limits::of(&settings.map_err(|refusal| refusal.to_string()).unwrap(), clock.clone()), clock)
}

/// A server of keys; the others have no limits.
const KEYS: (&str, &str) = ("API_KEYS", "[]");

fn caller(org: &str, id: &str) -> Caller {
    Caller {
        org: org.into(),
        who: Who::Key { id: id.into(), name: id.into(), person: None },
        permissions: Permissions::of(&Permission::ALL),
        playbooks: Playbooks::All,
        origin: None,
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// How often something is let through, and the seconds told to whom is not.
fn until_refused(mut ask: impl FnMut() -> Result<()>) -> (usize, u32) {
    for count in 0..100_000 {
        if let Err(problem) = ask() {
            assert_eq!((problem.status(), problem.kind_word()), (429, None));
            return (count, problem.retry_after_s().unwrap());
        }
    }
    panic!("nothing was refused");
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let (limits, clock) = limits(&[KEYS]);
    let (here, there, ada) = (address("192.0.2.1"), address("192.0.2.2"), caller("north", "ada"));
    assert_eq!(until_refused(|| limits.admit(&ada)), (200, 1));
    assert_eq!(until_refused(|| limits.execute(&ada)), (40, 1));
    assert_eq!(until_refused(|| limits.anonymous(here)), (60, 1));
    assert_eq!(until_refused(|| limits.token("desk", here)), (60, 1));
    assert_eq!(until_refused(|| limits.registration(here)), (20, 180));
    assert_eq!(until_refused(|| limits.document_fetch()), (5, 1));
    let mut streams = Vec::new();
    let mut open = || limits.stream(&ada).map(|stream| streams.push(stream));
    assert_eq!(until_refused(&mut open), (64, 5));

    // Others have their own.
    limits.admit(&caller("south", "ada")).unwrap();
    limits.admit(&caller("north", "grace")).unwrap();
    limits.execute(&caller("north", "grace")).unwrap();
    limits.anonymous(there).unwrap();
    limits.token("other", here).unwrap();
    limits.token("desk", there).unwrap();
    limits.registration(there).unwrap();
    limits.stream(&caller("north", "grace")).unwrap();
    drop(streams.pop());
    streams.push(limits.stream(&ada).unwrap());
    limits.stream(&ada).unwrap_err();

    clock.advance_ms(1000);
    assert_eq!(until_refused(|| limits.admit(&ada)).0, 50);
    assert_eq!(until_refused(|| limits.execute(&ada)).0, 10);
    assert_eq!(until_refused(|| limits.anonymous(here)).0, 5);
    assert_eq!(until_refused(|| limits.token("desk", here)).0, 2);
    assert_eq!(until_refused(|| limits.document_fetch()).0, 5);
    limits.registration(here).unwrap_err();
    clock.advance_ms(179_000);
    assert_eq!(until_refused(|| limits.registration(here)), (1, 180));
}

#[test]
fn local_mode_bounds_streams_alone() {
    let (limits, _) = limits(&[("STREAMS_CALLER", "3")]);
    let (here, developer) = (address("127.0.0.1"), Caller::local("ada"));
    for _ in 0..1000 {
        limits.admit(&developer).unwrap();
        limits.execute(&developer).unwrap();
        limits.anonymous(here).unwrap();
        limits.failed(here);
        limits.before_look_up(here, "a guess").unwrap();
        limits.unknown_link(here);
        limits.before_link(here).unwrap();
    }
    let mut streams = Vec::new();
    let mut open = || limits.stream(&developer).map(|stream| streams.push(stream));
    assert_eq!(until_refused(&mut open), (3, 5));
}

/// Security case 10.
#[test]
fn an_address_that_guesses_is_closed_before_any_look_up() {
    let (limits, clock) = limits(&[KEYS]);
    let (here, there) = (address("192.0.2.1"), address("192.0.2.2"));
    limits.good("the good key");
    let guess = || {
        limits.before_look_up(here, "a guess")?;
        limits.failed(here);
        Ok(())
    };
    assert_eq!(until_refused(guess), (30, 600));
    limits.before_look_up(here, "the good key").unwrap();
    limits.before_look_up(there, "a guess").unwrap();
    clock.advance_ms(10 * MINUTE_MS - 1);
    assert_eq!(until_refused(guess), (0, 1));
    clock.advance_ms(1);
    assert_eq!(until_refused(guess), (30, 600));

    // Thirty of more than ten minutes are no guessing.
    clock.advance_ms(20 * MINUTE_MS);
    for _ in 0..100 {
        guess().unwrap();
        clock.advance_ms(MINUTE_MS / 2);
    }
}

/// Security case 18.
#[test]
fn unknown_links_are_thirty_a_minute() {
    let (limits, clock) = limits(&[KEYS]);
    let here = address("192.0.2.1");
    let guess = || {
        limits.before_link(here)?;
        limits.unknown_link(here);
        Ok(())
    };
    assert_eq!(until_refused(guess), (30, 2));
    clock.advance_ms(MINUTE_MS);
    assert_eq!(until_refused(guess).0, 30);
    // Links that are known count for nothing.
    clock.advance_ms(MINUTE_MS);
    for _ in 0..1000 {
        limits.before_link(here).unwrap();
    }
}

#[test]
fn an_ipv6_customer_is_one_address() {
    let (limits, _) = limits(&[KEYS, ("RATE_ANONYMOUS", "1/2")]);
    limits.anonymous(address("2001:db8:0:1::1")).unwrap();
    limits.anonymous(address("2001:db8:0:1:ffff::2")).unwrap();
    limits.anonymous(address("2001:db8:0:1::3")).unwrap_err();
    limits.anonymous(address("2001:db8:0:2::1")).unwrap();
}

#[test]
fn the_address_is_the_last_that_no_trusted_proxy_has() {
    let (limits, _) = limits(&[KEYS, ("TRUSTED_PROXIES", "10.0.0.0/8, 192.0.2.9,fd00::/8")]);
    let table: [(&str, &[&str], &str); 13] = [
        ("198.51.100.1", &[], "198.51.100.1"),
        // Nobody believes a peer that is no trusted proxy.
        ("198.51.100.1", &["203.0.113.5"], "198.51.100.1"),
        ("10.1.1.1", &[], "10.1.1.1"),
        ("10.1.1.1", &["203.0.113.5"], "203.0.113.5"),
        ("10.1.1.1", &["127.0.0.1, 203.0.113.5"], "203.0.113.5"),
        ("10.1.1.1", &["203.0.113.5, 192.0.2.9,10.2.2.2"], "203.0.113.5"),
        ("10.1.1.1", &["1.1.1.1", "203.0.113.5", "10.2.2.2"], "203.0.113.5"),
        ("fd00::1", &["2001:db8::7"], "2001:db8::7"),
        ("10.1.1.1", &["[2001:db8::7]:4711"], "2001:db8::7"),
        ("10.1.1.1", &["203.0.113.5:4711"], "203.0.113.5"),
        ("10.1.1.1", &["::ffff:203.0.113.5"], "203.0.113.5"),
        // Beyond what is no address, or when all are proxies, nothing is known.
        ("10.1.1.1", &["203.0.113.5, unknown"], "10.1.1.1"),
        ("10.1.1.1", &["10.2.2.2, 192.0.2.9"], "10.1.1.1"),
    ];
    for (peer, lines, client) in table {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        assert_eq!(limits.client(address(peer), &headers), address(client), "{peer} {lines:?}");
    }
}

/// Security case 67.
#[test]
fn however_many_ask_memory_is_bounded() {
    let buckets = Buckets::new(Rate { per_second: 5, burst: 60 });
    for number in 0..300_000_u64 {
        let _ = buckets.take(number, NOW_MS + i64::try_from(number / 100_000).unwrap());
    }
    assert!(buckets.len() <= 65_537, "{}", buckets.len());
    // Those beyond the bound share a bucket, and those within keep their own.
    buckets.take("a newcomer", NOW_MS + 2).unwrap_err();
    buckets.take(7_u64, NOW_MS + 2).unwrap();
    // A bucket that is full again is let go.
    buckets.take("a newcomer", NOW_MS + MINUTE_MS).unwrap();
    assert_eq!(buckets.len(), 1);
}

#[test]
fn a_clock_set_back_leaves_nobody_waiting() {
    let buckets = Buckets::new(Rate { per_second: 1, burst: 3 });
    for _ in 0..3 {
        buckets.take("key", NOW_MS).unwrap();
    }
    assert_eq!(buckets.take("key", NOW_MS - 3_600_000), Err(1));
    buckets.take("key", NOW_MS - 3_599_000).unwrap();
}

#[tokio::test]
async fn bodies_share_their_memory() {
    let bodies = Bodies::of(64 * 1024, std::time::Duration::ZERO);
    let mut shares = Vec::new();
    for _ in 0..64 {
        shares.push(bodies.share(1_048_576).await.unwrap());
    }
    let refused = bodies.share(40_000).await.unwrap_err();
    assert_eq!((refused.status(), refused.retry_after_s()), (503, Some(5)));
    drop(shares.pop());
    bodies.share(1_048_576).await.unwrap();
}

proptest! {
    /// Whenever it is asked, no more is given than the burst and the rate since; and waiting as told is enough.
    #[test]
    fn a_bucket_never_gives_more(
        per_second in 1_u32..2000, burst in 1_u32..50, waits in prop::collection::vec(0_i64..400, 1..300),
    ) {
        let buckets = Buckets::new(Rate { per_second, burst });
        let mut now = NOW_MS;
        let mut given = 0;
        for wait in waits {
            now += wait;
            let asked = buckets.look("key", now);
            let taken = buckets.take("key", now);
            prop_assert_eq!(asked, taken);
            match taken {
                Ok(()) => given += 1,
                Err(seconds) => {
                    prop_assert!(seconds >= 1);
                    now += i64::from(seconds) * 1000;
                    prop_assert_eq!(buckets.look("key", now), Ok(()));
                }
            }
            let most = i64::from(burst) + (now - NOW_MS) * i64::from(per_second) / 1000 + 1;
            prop_assert!(given <= most, "{} of {}", given, most);
        }
    }
}
