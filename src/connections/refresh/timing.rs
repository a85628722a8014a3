//! When tokens are renewed, and when after a failure it is tried again (`connections.md` 10.2 and 10.3).

use crate::ids::Ids;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
/// How long a claim is good for.
pub(super) const CLAIM_MS: i64 = 45 * SECOND;
/// How long after one renewal that a refusal of the server forced the next may be.
pub(super) const FORCED_MS: i64 = MINUTE;
/// Within what time so many refusals of the server end a consent.
pub(super) const REFUSED: (i64, i64) = (3, 10 * MINUTE);
/// How many answers that say the client is unknown end a consent, and how far apart they are asked for.
pub(super) const CLIENT: (i64, i64) = (3, MINUTE);
/// After how long and how many refusals without a known code a consent is over.
pub(super) const UNCLASSIFIED: (i64, i64) = (5, 24 * 60 * MINUTE);
/// The waits between attempts after failures that may pass.
const BACK_OFF: [i64; 6] = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE];
/// The margin before the end: a fifth of the life, within these.
const MARGIN_MS: std::ops::RangeInclusive<i64> = MINUTE..=10 * MINUTE;

/// When tokens that live from `obtained` to `end` are due: the margin before their end, less a random tenth at most, so
/// that not all are due at once. `margin` is the way's own, in seconds.
pub(super) fn due_at(obtained_ms: i64, end_ms: i64, margin: Option<u32>, ids: &Ids) -> i64 {
    let life = (end_ms - obtained_ms).max(0);
    let margin = margin
        .map_or_else(|| (life / 5).clamp(*MARGIN_MS.start(), *MARGIN_MS.end()), |seconds| i64::from(seconds) * SECOND);
    end_ms - margin + part(margin / 10, ids)
}

/// How long to wait after the `failures`th failure in a row (from 1): as long as the provider asks, else longer each time,
/// a fifth more or less.
pub(super) fn wait_ms(failures: i64, retry_after_s: Option<u64>, ids: &Ids) -> i64 {
    if let Some(seconds) = retry_after_s {
        return i64::try_from(seconds).unwrap_or(i64::MAX / SECOND) * SECOND;
    }
    let step = usize::try_from(failures - 1).unwrap_or(0).min(BACK_OFF.len() - 1);
    let wait = BACK_OFF[step];
    wait - wait / 5 + part(2 * wait / 5, ids)
}

/// A random part of `most`, from nothing to all of it.
fn part(most: i64, ids: &Ids) -> i64 {
    let drawn = i64::from(u32::from_be_bytes(ids.bytes::<4>()));
    // Both factors are far below 2^31: a wait or a margin in milliseconds, and a drawn part of 2^32.
    i64::try_from(i128::from(most) * i128::from(drawn) / i128::from(u32::MAX)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::SystemEntropy;

    fn ids() -> Ids {
        Ids::new(Arc::new(SystemEntropy))
    }

    proptest! {
        #[test]
        fn tokens_are_due_within_their_margin(life in 60_000_i64..31_536_000_000, own in proptest::option::of(60_u32..600)) {
            let due = due_at(0, life, own, &ids());
            let margin = own.map_or((life / 5).clamp(60_000, 600_000), |own| i64::from(own) * 1_000);
            prop_assert!((life - margin..=life - margin + margin / 10).contains(&due), "{due} of {life}");
        }

        #[test]
        fn waits_grow_and_stay_within_a_fifth(failures in 1_i64..20) {
            let wait = wait_ms(failures, None, &ids());
            let usual = BACK_OFF[usize::try_from(failures - 1).unwrap().min(5)];
            prop_assert!((usual - usual / 5..=usual + usual / 5).contains(&wait), "{wait} after {failures}");
        }
    }

    #[test]
    fn what_the_provider_asks_for_is_obeyed() {
        assert_eq!(wait_ms(1, Some(120), &ids()), 120_000);
        assert_eq!(wait_ms(6, Some(1), &ids()), 1_000);
    }
}
