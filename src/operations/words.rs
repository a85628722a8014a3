//! The voice of summaries (`mcp.md` 12): whole sentences for the person, texts of others in quotation marks.

use serde_json::Value;

/// The most characters of a text of users or servers that a summary repeats.
const QUOTED: usize = 300;
/// The most characters of a value told in full, and its most levels.
const SHORT: (usize, usize) = (600, 3);

/// A text written by somebody else, in quotation marks, cut at 300 characters, without control characters.
pub fn quoted(text: &str) -> String {
    format!("“{}”", cut(text, QUOTED))
}

/// `text` without control characters, cut at `most` characters with an ellipsis.
pub fn cut(text: &str, most: usize) -> String {
    let mut clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = clean.by_ref().take(most).collect();
    if clean.next().is_some() {
        out.push('…');
    }
    out
}

/// `1 run`, `3 runs`, `No run` — the last at the beginning of a sentence.
pub fn count(number: usize, one: &str) -> String {
    match number {
        0 => format!("No {one}"),
        1 => format!("1 {one}"),
        many => format!("{many} {one}s"),
    }
}

/// Two joined by `and`, more by commas and `, and`.
pub fn joined(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

/// The first `most` items joined, and how many more there are.
pub fn joined_most(items: &[String], most: usize) -> String {
    if items.len() <= most {
        return joined(items);
    }
    let mut shown = items[..most].to_vec();
    shown.push(format!("{} more", items.len() - most));
    joined(&shown)
}

/// A value in words, or `None` when it is too long for a summary.
pub fn value(value: &Value) -> Option<String> {
    let text = render(value, 0)?;
    (text.chars().count() <= SHORT.0).then_some(text)
}

fn render(value: &Value, level: usize) -> Option<String> {
    if level > SHORT.1 {
        return None;
    }
    Some(match value {
        Value::Null => "nothing".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let rendered: Option<Vec<String>> = items.iter().take(5).map(|item| render(item, level + 1)).collect();
            let mut rendered = rendered?;
            if items.len() > 5 {
                rendered.push(format!("{} more", items.len() - 5));
            }
            if rendered.is_empty() { "nothing".into() } else { joined(&rendered) }
        }
        Value::Object(members) => {
            let rendered: Option<Vec<String>> = members
                .iter()
                .map(|(name, member)| render(member, level + 1).map(|member| format!("{}: {member}", cut(name, 64))))
                .collect();
            let text = joined(&rendered?);
            if level == 0 { text } else { format!("({text})") }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_told_as_a_person_would() {
        let told = |v| value(&v).expect("short");
        assert_eq!(told(json!({ "verdict": "approve", "note": "Fine." })), "verdict: “approve” and note: “Fine.”");
        assert_eq!(
            told(json!({ "review": "Revise.", "approval": { "verdict": "approve", "note": "Go." } })),
            "review: “Revise.” and approval: (verdict: “approve” and note: “Go.”)"
        );
        assert_eq!(told(json!([1, 2, 3, 4, 5, 6, 7])), "1, 2, 3, 4, 5, and 2 more");
        assert_eq!(told(json!([true, null])), "yes and nothing");
    }

    #[test]
    fn a_long_or_deep_value_is_not_told() {
        assert_eq!(value(&json!("a".repeat(300)).clone()).map(|t| t.chars().count()), Some(302));
        assert_eq!(value(&json!([[[[["deep"]]]]])), None);
        assert_eq!(value(&json!({ "a": "x".repeat(290), "b": "x".repeat(290), "c": "x".repeat(290) })), None);
    }

    #[test]
    fn counts_and_lists() {
        assert_eq!([count(0, "run"), count(1, "run"), count(2, "run")], ["No run", "1 run", "2 runs"]);
        let items: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(joined(&items), "a, b, and c");
        assert_eq!(joined_most(&items, 1), "a and 2 more");
    }
}
