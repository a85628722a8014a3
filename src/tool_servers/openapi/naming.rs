//! Names of tools (sheet 6.2): from the document's content alone, never from its order.

use crate::digest::{hex, sha256};
use std::collections::BTreeMap;

/// The longest name.
const LONGEST: usize = 128;
/// What is kept before the hash of a longer one.
const KEPT: usize = 119;

/// One operation to be named.
pub(super) struct Unnamed<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) operation_id: Option<&'a str>,
}

/// The name of each operation, in the order given.
pub(super) fn names(operations: &[Unnamed<'_>]) -> Vec<String> {
    let by_id: Vec<Option<String>> =
        operations.iter().map(|operation| operation.operation_id.map(clean).filter(|name| !name.is_empty())).collect();
    let by_path: Vec<String> = operations.iter().map(|one| from_path(one.method, one.path)).collect();
    let mut names: Vec<String> =
        by_id.iter().zip(&by_path).map(|(id, path)| id.clone().unwrap_or_else(|| path.clone())).collect();
    let counts = count(&names);
    for (index, name) in names.iter_mut().enumerate() {
        if counts[name] > 1 && by_id[index].is_some() {
            name.clone_from(&by_path[index]);
        }
    }
    let hashes: Vec<String> =
        operations.iter().map(|one| short_hash(&format!("{} {}", one.method.to_ascii_uppercase(), one.path))).collect();
    let counts = count(&names);
    for (name, hash) in names.iter_mut().zip(&hashes) {
        if counts[name] > 1 {
            *name = format!("{name}_{hash}");
        }
        cut(name, hash);
    }
    // A name that looks like another's hashed one: rare enough for a second hash.
    let counts = count(&names);
    for (name, hash) in names.iter_mut().zip(&hashes) {
        if counts[name] > 1 {
            *name = format!("{name}_{hash}");
            cut(name, hash);
        }
    }
    names
}

fn cut(name: &mut String, hash: &str) {
    if name.len() > LONGEST {
        name.truncate(KEPT);
        name.push('_');
        name.push_str(hash);
    }
}

fn count(names: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name.clone()).or_default() += 1;
    }
    counts
}

/// Letters, digits, `_ - .`; the rest becomes `_`, runs of which become one, and none at the ends.
pub(super) fn clean(name: &str) -> String {
    let mut cleaned = String::with_capacity(name.len());
    for character in name.chars() {
        let character =
            if character.is_ascii_alphanumeric() || matches!(character, '-' | '.') { character } else { '_' };
        if character != '_' || !cleaned.ends_with('_') {
            cleaned.push(character);
        }
    }
    cleaned.trim_matches('_').to_owned()
}

fn from_path(method: &str, path: &str) -> String {
    let segments: Vec<String> = path
        .split('/')
        .map(|segment| clean(&segment.replace(['{', '}'], "")))
        .filter(|segment| !segment.is_empty())
        .collect();
    let rest = if segments.is_empty() { "root".to_owned() } else { segments.join("_") };
    clean(&format!("{}_{rest}", method.to_ascii_lowercase()))
}

/// The first eight hexadecimal digits of SHA-256.
pub(super) fn short_hash(text: &str) -> String {
    hex(&sha256(text)[..4])
}
