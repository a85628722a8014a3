//! Words of terms and of fields: lower case, cut at what is no letter or digit and at changes of case, without accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<String> {
    let plain: Vec<char> = text.nfkd().filter(|character| !is_combining_mark(*character)).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, character) in plain.iter().enumerate() {
        if !character.is_alphanumeric() {
            take(&mut word, &mut words);
            continue;
        }
        let before = index.checked_sub(1).map(|before| plain[before]);
        if before.is_some_and(|before| begins_word(before, *character, plain.get(index + 1).copied())) {
            take(&mut word, &mut words);
        }
        word.extend(character.to_lowercase());
    }
    take(&mut word, &mut words);
    words
}

/// `listIssues` is cut before `I`, `HTTPServer` before `S`.
fn begins_word(before: char, character: char, after: Option<char>) -> bool {
    if !character.is_uppercase() {
        return false;
    }
    before.is_lowercase() || (before.is_uppercase() && after.is_some_and(char::is_lowercase))
}

fn take(word: &mut String, words: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    let word = std::mem::take(word);
    words.push(match word.strip_suffix('s') {
        Some(one) if one.chars().count() >= 3 && !one.ends_with('s') => one.to_owned(),
        _ => word,
    });
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_are_cut_into_the_words_a_person_would_type() {
        assert_eq!(words("listOpenIssues"), ["list", "open", "issue"]);
        assert_eq!(words("get_HTTPServer-v2"), ["get", "http", "server", "v2"]);
        assert_eq!(words("Création d’équipes"), ["creation", "d", "equipe"]);
        assert_eq!(words("access bus class"), ["access", "bus", "class"]);
        assert_eq!(words("…"), Vec::<String>::new());
    }
}
