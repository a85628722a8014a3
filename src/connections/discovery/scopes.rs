//! Scopes that somebody outside wrote.

use std::collections::BTreeSet;

/// The most scopes that are asked for, and the longest.
const MOST: usize = 100;
const LONGEST: usize = 256;

/// Those that are scopes at all (RFC 6749, section 3.3), each once, in order.
pub(super) fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    words.into_iter().filter(|word| is_scope(word) && seen.insert(*word)).take(MOST).map(str::to_owned).collect()
}

fn is_scope(word: &str) -> bool {
    let fits = |byte: u8| byte == 0x21 || (0x23..=0x5b).contains(&byte) || (0x5d..=0x7e).contains(&byte);
    (1..=LONGEST).contains(&word.len()) && word.bytes().all(fits)
}
