//! Patterns of provider files: anchored, bounded, and run by an engine that needs time linear in the text.

use regex::{Regex, RegexBuilder};

/// The most characters of a pattern.
const MAX_PATTERN: usize = 200;

/// The most bytes a compiled pattern takes; a repetition of a repetition would take more.
const MAX_COMPILED: usize = 256 * 1024;

/// Compiles a pattern that the whole of a value must match; the error says what was expected.
pub(super) fn compile(text: &str) -> Result<Regex, String> {
    if text.chars().count() > MAX_PATTERN {
        return Err("a pattern has at most 200 characters".into());
    }
    if !text.starts_with('^') || !text.ends_with('$') || text.ends_with("\\$") {
        return Err("expected a pattern anchored at both ends, as ^…$".into());
    }
    // `^a|b$` is anchored on one side of each half only, so the whole is anchored once more.
    RegexBuilder::new(&format!(r"\A(?:{text})\z")).size_limit(MAX_COMPILED).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the pattern is too large once compiled".to_owned(),
        _ => "expected a pattern of the linear-time kind, without look-around and back references".to_owned(),
    })
}

/// Whether the whole of `value` matches; a pattern that does not compile matches nothing.
pub(super) fn matches(pattern: &str, value: &str) -> bool {
    compile(pattern).is_ok_and(|pattern| pattern.is_match(value))
}
