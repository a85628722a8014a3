//! Titles and descriptions in the words of a document, cut and cleaned.

/// The longest description of a tool, in bytes.
const DESCRIPTION: usize = 4096;
/// The most notes of a tool.
pub(super) const NOTES: usize = 20;

/// The start of a text that fits in `bytes`, cut between characters.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// A text on one line without control characters, of at most `characters`.
pub(super) fn one_line(text: &str, characters: usize) -> String {
    let joined = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    joined.collect::<Vec<_>>().join(" ").chars().take(characters).collect()
}

/// A text without HTML tags and control characters; Markdown stays, also its `<https://…>` links.
pub(super) fn plain(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::with_capacity(text.len());
    while let Some(start) = rest.find('<') {
        plain.push_str(&rest[..start]);
        let tag = &rest[start..];
        let end = if tag.starts_with("<!--") { tag.find("-->").map(|end| end + 3) } else { tag_end(tag) };
        if let Some(end) = end {
            rest = &tag[end..];
        } else {
            plain.push('<');
            rest = &tag[1..];
        }
    }
    plain.push_str(rest);
    plain.retain(|character| !character.is_control() || matches!(character, '\n' | '\t'));
    plain.trim().to_owned()
}

fn tag_end(tag: &str) -> Option<usize> {
    let name = tag[1..].strip_prefix('/').unwrap_or(&tag[1..]);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let after = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-')?;
    if !name[after..].starts_with(|c: char| c == '>' || c == '/' || c.is_whitespace()) {
        return None;
    }
    tag.find('>').filter(|end| *end < 1000).map(|end| end + 1)
}

/// The title of a tool: its summary, else its name in words.
pub(super) fn title(summary: Option<&str>, name: &str) -> String {
    let summary = one_line(&plain(summary.unwrap_or_default()), 200);
    if !summary.is_empty() {
        return summary;
    }
    let mut words = String::new();
    let mut was_lower = false;
    for character in name.chars() {
        if matches!(character, '_' | '-' | '.') {
            words.push(' ');
        } else if was_lower && character.is_ascii_uppercase() {
            words.push(' ');
            words.push(character.to_ascii_lowercase());
        } else {
            words.push(character);
        }
        was_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    let words = one_line(&words, 200);
    let mut characters = words.chars();
    match characters.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + characters.as_str(),
        None => name.to_owned(),
    }
}

/// The description of a tool, its notes at the end.
pub(super) fn description(summary: Option<&str>, long: Option<&str>, deprecated: bool, notes: &[String]) -> String {
    let summary = plain(summary.unwrap_or_default());
    let long = plain(long.unwrap_or_default());
    let mut text = String::new();
    if deprecated {
        text.push_str("Deprecated. ");
    }
    let says_more = !summary.contains(long.as_str());
    if !says_more {
        text.push_str(&summary);
    } else if summary.is_empty() || long.starts_with(summary.as_str()) {
        text.push_str(&long);
    } else {
        text.push_str(&summary);
        text.push_str("\n\n");
        text.push_str(&long);
    }
    let mut ending = String::new();
    for note in notes {
        ending.push_str("\nNote: ");
        ending.push_str(note);
    }
    let ending = cut(&ending, DESCRIPTION / 2);
    let mut text = cut(text.trim_end(), DESCRIPTION - ending.len()).to_owned();
    text.push_str(ending);
    text.trim().to_owned()
}
