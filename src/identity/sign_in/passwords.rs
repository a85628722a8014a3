//! Passwords: what is taken as one, and how its hash is made and checked (`identity.md` 8.2; OWASP's figures for argon2id).
//!
//! A hash takes 19 MiB and some tens of milliseconds, so a server makes four at once, lets some wait and refuses the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;
use zxcvbn::matching::patterns::MatchPattern;

use crate::error::{Problem, Result};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// The fewest characters.
pub const SHORTEST: usize = 10;
/// The most characters.
pub const LONGEST: usize = 256;
/// How many of the most common passwords are refused.
const COMMON: usize = 10_000;
/// Memory of a hash in KiB, passes over it, lanes, and its length in bytes.
const COST: (u32, u32, u32, usize) = (19_456, 2, 1, 32);
/// Hashes made at once by a server.
const AT_ONCE: usize = 4;
/// Hashes that may wait.
const WAITING: usize = 32;
/// Stands for the salt of who is not there, so that they cost the same as who is.
const NOBODY: [u8; 16] = [0; 16];

const ONE: &str = "SELECT phc FROM passwords WHERE person = $1";
const PUT: &str = "INSERT INTO passwords (person, phc, changed_at) VALUES ($1, $2, $3) \
     ON CONFLICT (person) DO UPDATE SET phc = excluded.phc, changed_at = excluded.changed_at";

/// A password as it is hashed: normalised, so that every keyboard writes the same. Wiped when dropped.
pub struct Password(Zeroizing<String>);

impl Password {
    /// What somebody typed to be let in: nothing is asked of it, since a new rule must not lock anybody out.
    pub fn typed(text: &str) -> Self {
        Self(Zeroizing::new(text.chars().take(LONGEST + 1).nfc().collect()))
    }

    /// The same once more, to be hashed anew.
    pub(super) fn again(&self) -> Self {
        Self(self.0.clone())
    }

    /// A new password for the account of `email`.
    ///
    /// # Errors
    /// Words for the person who chose it.
    pub fn chosen(text: &str, email: &str) -> Result<Self, &'static str> {
        let password = Self(Zeroizing::new(text.nfc().collect()));
        let length = password.0.chars().count();
        if length < SHORTEST {
            return Err("is too short: take at least 10 characters");
        }
        if length > LONGEST {
            return Err("is too long: take at most 256 characters");
        }
        let plain = Zeroizing::new(password.0.to_lowercase());
        let local = email.split('@').next().unwrap_or_default();
        if *plain == email || *plain == local || plain.trim_matches(|c: char| !c.is_alphabetic()) == "playmaker" {
            return Err("is too easy to guess: do not use your email or the name Playmaker");
        }
        if is_common(&plain) {
            return Err("is one of the most used passwords: take another");
        }
        Ok(password)
    }
}

/// Whether it stands in the list of the most used ones, whole and as it is.
fn is_common(plain: &str) -> bool {
    // The longest of the list is far shorter.
    if plain.len() > 32 {
        return false;
    }
    let whole = plain.chars().count() - 1;
    zxcvbn::zxcvbn(plain, &[]).sequence().iter().any(|found| match &found.pattern {
        MatchPattern::Dictionary(entry) => {
            found.i == 0 && found.j == whole && entry.rank <= COMMON && !entry.reversed && !entry.l33t
        }
        _ => false,
    })
}

/// Makes and checks hashes, a few at a time. Cheap to clone.
#[derive(Clone)]
pub struct Hasher {
    places: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

impl Default for Hasher {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), waiting: Arc::default() }
    }
}

impl Hasher {
    /// The hash of a password under a new salt, as a PHC string.
    pub async fn hash(&self, password: Password, salt: [u8; 16]) -> Result<String> {
        self.alone(move || {
            let hash = argon()?.hash_password_with_salt(password.0.as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(|error| Problem::internal(error.to_string()))
        })
        .await
    }

    /// Whether it is the password behind `phc`. Without one it is not, and to find that out takes the same time.
    pub async fn verify(&self, password: Password, phc: Option<String>) -> Result<bool> {
        self.alone(move || match phc {
            Some(phc) => Ok(argon()?.verify_password(password.0.as_bytes(), phc.as_str()).is_ok()),
            None => {
                let made = argon()?.hash_password_with_salt(password.0.as_bytes(), &NOBODY);
                made.map(|_| false).map_err(|error| Problem::internal(error.to_string()))
            }
        })
        .await
    }

    async fn alone<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let place = match self.places.clone().try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                let _waits = Waits::among(&self.waiting)?;
                self.places.clone().acquire_owned().await.map_err(Problem::internal)?
            }
        };
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(Problem::internal)?
    }
}

