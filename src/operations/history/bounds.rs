//! How much of an event's fact is shown: a field too large for its place gives way to its size.

use serde_json::{Map, Value};

use crate::ledger::public_types;

/// The most a field of a page's row takes, in bytes as JSON.
const PAGE_FIELD: usize = 2 * 1_024;
/// The most the whole fact of a page's row takes.
const PAGE_DATA: usize = 4 * 1_024;
/// The most a large field takes in an answer over MCP, where it travels twice.
const MCP_FIELD: usize = 64 * 1_024;

/// Of a call, what the tool server sent; a page shows only the answer made from it.
const RAW: &str = "result";

/// The fact as a row of a page shows it.
pub(super) fn of_page(kind: &str, data: Value) -> Value {
    let Value::Object(mut fact) = data else { return data };
    let large = public_types::large_fields(kind);
    if large.contains(&RAW) {
        shrink(&mut fact, RAW);
    }
    cut(&mut fact, large, PAGE_FIELD);
    while size(&fact) > PAGE_DATA {
        // The large fields first; another only when a fact breaks the bound without them.
        let Some(next) = largest(&fact, |name| large.contains(&name)).or_else(|| largest(&fact, |_| true)) else {
            break;
        };
        shrink(&mut fact, &next);
    }
    Value::Object(fact)
}

/// The whole fact for an answer over MCP, and the large fields that even there give way.
pub(super) fn over_mcp(kind: &str, data: Value) -> (Value, Vec<&'static str>) {
    let Value::Object(mut fact) = data else {
        return (data, Vec::new());
    };
    let gone = cut(&mut fact, public_types::large_fields(kind), MCP_FIELD);
    (Value::Object(fact), gone)
}

/// Shrinks the fields of `large` that take more than `most` and says which.
fn cut(fact: &mut Map<String, Value>, large: &[&'static str], most: usize) -> Vec<&'static str> {
    let gone: Vec<&'static str> =
        large.iter().copied().filter(|name| fact.get(*name).is_some_and(|value| size(value) > most)).collect();
    for name in &gone {
        shrink(fact, name);
    }
    gone
}

/// Puts `<name>_bytes` in the place of the field, unless the fact tells that size already.
fn shrink(fact: &mut Map<String, Value>, name: &str) {
    let told = format!("{name}_bytes");
    let known = fact.contains_key(&told);
    let fields = std::mem::take(fact);
    for (field, value) in fields {
        if field != name {
            fact.insert(field, value);
        } else if !known {
            fact.insert(told.clone(), size(&value).into());
        }
    }
}

/// The field that takes most among those `may` names, sizes aside.
fn largest(fact: &Map<String, Value>, may: impl Fn(&str) -> bool) -> Option<String> {
    let fields = fact.iter().filter(|(name, value)| may(name) && !value.is_number());
    fields.max_by_key(|(_, value)| size(value)).map(|(name, _)| name.clone())
}

fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text(bytes: usize) -> String {
        // The quotation marks count as well.
        "x".repeat(bytes - 2)
    }

    #[test]
    fn a_field_of_a_page_is_whole_up_to_2_kib() {
        let whole = json!({ "call_id": "a", "arguments": text(2_048) });
        assert_eq!(of_page("tool_execute_started", whole.clone()), whole);
        assert_eq!(
            of_page("tool_execute_started", json!({ "call_id": "a", "arguments": text(2_049), "tool": "find_part" })),
            json!({ "call_id": "a", "arguments_bytes": 2_049, "tool": "find_part" })
        );
    }

    #[test]
    fn the_largest_field_gives_way_first_when_the_fact_is_over_4_kib() {
        let fact = json!({ "output": text(2_000), "record": text(2_047), "note": text(100) });
        assert_eq!(
            of_page("run_succeeded", fact),
            json!({ "output": text(2_000), "record_bytes": 2_047, "note": text(100) })
        );
    }

    #[test]
    fn a_page_shows_a_calls_answer_and_never_what_the_server_sent() {
        let fact = json!({ "result_bytes": 90, "answer": "ok", "result": { "content": [] } });
        assert_eq!(of_page("tool_execute_answered", fact), json!({ "result_bytes": 90, "answer": "ok" }));
    }

    #[test]
    fn over_mcp_a_large_field_is_whole_up_to_64_kib() {
        let fact = json!({ "answer": text(65_536), "result": text(65_537), "result_bytes": 70_000 });
        let (shown, gone) = over_mcp("tool_execute_answered", fact);
        assert_eq!((shown, gone), (json!({ "answer": text(65_536), "result_bytes": 70_000 }), vec!["result"]));
    }

    proptest! {
        #[test]
        fn no_fact_of_a_page_is_over_its_bound(sizes in prop::collection::vec(2_usize..6_000, 0..6)) {
            let names = ["output", "record", "detail", "server", "tool", "call_id"];
            let fact: Map<String, Value> =
                names.iter().zip(&sizes).map(|(name, bytes)| ((*name).to_owned(), text(*bytes).into())).collect();
            prop_assert!(size(&of_page("run_succeeded", Value::Object(fact))) <= PAGE_DATA);
        }
    }
}
