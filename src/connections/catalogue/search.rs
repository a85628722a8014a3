//! Finding providers by words.

use super::Provider;

/// Words that say nothing about a service.
const EMPTY_WORDS: [&str; 16] =
    ["a", "an", "and", "at", "by", "for", "from", "in", "its", "my", "of", "on", "or", "the", "to", "with"];

/// How well a provider answers the words asked for: 0 when not at all.
///
/// A word counts most in the name and the title, less among the terms, least in the description; a prefix of at least
/// three characters counts half.
pub(super) fn score(provider: &Provider, asked: &[String]) -> u32 {
    let terms = provider.terms.join(" ");
    let fields = [
        (provider.name.as_str(), 6),
        (provider.title.as_str(), 6),
        (terms.as_str(), 4),
        (provider.description.as_str(), 2),
    ];
    asked
        .iter()
        .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
        .map(|word| {
            fields
                .iter()
                .flat_map(|(text, weight)| words(text).into_iter().map(move |found| (found, weight)))
                .map(|(found, weight)| match found.strip_prefix(word.as_str()) {
                    Some("") => *weight,
                    Some(_) if word.chars().count() >= 3 => weight / 2,
                    _ => 0,
                })
                .max()
                .unwrap_or(0)
        })
        .sum()
}

/// Lower-case words, cut at everything that is neither letter nor digit, without a plain plural's `s`.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| {
            let word = word.to_lowercase();
            match word.strip_suffix('s') {
                Some(singular) if singular.chars().count() >= 3 && !singular.ends_with('s') => singular.to_owned(),
                _ => word,
            }
        })
        .collect()
}
