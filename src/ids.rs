//! Ids and randomness as values: a test can replace the source and read what was made.
//!
//! Runs, events and calls are UUIDv7; connections, links, keys and people are a prefix and base62 (decision D26).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A source of random bytes.
pub trait Entropy: Send + Sync + 'static {
    /// Fills `out` with bytes nobody can foretell.
    fn fill(&self, out: &mut [u8]);
}

/// The system's generator.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, out: &mut [u8]) {
        #[expect(clippy::expect_used, reason = "a system without randomness can serve nobody safely")]
        #[expect(clippy::disallowed_methods, reason = "the one place that draws")]
        aws_lc_rs::rand::fill(out).expect("the system's random generator answers");
    }
}

/// A countable source, so that a test knows each id; never for a server.
#[derive(Debug, Default)]
pub struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn fill(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            let next = self.0.fetch_add(1, Ordering::SeqCst).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&next.to_be_bytes()[..chunk.len()]);
        }
    }
}

/// Makes every id of the server.
#[derive(Clone)]
pub struct Ids {
    entropy: Arc<dyn Entropy>,
}

impl Ids {
    /// Ids drawn from `entropy`.
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy }
    }

    /// A UUIDv7 (RFC 9562) whose time part is `now_ms`.
    pub fn uuid(&self, now_ms: i64) -> Uuid {
        let mut random = [0_u8; 10];
        self.entropy.fill(&mut random);
        uuid::Builder::from_unix_timestamp_millis(u64::try_from(now_ms).unwrap_or(0), &random).into_uuid()
    }

    /// `prefix` followed by `length` base62 characters, each equally likely.
    pub fn base62(&self, prefix: &str, length: usize) -> String {
        let mut text = String::with_capacity(prefix.len() + length);
        text.push_str(prefix);
        let mut block = [0_u8; 64];
        while text.len() < prefix.len() + length {
            self.entropy.fill(&mut block);
            // 248 is the largest multiple of 62 below 256: larger bytes would favour the first characters.
            let drawn = block.iter().filter(|byte| **byte < 248).map(|byte| char::from(BASE62[usize::from(byte % 62)]));
            text.extend(drawn.take(prefix.len() + length - text.len()));
        }
        text
    }

    /// A connection's id: `conn_` and 22 base62 characters.
    pub fn connection(&self) -> String {
        self.base62("conn_", 22)
    }

    /// An approval link: `link_` and 32 base62 characters, 190 bits.
    pub fn link(&self) -> String {
        self.base62("link_", 32)
    }

    /// A person's id: `user_` and 22 base62 characters.
    pub fn person(&self) -> String {
        self.base62("user_", 22)
    }

    /// An invitation's id: `inv_` and 22 base62 characters.
    pub fn invitation(&self) -> String {
        self.base62("inv_", 22)
    }

    /// The code of an invitation: 27 base62 characters, 160 bits.
    pub fn invitation_code(&self) -> String {
        self.base62("", 27)
    }

    /// A key's id: `key_` and 22 base62 characters.
    pub fn key(&self) -> String {
        self.base62("key_", 22)
    }

    /// `N` random bytes, for keys and nonces.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut out = [0_u8; N];
        self.entropy.fill(&mut out);
        out
    }
}

/// A number in base62 (`0-9A-Za-z`), left-padded with `0` to `width` characters.
pub fn base62_number(mut number: u64, width: usize) -> String {
    let mut digits = Vec::with_capacity(width);
    while number > 0 || digits.len() < width {
        digits.push(BASE62[usize::try_from(number % 62).unwrap_or(0)]);
        number /= 62;
    }
    digits.iter().rev().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_prefix_length_and_alphabet() {
        let ids = Ids::new(Arc::new(SystemEntropy));
        let (connection, link) = (ids.connection(), ids.link());
        assert_eq!((connection.len(), link.len()), (27, 37));
        assert!(connection[5..].chars().all(|c| c.is_ascii_alphanumeric()));
        assert_ne!(ids.connection(), connection);
    }

    #[test]
    fn a_uuid_carries_its_time_so_that_later_ones_sort_later() {
        let ids = Ids::new(Arc::new(SystemEntropy));
        assert!(ids.uuid(1_000).to_string() < ids.uuid(2_000).to_string());
        assert_eq!(ids.uuid(1_000).get_version_num(), 7);
    }

    #[test]
    fn numbers_are_padded_to_their_width() {
        assert_eq!(base62_number(0, 6), "000000");
        assert_eq!(base62_number(61, 6), "00000z");
        assert_eq!(base62_number(62, 6), "000010");
    }
}
