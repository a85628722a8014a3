//! Which key signs, and which are published, as a pure rule over the times of the keys (`identity.md` 7.6).

/// How long a key signs, in milliseconds.
pub const SIGNS_MS: i64 = 90 * 24 * 60 * 60 * 1_000;
/// How long a key is published before it signs, so that whoever keeps the key set has it by then.
pub const AHEAD_MS: i64 = 24 * 60 * 60 * 1_000;
/// How often a server reads the keys; a younger one may be unknown to the others.
pub const READ_MS: i64 = 60 * 1_000;
/// How long a key is published after the last server stopped signing with it: the longest life of a token, and the skew.
pub const LINGERS_MS: i64 = 61 * 60 * 1_000;

/// The times of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When it was made and published.
    pub created_at: i64,
    /// From when it signs.
    pub signs_from: i64,
    /// When it was taken back.
    pub revoked_at: Option<i64>,
}

/// The key that signs at `now`: the latest whose time has come and that every server knows. Where there is no such key,
/// as at the first start and after a leak, the next best one: no token at all would be worse than one that a server
/// takes a minute later.
pub fn signing(keys: &[Times], now: i64) -> Option<usize> {
    let living = || keys.iter().enumerate().filter(|(_, key)| key.revoked_at.is_none());
    let latest = |known_for: i64| {
        living()
            .filter(|(_, key)| key.signs_from <= now && key.created_at + known_for <= now)
            .max_by_key(|(at, key)| (key.signs_from, *at))
    };
    latest(READ_MS)
        .or_else(|| latest(0))
        .or_else(|| living().min_by_key(|(at, key)| (key.signs_from, *at)))
        .map(|(at, _)| at)
}

/// Whether the key at `at` is published at `now`: until the last token of it has ended.
pub fn is_published(keys: &[Times], at: usize, now: i64) -> bool {
    let key = keys[at];
    if key.revoked_at.is_some() {
        return false;
    }
    let followed_at = keys
        .iter()
        .enumerate()
        .filter(|(other, next)| next.revoked_at.is_none() && (next.signs_from, *other) > (key.signs_from, at))
        .map(|(_, next)| next.signs_from)
        .min();
    followed_at.is_none_or(|followed_at| now < followed_at + READ_MS + LINGERS_MS)
}

/// Whether a next key is to be made at `now`.
pub fn is_due(keys: &[Times], now: i64) -> bool {
    let newest = keys.iter().filter(|key| key.revoked_at.is_none()).map(|key| key.signs_from).max();
    newest.is_none_or(|signs_from| now >= signs_from + SIGNS_MS - AHEAD_MS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn key(created_at: i64, signs_from: i64) -> Times {
        Times { created_at, signs_from, revoked_at: None }
    }

    #[test]
    fn the_next_key_is_published_a_day_before_it_signs_and_the_old_one_stays_until_its_tokens_ended() {
        let first = key(0, 0);
        assert!(!is_due(&[first], SIGNS_MS - AHEAD_MS - 1) && is_due(&[first], SIGNS_MS - AHEAD_MS));
        let keys = [first, key(SIGNS_MS - AHEAD_MS, SIGNS_MS)];
        assert!(!is_due(&keys, SIGNS_MS));
        assert_eq!(signing(&keys, SIGNS_MS - 1), Some(0));
        assert_eq!(signing(&keys, SIGNS_MS), Some(1));
        assert!(is_published(&keys, 1, SIGNS_MS - AHEAD_MS));
        assert!(is_published(&keys, 0, SIGNS_MS + READ_MS + LINGERS_MS - 1));
        assert!(!is_published(&keys, 0, SIGNS_MS + READ_MS + LINGERS_MS));
    }

    #[test]
    fn a_key_younger_than_a_reading_signs_only_where_there_is_no_other() {
        assert_eq!(signing(&[key(0, 0), key(100, 100)], 100 + READ_MS - 1), Some(0));
        assert_eq!(signing(&[key(0, 0), key(100, 100)], 100 + READ_MS), Some(1));
        let leaked = Times { revoked_at: Some(100), ..key(0, 0) };
        assert_eq!(signing(&[leaked, key(100, 100)], 100), Some(1));
        assert!(!is_published(&[leaked, key(100, 100)], 0, 100) && is_due(&[leaked], 100));
        assert_eq!(signing(&[], 0), None);
    }

    proptest! {
        #[test]
        fn what_signs_is_published(
            keys in proptest::collection::vec((0_i64..1_000, 0_i64..1_000, any::<bool>()), 0..6),
            now in 0_i64..2_000,
        ) {
            let keys: Vec<Times> = keys
                .into_iter()
                .map(|(created, ahead, revoked)| Times {
                    created_at: created * READ_MS,
                    signs_from: (created + ahead) * READ_MS,
                    revoked_at: revoked.then_some(created * READ_MS),
                })
                .collect();
            let now = now * READ_MS;
            let known: Vec<Times> = keys.into_iter().filter(|key| key.created_at <= now).collect();
            match signing(&known, now) {
                Some(at) => prop_assert!(is_published(&known, at, now)),
                None => prop_assert!(known.iter().all(|key| key.revoked_at.is_some())),
            }
        }
    }
}
