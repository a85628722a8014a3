//! The states of a renewal: what each thing that may happen does to each of them.

use proptest::prelude::*;

use super::classify::Verdict;
use super::renewal::{Claim, FAILING, FRESH, Failed, NEEDS_RECONNECT, REFRESHING, Renewal, Wanted};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

fn wanted(version: i64) -> Wanted {
    Wanted { owner: "one".into(), version, forced: false, client_digest: "client".into() }
}

fn won(renewal: &mut Renewal, version: i64, now_ms: i64) {
    let claim = renewal.claim(&wanted(version), now_ms);
    assert!(matches!(claim, Claim::Won { lost: false, .. }), "{claim:?}");
}

fn fails(renewal: &mut Renewal, verdict: Verdict, code: &str, now_ms: i64) -> Failed {
    renewal.failed(verdict, code, (false, false), now_ms, |failures| failures * 1_000)
}

#[test]
fn one_claim_at_a_time_and_a_lapsed_one_is_free() {
    let mut renewal = Renewal::of_new(0, Some(0), None);
    won(&mut renewal, 1, 0);
    assert_eq!(renewal.state, REFRESHING);
    assert_eq!(renewal.claim(&Wanted { owner: "two".into(), ..wanted(1) }, 44_999), Claim::Held);
    let taken = renewal.claim(&Wanted { owner: "two".into(), ..wanted(1) }, 45_000);
    assert_eq!(taken, Claim::Won { epoch: 2, unclear: true, lost: true }, "what the dead server sent is not known");
}

#[test]
fn a_renewal_after_failures_says_so_and_starts_anew() {
    let mut renewal = Renewal::of_new(0, Some(0), None);
    won(&mut renewal, 1, 0);
    assert_eq!(fails(&mut renewal, Verdict::Passing, "http_500", 0), Failed::Failing(true));
    assert_eq!((renewal.state.as_str(), renewal.next_attempt_at), (FAILING, Some(1_000)));
    assert_eq!(renewal.claim(&wanted(1), 999), Claim::NotDue);
    won(&mut renewal, 1, 1_000);
    assert_eq!(fails(&mut renewal, Verdict::Passing, "http_500", 1_000), Failed::Failing(false), "told once");
    won(&mut renewal, 1, 3_000);
    assert!(renewal.renewed(Some(9), None));
    assert_eq!((renewal.state.as_str(), renewal.failures, renewal.due_at), (FRESH, 0, Some(9)));
    won(&mut renewal, 2, 9);
    assert!(!renewal.renewed(None, None), "nothing was wrong before");
}

#[test]
fn a_consent_is_over_once_and_its_cause_is_told_from_a_lost_answer() {
    for (was_unclear, code, cause) in [
        (false, "invalid_grant", "consent_ended"),
        (true, "invalid_grant", "lost"),
        (true, "token_revoked", "consent_ended"),
    ] {
        let mut renewal = Renewal::of_new(0, Some(0), None);
        won(&mut renewal, 1, 0);
        let failed = renewal.failed(Verdict::Over("consent_ended"), code, (was_unclear, false), 0, |_| 1);
        assert_eq!(failed, Failed::Over(cause, true), "{code}");
        assert_eq!(renewal.claim(&wanted(1), DAY), Claim::NotDue, "nothing is asked any more");
    }
}

#[test]
fn an_unknown_client_is_told_three_times_a_minute_apart_and_a_new_one_is_tried_once() {
    let mut renewal = Renewal::of_new(0, Some(0), None);
    for (round, now) in [0, MINUTE, 2 * MINUTE].into_iter().enumerate() {
        won(&mut renewal, 1, now);
        let failed = fails(&mut renewal, Verdict::Client, "invalid_client", now);
        match round {
            2 => assert_eq!(failed, Failed::Over("client", true)),
            _ => assert_eq!((failed, renewal.next_attempt_at), (Failed::Failing(round == 0), Some(now + MINUTE))),
        }
    }
    assert_eq!(renewal.claim(&wanted(1), DAY), Claim::NotDue, "the same client");
    let other = Wanted { client_digest: "another".into(), ..wanted(1) };
    assert!(matches!(renewal.claim(&other, DAY), Claim::Won { .. }));
    assert_eq!(fails(&mut renewal, Verdict::Passing, "http_500", DAY), Failed::Over("client", false), "one attempt");
    assert_eq!(renewal.claim(&other, 2 * DAY), Claim::NotDue);
}

