//! When a refresh token is good, as a pure rule over the tokens of its family (`identity.md` 7.5, RFC 9700 section 4.14).
//!
//! A family is a chain: each use of the current token makes the next one. The token before stays good for a while, so
//! that an answer that was lost, or a second process, does not end the sign-in; whoever uses one later holds a stolen
//! copy, or its thief used it, and the family ends.

/// How long a token stays good after the next one was issued, while that one is unused, in milliseconds.
pub const UNUSED_MS: i64 = 10 * 60 * 1_000;
/// How long it stays good after the next one's first use.
pub const USED_MS: i64 = 60 * 1_000;
/// How long a family lives without a use.
pub const IDLE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// How long it lives in all.
pub const WHOLE_MS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// One token of a family, without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// When it was issued.
    pub issued_at: i64,
    /// When it was first used.
    pub first_used_at: Option<i64>,
    /// Until when its holder can read its successor.
    pub successor_until: Option<i64>,
}

/// What a use of a token comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is the current one: it is followed by a new one.
    Rotate,
    /// It was followed already, just now: its holder gets the current one again, where the copies still lead there.
    Again {
        /// Whether every copy on the way can still be read.
        readable: bool,
    },
    /// It was used too late: the family ends.
    Reused,
}

/// What a use of the first of `links` comes to at `now`; the others are the tokens that followed it, up to the current one.
pub fn judge(links: &[Link], now: i64) -> Use {
    let Some(next) = links.get(1) else { return Use::Rotate };
    let good_until = match next.first_used_at {
        None => next.issued_at + UNUSED_MS,
        Some(used) => used + USED_MS,
    };
    if now > good_until {
        return Use::Reused;
    }
    let before_current = &links[..links.len() - 1];
    Use::Again { readable: before_current.iter().all(|link| link.successor_until.is_some_and(|until| now <= until)) }
}

/// Until when the holder of the token before the current one can read it, once the current one was first used at `now`:
/// a copy that is gone stays gone.
pub fn after_first_use(successor_until: Option<i64>, now: i64) -> Option<i64> {
    successor_until.filter(|until| now <= *until).map(|_| now + USED_MS)
}

/// When a family made at `created_at` and used at `now` ends.
pub fn ends_at(created_at: i64, now: i64) -> i64 {
    (now + IDLE_MS).min(created_at + WHOLE_MS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A family in memory, kept as the rows are.
    struct Family {
        links: Vec<Link>,
        revoked: bool,
    }

    impl Family {
        fn new() -> Self {
            Self { links: vec![Link { issued_at: 0, first_used_at: None, successor_until: None }], revoked: false }
        }

        fn use_token(&mut self, generation: usize, now: i64) -> Option<Use> {
            if self.revoked {
                return None;
            }
            let found = judge(&self.links[generation..], now);
            match found {
                Use::Rotate => {
                    if let Some(before) = generation.checked_sub(1) {
                        self.links[before].successor_until = after_first_use(self.links[before].successor_until, now);
                    }
                    self.links[generation].first_used_at = Some(now);
                    self.links[generation].successor_until = Some(now + UNUSED_MS);
                    self.links.push(Link { issued_at: now, first_used_at: None, successor_until: None });
                }
                Use::Reused => self.revoked = true,
                Use::Again { .. } => {}
            }
            Some(found)
        }
    }

    const MINUTE: i64 = 60_000;

    /// Security case 40.
    #[test]
    fn the_rows_of_the_sheet() {
        let again = Some(Use::Again { readable: true });
        // A lost answer: the first token again, at ten minutes to the millisecond.
        let mut family = Family::new();
        assert_eq!(family.use_token(0, 0), Some(Use::Rotate));
        assert_eq!(family.use_token(0, 10 * MINUTE), again);
        assert_eq!(family.use_token(0, 10 * MINUTE + 1), Some(Use::Reused));
        assert_eq!(family.use_token(1, 10 * MINUTE + 2), None, "the family has ended");
        // A slow second process: within a minute of the next one's first use.
        let mut family = Family::new();
        family.use_token(0, 0);
        assert_eq!(family.use_token(1, 9 * MINUTE), Some(Use::Rotate));
        assert_eq!(family.use_token(0, 10 * MINUTE), again);
        assert_eq!(family.use_token(0, 10 * MINUTE + 1), Some(Use::Reused));
        // The same, when the copy had gone before that first use: an access token alone.
        let mut family = Family::new();
        family.use_token(0, 0);
        assert_eq!(family.use_token(1, 20 * MINUTE), Some(Use::Rotate));
        assert_eq!(family.use_token(0, 20 * MINUTE + 5), Some(Use::Again { readable: false }));
        // An older one.
        let mut family = Family::new();
        family.use_token(0, 0);
        family.use_token(1, MINUTE);
        family.use_token(2, 3 * MINUTE);
        assert_eq!(family.use_token(0, 3 * MINUTE), Some(Use::Reused));
    }

    #[test]
    fn a_family_lives_thirty_days_without_use_and_ninety_in_all() {
        const DAY: i64 = 24 * 60 * MINUTE;
        assert_eq!(ends_at(0, 10 * DAY), 40 * DAY);
        assert_eq!(ends_at(0, 80 * DAY), 90 * DAY);
    }

    proptest! {
        /// Against a model that keeps nothing but the times of first uses. Security case 40.
        #[test]
        fn every_history_keeps_to_the_rules(
            steps in proptest::collection::vec((0_usize..6, 0_i64..5 * MINUTE), 1..40),
        ) {
            let (mut family, mut now) = (Family::new(), 0);
            let mut first_uses: Vec<i64> = Vec::new();
            let mut dead = false;
            for (back, wait) in steps {
                now += wait;
                let current = first_uses.len();
                let generation = current.saturating_sub(back);
                let found = family.use_token(generation, now);
                if dead {
                    prop_assert_eq!(found, None);
                    continue;
                }
                // A token's successor was issued at the token's first use.
                let late = match (first_uses.get(generation), first_uses.get(generation + 1)) {
                    (None, _) => None,
                    (Some(issued), None) => Some(now > issued + UNUSED_MS),
                    (Some(_), Some(used)) => Some(now > used + USED_MS),
                };
                match late {
                    None => {
                        prop_assert_eq!(found, Some(Use::Rotate));
                        first_uses.push(now);
                    }
                    Some(true) => {
                        prop_assert_eq!(found, Some(Use::Reused));
                        dead = true;
                    }
                    Some(false) => prop_assert!(matches!(found, Some(Use::Again { .. })), "{:?}", found),
                }
                prop_assert_eq!(family.links.len(), first_uses.len() + 1, "one successor each");
                if let (Some(Use::Again { readable: true }), Some(used)) = (found, first_uses.get(generation + 1)) {
                    prop_assert!(now <= used + USED_MS);
                }
            }
        }
    }
}