/// One of those that wait; leaves when dropped, also when its request went away.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    fn among(waiting: &'a AtomicUsize) -> Result<Self> {
        let waits = Self(waiting);
        if waiting.fetch_add(1, Ordering::AcqRel) < WAITING {
            return Ok(waits);
        }
        Err(Problem::unavailable("Too many people are signing in at this moment."))
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn argon() -> Result<Argon2<'static>> {
    let (memory, passes, lanes, length) = COST;
    let params =
        Params::new(memory, passes, lanes, Some(length)).map_err(|error| Problem::internal(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Whether a hash was made at less cost than is asked today.
pub fn is_outdated(phc: &str) -> bool {
    let (memory, passes, lanes, _) = COST;
    !phc.starts_with(&format!("$argon2id$v=19$m={memory},t={passes},p={lanes}$"))
}

/// Writes the hash of a person's password, inside a commit.
pub async fn put(connection: &mut Connection, person: &str, phc: &str, now_ms: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(PUT)
        .bind(person).bind(phc).bind(now_ms).execute(c).await.map(|_| ()))?;
    Ok(())
}

impl crate::identity::Identity {
    /// The hash of a person's password, where they have one.
    pub async fn password_of(&self, person: &str) -> Result<Option<String>> {
        let row: Option<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ONE)
            .bind(person).fetch_optional(pool).await)?;
        Ok(row.map(|(phc,)| phc))
    }

    /// The hash of a new password under a new salt.
    pub async fn hashed(&self, password: Password) -> Result<String> {
        self.hasher.hash(password, self.ids.bytes()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_enough_and_neither_common_nor_told_by_the_account() {
        let refused = |text: &str| Password::chosen(text, "lovelace.ada@acme.test").err();
        for bad in ["short", "123456789", "1234567890", "password123", "Password123", "qwertyuiop"] {
            assert!(refused(bad).is_some(), "{bad}");
        }
        for bad in ["lovelace.ada@acme.test", "Lovelace.Ada", "Playmaker1234!", &"a".repeat(257)] {
            assert!(refused(bad).is_some(), "{bad}");
        }
        for good in ["correct horse battery staple", "пароль-на-каждый-день", "sadf8923hd", &"ab1 ".repeat(64)]
        {
            assert_eq!(refused(good), None, "{good}");
        }
    }

    #[tokio::test]
    async fn a_hash_has_the_figures_of_the_sheet_and_knows_each_spelling_of_its_password() {
        let hasher = Hasher::default();
        let phc = hasher.hash(Password::typed("Ze\u{301}phyr in the reeds"), [7; 16]).await.unwrap();
        assert!(
            phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$BwcHBwcHBwcHBwcHBwcHBw$") && !is_outdated(&phc),
            "{phc}"
        );
        assert!(hasher.verify(Password::typed("Z\u{e9}phyr in the reeds"), Some(phc.clone())).await.unwrap());
        assert!(!hasher.verify(Password::typed("zephyr in the reeds"), Some(phc)).await.unwrap());
        assert!(!hasher.verify(Password::typed("anything"), None).await.unwrap());
    }

    #[tokio::test]
    async fn more_than_may_wait_are_refused() {
        let hasher = Hasher::default();
        let held = hasher.places.clone().acquire_many_owned(4).await.unwrap();
        let mut waiting = Vec::new();
        for _ in 0..WAITING {
            let hasher = hasher.clone();
            waiting.push(tokio::spawn(async move { hasher.alone(|| Ok(())).await }));
        }
        while hasher.waiting.load(Ordering::Acquire) < WAITING {
            tokio::task::yield_now().await;
        }
        let refused = hasher.alone(|| Ok(())).await.unwrap_err();
        assert_eq!(refused.status(), 503);
        drop(held);
        for one in waiting {
            one.await.unwrap().unwrap();
        }
    }
}
