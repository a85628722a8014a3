//! What of the audit is shown: the form, and what it asks the operation for.

use serde_json::{Value, json};

use super::words::{PHRASES, said};
use crate::app::App;
use crate::clock::{iso, parse_iso};
use crate::error::{Issue, Problem, Result};
use crate::http::sign_in_routes::Fields;
use crate::studio::Input;
use crate::studio::parts::{Act, Section};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// The longest span of an export, in milliseconds.
const LONGEST_MS: i64 = 366 * DAY_MS;
/// The fields that narrow the audit.
const FIELDS: [&str; 6] = ["from", "to", "actor", "action", "target", "result"];

/// The form, with what was asked.
pub(super) fn section(path: &str, asked: &Fields) -> Section {
    let given = |name| asked.get(name);
    let field = |name, title, kind| Input::new(name, title, kind, "off").given(given(name)).optional();
    let known = PHRASES.iter().map(|(action, _)| (*action, said(action), *action == given("action")));
    let mut actions: Vec<(&str, String, bool)> = vec![("", "anything".to_owned(), given("action").is_empty())];
    actions.extend(known);
    if !actions.iter().any(|(.., chosen)| *chosen) {
        actions.push((given("action"), given("action").to_owned(), true));
    }
    let results = [("", "done or refused"), ("ok", "done"), ("refused", "refused")];
    let results = results.map(|(value, words)| (value, words, value == given("result")));
    let mut section = Section::new("Which part of it?", path, "Show").looking();
    section.inputs = vec![
        field("from", "From the day", "date"),
        field("to", "To the day", "date"),
        field("actor", "By", "text").hint("An email, or the id of a person or key."),
        Input::choice("action", "What was done", "select", actions),
        field("target", "About", "text").hint("The id of what it was done to."),
        Input::choice("result", "Result", "select", results),
    ];
    if FIELDS.iter().any(|name| !given(name).is_empty()) { section.way(path, "Show everything") } else { section }
}

/// What the operation is asked for.
pub(super) async fn input(app: &App, asked: &Fields) -> Result<Value> {
    let mut input = json!({});
    for name in FIELDS {
        let given = asked.get(name).trim();
        let value = match name {
            _ if given.is_empty() => continue,
            "from" => day(given).map_or_else(|| given.to_owned(), iso),
            // The day counts too.
            "to" => day(given).map_or_else(|| given.to_owned(), |day| iso(day + DAY_MS)),
            "actor" if given.contains('@') => match app.identity.person_of_email(&given.to_lowercase()).await? {
                Some(person) => person.caller_id(),
                None => given.to_owned(),
            },
            _ => given.to_owned(),
        };
        input[name] = value.into();
    }
    Ok(input)
}

/// The beginning of a day, in UTC.
fn day(date: &str) -> Option<i64> {
    parse_iso(&format!("{date}T00:00:00Z"))
}

/// The same of the audit as a file; nothing where it would be of more days than one file holds.
pub(super) fn export(org: &str, input: &Value) -> Option<Act> {
    let at = |name: &str| input[name].as_str().and_then(parse_iso);
    if at("from").zip(at("to")).is_some_and(|(from, to)| to - from > LONGEST_MS) {
        return None;
    }
    let begin = format!("/v1/orgs/{org}/audit/export");
    let mut address = url::form_urlencoded::Serializer::for_suffix(format!("{begin}?"), begin.len() + 1);
    for name in FIELDS {
        if let Some(value) = input[name].as_str() {
            address.append_pair(name, value);
        }
    }
    let address = address.finish().trim_end_matches('?').to_owned();
    Some(Act::File { address, word: "Take it out as a file", name: format!("audit-{org}.jsonl") })
}

/// The audit narrowed by one field alone.
pub(super) fn only(path: &str, name: &str, value: &str) -> String {
    let mut address = url::form_urlencoded::Serializer::for_suffix(format!("{path}?"), path.len() + 1);
    address.append_pair(name, value).finish()
}

/// The same refusal, in words for who fills in the form.
pub(super) fn plain(problem: &Problem) -> Problem {
    let plainly = |issue: &Issue| {
        let words = match issue.pointer.trim_start_matches('/') {
            "from" => "Use a day such as 2026-10-01.",
            "to" => "Use a day such as 2026-10-01, not before the first.",
            _ => issue.detail.as_ref(),
        };
        Issue::new(issue.pointer.as_str(), words)
    };
    Problem::invalid_all(problem.issues().iter().map(plainly).collect())
}
