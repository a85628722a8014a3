//! Takes the secrets of one tool server out of everything that leaves it (`tool-servers.md` 12).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Map, Number, Value};

/// What stands where a secret was.
pub const REPLACEMENT: &str = "[secret]";

/// Characters under which a secret is not looked for: it would be found in harmless words.
const MIN_CHARACTERS: usize = 8;

/// Digits a JSON number surely keeps when it is read as a double.
const EXACT_DIGITS: usize = 15;

/// All but what RFC 3986, section 2.3 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// All that a browser's `encodeURIComponent` encodes.
const COMPONENT: &AsciiSet = &RESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');

/// Finds the secrets of one server, as they are and in the forms a server may send them back in.
///
/// It has no `Debug`: the patterns are the secrets.
#[derive(Clone)]
pub struct Scrubber {
    texts: Search,
    /// The digits of secrets that are whole numbers.
    numbers: Search,
}

#[derive(Clone)]
enum Search {
    Nothing,
    Patterns(AhoCorasick),
    /// The patterns could not be built, so everything counts as found.
    Everything,
}

impl Scrubber {
    /// A scrubber of `secrets`; those under eight characters are left out.
    pub fn new<S: AsRef<[u8]>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut texts = BTreeSet::new();
        let mut numbers = BTreeSet::new();
        for secret in secrets {
            let secret = secret.as_ref();
            let text = std::str::from_utf8(secret).ok();
            if text.map_or(secret.len(), |text| text.chars().count()) < MIN_CHARACTERS {
                continue;
            }
            if let Some(text) = text {
                texts.insert(text.to_owned());
                add_json(&mut texts, text);
                numbers.extend(number(text));
            }
            add_base64(&mut texts, secret);
            add_percent(&mut texts, secret);
        }
        Self { texts: Search::new(&texts), numbers: Search::new(&numbers) }
    }

    /// `text` with every secret replaced.
    pub fn text(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        let mut kept = 0;
        for found in self.texts.ranges(text) {
            clean.push_str(&text[kept..found.start]);
            clean.push_str(REPLACEMENT);
            kept = found.end;
        }
        clean.push_str(&text[kept..]);
        clean
    }

    /// Replaces every secret in the keys, texts and numbers of `value`.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.texts.finds(text) => *text = self.text(text),
            Value::Number(number) if self.finds_number(number) => *value = Value::from(REPLACEMENT),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.value(member));
                if members.keys().any(|key| self.texts.finds(key)) {
                    *members = self.keys(std::mem::take(members));
                }
            }
            _ => {}
        }
    }

    /// Whether a secret is anywhere in `value`.
    pub fn finds(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.texts.finds(text),
            Value::Number(number) => self.finds_number(number),
            Value::Array(items) => items.iter().any(|item| self.finds(item)),
            Value::Object(members) => members.iter().any(|(key, member)| self.texts.finds(key) || self.finds(member)),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn keys(&self, members: Map<String, Value>) -> Map<String, Value> {
        let mut clean = Map::new();
        for (key, member) in members {
            let plain = self.text(&key);
            let mut name = plain.clone();
            // Two keys may become the same one; neither member is lost by that.
            let mut count = 1;
            while clean.contains_key(&name) {
                count += 1;
                name = format!("{plain} {count}");
            }
            clean.insert(name, member);
        }
        clean
    }

    fn finds_number(&self, number: &Number) -> bool {
        let text = number.to_string();
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        self.texts.finds(&text) || self.numbers.finds(&digits)
    }
}

impl Search {
    fn new(patterns: &BTreeSet<String>) -> Self {
        if patterns.is_empty() {
            return Self::Nothing;
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns);
        built.map_or(Self::Everything, Self::Patterns)
    }

    fn finds(&self, text: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Patterns(automaton) => automaton.is_match(text),
            Self::Everything => true,
        }
    }

    /// Where secrets are, in order; those that overlap count as one, so that no rest of a secret stays.
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let automaton = match self {
            Self::Nothing => return Vec::new(),
            Self::Patterns(automaton) => automaton,
            Self::Everything => return std::iter::once(0..text.len()).collect(),
        };
        let mut found: Vec<Range<usize>> = automaton.find_overlapping_iter(text).map(|hit| hit.range()).collect();
        found.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }
}

/// The secret as a number would be printed: without leading zeros, and as far as a double keeps it.
fn number(secret: &str) -> Option<String> {
    let digits = secret.trim_start_matches('0');
    let whole = digits.len() >= MIN_CHARACTERS && digits.bytes().all(|byte| byte.is_ascii_digit());
    whole.then(|| digits.chars().take(EXACT_DIGITS).collect())
}

/// Base64 in both alphabets, padded or not, also where the secret is in the middle of what was encoded.
fn add_base64(patterns: &mut BTreeSet<String>, secret: &[u8]) {
    for engine in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
        let padded = engine.encode(secret);
        patterns.insert(padded.trim_end_matches('=').to_owned());
        patterns.insert(padded);
        for before in 0..3 {
            let mut shifted = vec![0; before];
            shifted.extend_from_slice(secret);
            let encoded = engine.encode(&shifted);
            // Characters at the edges depend on the neighbours: those of the bytes before, and the last partial one.
            let start = (before * 8).div_ceil(6);
            let end = shifted.len() * 8 / 6;
            patterns.insert(encoded[start..end].to_owned());
        }
    }
}

/// Percent-encoded by the usual rules, in both cases of hexadecimal digits, and as a form writes it.
fn add_percent(patterns: &mut BTreeSet<String>, secret: &[u8]) {
    for set in [NON_ALPHANUMERIC, RESERVED, COMPONENT] {
        let upper = percent_encode(secret, set).to_string();
        patterns.insert(lower_hex(&upper));
        patterns.insert(upper);
    }
    let form: String = url::form_urlencoded::byte_serialize(secret).collect();
    patterns.insert(lower_hex(&form));
    patterns.insert(form);
}

fn lower_hex(encoded: &str) -> String {
    let mut pieces = encoded.split('%');
    let mut lower = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
        lower.push('%');
        lower.push_str(&digits.to_ascii_lowercase());
        lower.push_str(rest);
    }
    lower
}

/// As JSON writes it, with and without escapes for slashes and for characters beyond ASCII.
fn add_json(patterns: &mut BTreeSet<String>, secret: &str) {
    let quoted = Value::from(secret).to_string();
    let escaped = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or(&quoted);
    // A secret that begins with a quote has it escaped, so the one cut off is always the delimiter.
    for upper in [false, true] {
        let mut ascii = String::new();
        for character in escaped.chars() {
            if character.is_ascii() {
                ascii.push(character);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` does not fail.
                let _ = if upper { write!(ascii, "\\u{unit:04X}") } else { write!(ascii, "\\u{unit:04x}") };
            }
        }
        patterns.insert(ascii.replace('/', "\\/"));
        patterns.insert(ascii);
    }
    patterns.insert(escaped.replace('/', "\\/"));
    patterns.insert(escaped.to_owned());
}

#[cfg(test)]
mod tests;
