//! The one check of a call's arguments, for `validate`, `dry_run` and `execute`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Issue;
use crate::operations::schema::issues_of;
use crate::tool_servers::check::Found;

/// The most bytes of arguments as JSON.
pub(super) const MOST_BYTES: usize = 16_384;
/// The most faults told.
const MOST_FAULTS: usize = 20;
/// Where the arguments are in the input.
const AT: &str = "/arguments";

/// A fault of the arguments.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Fault {
    /// What is wrong.
    detail: String,
    /// Where, as a JSON Pointer into the input.
    pointer: String,
}

/// How large arguments are as JSON.
pub(super) fn bytes(arguments: &Map<String, Value>) -> usize {
    serde_json::to_vec(arguments).map_or(usize::MAX, |text| text.len())
}

/// The fault of arguments that are too large, if they are.
pub(super) fn oversized(arguments: &Map<String, Value>) -> Option<Issue> {
    let bytes = bytes(arguments);
    (bytes > MOST_BYTES)
        .then(|| Issue::new(AT, format!("must have at most {MOST_BYTES} bytes as JSON; these have {bytes}")))
}

/// Every fault of the arguments, at most twenty.
pub(super) fn faults(found: &Found, arguments: &Map<String, Value>) -> Vec<Issue> {
    let value = Value::Object(arguments.clone());
    let mut issues: Vec<Issue> = oversized(arguments).into_iter().collect();
    if !issues.is_empty() {
        return issues;
    }
    if found.holds_secret(&value) {
        return vec![Issue::new(AT, "hold a credential of the server, which adds it by itself; leave it out")];
    }
    if let Some(checker) = found.tool.checker() {
        for error in checker.iter_errors(&value).take(MOST_FAULTS) {
            issues_of(&error, &mut issues);
        }
        issues.iter_mut().for_each(|issue| issue.pointer.insert_str(0, AT));
    }
    if issues.is_empty() {
        issues = found.tool.unwritable(arguments);
        issues.iter_mut().for_each(|issue| issue.pointer.insert_str(0, AT));
    }
    issues.truncate(MOST_FAULTS);
    issues
}

/// The faults as an output shows them.
pub(super) fn told(issues: Vec<Issue>) -> Vec<Fault> {
    issues.into_iter().map(|Issue { detail, pointer }| Fault { detail, pointer }).collect()
}
