//! Each event in one sentence for the person (`mcp.md` 12.4): no ids, no positions, no slashes.

use serde_json::Value;

use super::Row;

/// The most characters of a text of others, and of a name.
const TEXT: usize = 300;
const NAME: usize = 128;

/// The tool an event is about, which only the event that began its call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The tool server.
    pub server: String,
    /// The tool.
    pub tool: String,
}

impl Called {
    /// The tool that an event's own data names.
    pub fn of(data: &Value) -> Option<Self> {
        let name = |field: &str| data[field].as_str().map(|text| clean(text, NAME));
        Some(Self { server: name("server")?, tool: name("tool")? })
    }
}

/// Whether the sentence of the event names a tool that its own data leaves to the event that led to it.
pub fn names_its_cause(row: &Row) -> bool {
    matches!(row.kind.as_str(), "tool_execute_answered" | "tool_execute_failed") && Called::of(&row.data).is_none()
}

/// The event in a sentence; `begun` is the tool that the event which led to it called.
pub fn summary(row: &Row, begun: Option<&Called>) -> String {
    let own = Called::of(&row.data);
    let tool = own
        .as_ref()
        .or(begun)
        .map_or_else(|| "A tool".to_owned(), |Called { server, tool }| format!("The tool {tool} of {server}"));
    match row.kind.as_str() {
        "tool_execute_started" => format!("{tool} was called by hand."),
        "tool_execute_answered" if row.data["is_error"] == true => {
            format!("{tool}, called by hand, answered with an error.")
        }
        "tool_execute_answered" => format!("{tool}, called by hand, answered."),
        "tool_execute_failed" => match row.data["detail"].as_str().filter(|detail| !detail.trim().is_empty()) {
            Some(detail) => format!("{tool}, called by hand, gave no answer: “{}”.", clean(detail, TEXT)),
            None => format!("{tool}, called by hand, gave no answer."),
        },
        other => format!("The history keeps an event “{}”.", clean(&other.replace('_', " "), NAME)),
    }
}

/// A text of others: without control characters, cut with an ellipsis.
fn clean(text: &str, most: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ledger::Actor;

    fn row(kind: &str, data: Value) -> Row {
        Row {
            position: 1,
            id: "0190".into(),
            playbook: Some("repair-shop".into()),
            stream: "calls/0190".into(),
            stream_position: 1,
            kind: kind.into(),
            at: 0,
            actor: Actor::system(),
            correlation_id: None,
            causation_id: None,
            data,
        }
    }

    #[test]
    fn a_call_by_hand_is_told_from_its_start_to_its_end() {
        let begun = Called::of(&json!({ "server": "parts", "tool": "find_part" })).unwrap();
        let told = |kind, data| summary(&row(kind, data), Some(&begun));
        assert_eq!(
            summary(&row("tool_execute_started", json!({ "server": "parts", "tool": "find_part" })), None),
            "The tool find_part of parts was called by hand."
        );
        assert_eq!(
            [
                told("tool_execute_answered", json!({ "is_error": false })),
                told("tool_execute_answered", json!({ "is_error": true })),
                told("tool_execute_failed", json!({ "because": "timed_out", "detail": "It took\ntoo long." })),
            ],
            [
                "The tool find_part of parts, called by hand, answered.",
                "The tool find_part of parts, called by hand, answered with an error.",
                "The tool find_part of parts, called by hand, gave no answer: “It took too long.”.",
            ]
        );
    }

    #[test]
    fn an_end_whose_start_is_not_at_hand_is_told_too() {
        let end = row("tool_execute_answered", json!({ "is_error": false }));
        assert!(names_its_cause(&end));
        assert_eq!(summary(&end, None), "A tool, called by hand, answered.");
    }

    #[test]
    fn a_type_without_a_sentence_of_its_own_has_one_all_the_same() {
        assert_eq!(summary(&row("run_started", json!({})), None), "The history keeps an event “run started”.");
    }
}