#[test]
fn refusals_without_a_known_code_end_a_consent_after_a_day_of_them() {
    let mut renewal = Renewal::of_new(0, Some(0), None);
    for (round, now) in [0, 6, 12, 18, 23, 24].map(|hours| hours * 60 * MINUTE).into_iter().enumerate() {
        won(&mut renewal, 1, now);
        let failed = fails(&mut renewal, Verdict::Unclassified, "http_400", now);
        let expected = if round == 5 { Failed::Over("refused", true) } else { Failed::Failing(round == 0) };
        assert_eq!(failed, expected, "{round}");
    }
}

#[test]
fn a_refusal_of_the_server_renews_once_a_version_and_a_minute_and_the_third_in_ten_minutes_is_the_last() {
    let forced = |version| Wanted { forced: true, ..wanted(version) };
    let mut renewal = Renewal::of_new(0, Some(DAY), None);
    for (version, now) in [(1, 0), (2, MINUTE), (3, 2 * MINUTE)] {
        assert!(matches!(renewal.claim(&forced(version), now), Claim::Won { .. }), "{version}");
        renewal.renewed(Some(DAY), None);
        assert_eq!(renewal.claim(&forced(version), now + DAY), Claim::NotDue, "once a version");
        assert_eq!(renewal.claim(&forced(version + 1), now + MINUTE - 1), Claim::NotDue, "once a minute");
        assert_eq!(renewal.refused_again(now), version == 3);
    }
    assert_eq!((renewal.state.as_str(), renewal.cause.as_deref()), (NEEDS_RECONNECT, Some("refused")));
    let mut rarely = Renewal::of_new(0, None, None);
    assert!(!(0..9).any(|round| rarely.refused_again(round * 6 * MINUTE)), "two in ten minutes at most");
}

proptest! {
    /// Whatever happens in whatever order: one owner at most, whose claim lapses; a consent that is over stays so until its
    /// client changes; and nothing is tried before its time.
    #[test]
    fn no_order_of_events_breaks_a_row(steps in proptest::collection::vec((0_u8..7, 1_i64..2_000_000), 1..60)) {
        let mut renewal = Renewal::of_new(0, Some(0), None);
        let (mut now, mut version) = (0, 1);
        for (step, later) in steps {
            now += later;
            let before = renewal.clone();
            match step {
                0 | 1 => {
                    let claim = renewal.claim(&Wanted { forced: step == 1, ..wanted(version) }, now);
                    if let Claim::Won { epoch, .. } = claim {
                        prop_assert_eq!(epoch, before.epoch + 1);
                        prop_assert!(before.deadline.is_none_or(|deadline| deadline <= now));
                        prop_assert!(before.next_attempt_at.is_none_or(|next| next <= now));
                        prop_assert!(before.state != NEEDS_RECONNECT);
                    } else {
                        prop_assert_eq!(&renewal, &before);
                    }
                }
                2 if renewal.owner.is_some() => {
                    renewal.renewed(Some(now), None);
                    version += 1;
                }
                3 if renewal.owner.is_some() => { fails(&mut renewal, Verdict::Passing, "timed_out", now); }
                4 if renewal.owner.is_some() => { fails(&mut renewal, Verdict::Client, "invalid_client", now); }
                5 if renewal.owner.is_some() => { fails(&mut renewal, Verdict::Unclassified, "http_400", now); }
                6 if renewal.state != NEEDS_RECONNECT => { renewal.refused_again(now); }
                _ => {}
            }
            prop_assert_eq!(renewal.owner.is_some(), renewal.deadline.is_some());
            prop_assert_eq!(renewal.owner.is_some(), renewal.state == REFRESHING);
            prop_assert_eq!(renewal.cause.is_some(), renewal.state == NEEDS_RECONNECT);
        }
    }
}
