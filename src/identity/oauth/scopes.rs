//! Sets of scopes (decision D8): what a client asks for, what a person grants, what a token carries.
//!
//! `offline_access` is taken from no request and put into no token: whether a refresh token is issued depends on the
//! client alone (`identity.md` 7.2).

use std::fmt;

/// The scopes of tokens, in the order they are written.
pub const WORDS: [&str; 5] = ["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"];

/// What the metadata lists (RFC 8414).
pub const SUPPORTED: [&str; 6] =
    ["org:read", "org:write", "playbook:read", "playbook:write", "org:admin", "offline_access"];

const ORG_READ: u8 = 1;
const ORG_WRITE: u8 = 2;
const PLAYBOOK_READ: u8 = 4;
const PLAYBOOK_WRITE: u8 = 8;
const ORG_ADMIN: u8 = 16;

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Scopes(u8);

impl Scopes {
    /// The four that keys may hold too.
    pub const FOUR: Self = Self(ORG_READ | ORG_WRITE | PLAYBOOK_READ | PLAYBOOK_WRITE);
    /// All five.
    pub const ALL: Self = Self(Self::FOUR.0 | ORG_ADMIN);

    /// Those of a `scope` parameter or claim that are ours; unknown ones are dropped (`identity.md` 7.2).
    pub fn known(text: &str) -> Self {
        text.split(' ').collect()
    }

    /// Every scope with the read it includes.
    #[must_use]
    pub const fn closure(self) -> Self {
        let mut bits = self.0;
        if bits & (ORG_WRITE | ORG_ADMIN) != 0 {
            bits |= ORG_READ;
        }
        if bits & PLAYBOOK_WRITE != 0 {
            bits |= PLAYBOOK_READ;
        }
        Self(bits)
    }

    /// The reads among them, which a person cannot take out of what they grant.
    #[must_use]
    pub const fn reads(self) -> Self {
        Self(self.0 & (ORG_READ | PLAYBOOK_READ))
    }

    /// Those in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of them are in `other`.
    pub const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their words, in order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.into_iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, word)| word)
    }
}

impl<'a> FromIterator<&'a str> for Scopes {
    fn from_iter<T: IntoIterator<Item = &'a str>>(words: T) -> Self {
        let bit = |word: &str| WORDS.iter().position(|known| *known == word).map_or(0, |at| 1 << at);
        Self(words.into_iter().fold(0, |bits, word| bits | bit(word)))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().collect::<Vec<_>>().join(" "))
    }
}

impl serde::Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Scopes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::known(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unknown_scopes_are_dropped_and_the_order_is_ours() {
        assert_eq!(
            Scopes::known("playbook:read openid org:read offline_access org:read").to_string(),
            "org:read playbook:read"
        );
        assert!(Scopes::known("").is_empty() && Scopes::known("openid email").is_empty());
        assert!(Scopes::known("ORG:READ\torg:write").is_empty());
    }

    #[test]
    fn a_write_includes_its_read() {
        assert_eq!(Scopes::known("org:admin").closure().to_string(), "org:read org:admin");
        assert_eq!(Scopes::known("playbook:write").closure().to_string(), "playbook:read playbook:write");
        assert_eq!(Scopes::ALL.to_string(), WORDS.join(" "));
    }

    proptest! {
        #[test]
        fn words_and_sets_agree(bits in 0_u8..32) {
            let set = Scopes(bits);
            prop_assert_eq!(Scopes::known(&set.to_string()), set);
            prop_assert!(set.within(set.closure()) && set.closure().closure() == set.closure());
            prop_assert!(set.and(Scopes::FOUR).within(Scopes::FOUR));
        }
    }
}
