//! The types of events a playbook's history may show (`http-api.md` 11.6), and which fields of each may be large.
//!
//! The whole table stands here, so that a filter by a type that nothing records yet is an empty page and no refusal.

/// Each public type with its large fields, which a page may replace by their sizes.
const TYPES: [(&str, &[&str]); 48] = [
    ("run_started", &["input"]),
    ("run_deferred", &["record"]),
    ("run_succeeded", &["output", "record"]),
    ("run_rejected", &["record"]),
    ("run_failed", &[]),
    ("run_cancel_requested", &[]),
    ("model_call_started", &[]),
    ("model_call_ended", &[]),
    ("tool_call_started", &["arguments"]),
    ("tool_call_answered", &["answer", "result"]),
    ("tool_call_failed", &[]),
    ("interaction_requested", &[]),
    ("delivery_started", &["arguments"]),
    ("delivery_succeeded", &["answer"]),
    ("delivery_failed", &[]),
    ("delivery_refused", &[]),
    ("reply_taken", &[]),
    ("reply_refused", &[]),
    ("replies_read", &[]),
    ("reading_failed", &[]),
    ("telling_started", &["arguments"]),
    ("telling_succeeded", &["answer"]),
    ("telling_failed", &[]),
    ("tool_execute_started", &["arguments"]),
    ("tool_execute_answered", &["answer", "result"]),
    ("tool_execute_failed", &[]),
    ("answer_given", &["answer"]),
    ("workflow_input_applied", &[]),
    ("step_started", &[]),
    ("step_waiting", &[]),
    ("step_finished", &[]),
    ("step_skipped", &[]),
    ("step_failed", &[]),
    ("definition_created", &[]),
    ("definition_updated", &[]),
    ("definition_retired", &[]),
    ("event_published", &["data"]),
    ("reaction_refused", &[]),
    ("dataset_uploaded", &[]),
    ("dataset_collected", &[]),
    ("training_taken", &[]),
    ("training_failed", &[]),
    ("model_trained", &[]),
    ("model_evaluated", &[]),
    ("approval_requested", &[]),
    ("model_approved", &[]),
    ("model_refused", &[]),
    ("model_activated", &[]),
];

/// Whether `kind` is a public type.
pub fn is_public(kind: &str) -> bool {
    TYPES.iter().any(|(known, _)| *known == kind)
}

/// The large fields of an event of `kind`; none of a type that is not public.
pub fn large_fields(kind: &str) -> &'static [&'static str] {
    TYPES.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, fields)| fields)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_type_stands_once_and_what_is_not_listed_is_not_public() {
        let kinds: HashSet<&str> = TYPES.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds.len(), TYPES.len());
        assert!(is_public("tool_execute_started") && !is_public("playbook_created") && !is_public(""));
    }

    #[test]
    fn the_large_fields_are_those_that_hold_what_people_and_servers_wrote() {
        assert_eq!(large_fields("tool_execute_answered"), ["answer", "result"]);
        assert!(large_fields("run_failed").is_empty() && large_fields("connection_added").is_empty());
    }
}
