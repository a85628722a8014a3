//! The operations on the audit of an org (`identity.md` 10): HTTP alone, for people who manage it.

pub mod export_audit;
pub mod list_audit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::{iso, parse_iso};
use crate::error::{Issue, Problem, Result};
use crate::identity::caller::PERSON;
use crate::ledger::{AuditFilter, AuditRow, Via};

/// The most bytes of what a row tells of its act.
const MOST_CHANGES: usize = 4 * 1_024;

/// Whether an act was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was.
    Ok,
    /// It was refused.
    Refused,
}

/// The thing an act was about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Target {
    /// What it is, such as `connection`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
    /// What it was called then, or null.
    pub name: Option<String>,
}

/// A row of the audit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct View {
    /// Its id, a UUIDv7.
    pub id: String,
    /// When it was done.
    pub time: String,
    /// The org; null for what concerns the whole server.
    pub org: Option<String>,
    /// Who did it, as a caller id.
    pub actor: String,
    /// Their name at that time.
    pub actor_name: String,
    /// The way they came.
    pub via: Via,
    /// The client whose token it was, or null.
    pub client_id: Option<String>,
    /// What was done.
    pub action: String,
    /// What it was about.
    pub target: Target,
    /// Whether it was done.
    pub result: Outcome,
    /// Why it was refused, where it was.
    pub reason: Option<String>,
    /// What changed, or the facts of the act.
    #[schemars(with = "Map<String, Value>")]
    pub changes: Value,
    /// The request's id, or null.
    pub request_id: Option<String>,
    /// The address it came from, of IPv6 its network; null where none is known.
    pub address: Option<String>,
    /// What the client calls itself, or null.
    pub user_agent: Option<String>,
}

impl View {
    /// A row of `org`.
    pub fn of(org: &str, row: AuditRow) -> Self {
        let (things, id) = row.target();
        let kind = one_of(things);
        let id = if matches!(kind, "member" | "person") { format!("{PERSON}{id}") } else { id.to_owned() };
        let refused = row.is_refused();
        let reason = ["reason", "code"].iter().find_map(|name| row.data[*name].as_str()).map(str::to_owned);
        let target = Target { kind: kind.to_owned(), id, name: row.target_name };
        let origin = row.origin;
        Self {
            id: row.id,
            time: iso(row.at),
            org: (!org.is_empty()).then(|| org.to_owned()),
            actor: row.actor.id,
            actor_name: row.actor.name,
            // What has no request is the server's own doing.
            via: origin.as_ref().map_or(Via::Server, |origin| origin.via),
            client_id: origin.as_ref().and_then(|origin| origin.client_id.clone()),
            action: row.action,
            target,
            result: if refused { Outcome::Refused } else { Outcome::Ok },
            reason: reason.filter(|_| refused),
            changes: bounded(row.data),
            request_id: origin.as_ref().and_then(|origin| origin.request_id.clone()),
            address: origin.as_ref().and_then(|origin| origin.address.clone()),
            user_agent: origin.and_then(|origin| origin.user_agent),
        }
    }
}

/// The word of one of the things of a stream's first part.
fn one_of(things: &str) -> &str {
    match things {
        "people" => "person",
        "identities" => "identity",
        things => things.strip_suffix('s').unwrap_or(things),
    }
}

/// The facts within their bound; what does not fit is left out, and said to be.
fn bounded(data: Value) -> Value {
    let size = |value: &Value| value.to_string().len();
    if size(&data) <= MOST_CHANGES {
        return data;
    }
    let Value::Object(fields) = data else { return Value::Object(Map::new()) };
    let (mut kept, mut left) = (Map::new(), MOST_CHANGES - 64);
    for (name, value) in fields {
        let takes = name.len() + size(&value) + 4;
        if takes <= left {
            left -= takes;
            kept.insert(name, value);
        }
    }
    kept.insert("cut".into(), true.into());
    Value::Object(kept)
}

/// What a caller asks of the audit, as it was written.
struct Asked<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    actor: Option<&'a str>,
    action: Option<&'a str>,
    target: Option<&'a str>,
    result: Option<Outcome>,
}

impl Asked<'_> {
    /// The filter, or every fault of it. Rows past their time are not shown, also where none took them away yet.
    fn filter(&self, oldest_ms: i64) -> Result<AuditFilter> {
        let mut issues = Vec::new();
        let mut instant = |pointer: &str, text: Option<&str>| {
            let read = text.map(|text| parse_iso(text).ok_or(pointer));
            read.transpose().unwrap_or_else(|pointer| {
                let words = "must be an instant with its offset, such as 2026-10-01T09:30:00Z";
                issues.push(Issue::new(pointer, words));
                None
            })
        };
        let (from, to) = (instant("/from", self.from), instant("/to", self.to));
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            issues.push(Issue::new("/to", "must not be before from"));
        }
        let actions: Vec<String> =
            self.action.unwrap_or_default().split(',').map(|word| word.trim().to_owned()).collect();
        let is_word = |word: &String| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if self.action.is_some() && !actions.iter().all(|word| !word.is_empty() && is_word(word)) {
            issues.push(Issue::new("/action", "must be words such as member_invited, separated by commas"));
        }
        if !issues.is_empty() {
            return Err(Problem::invalid_all(issues));
        }
        Ok(AuditFilter {
            from_ms: Some(from.unwrap_or(oldest_ms).max(oldest_ms)),
            to_ms: to,
            actor: self.actor.map(str::to_owned),
            actions: if self.action.is_some() { actions } else { Vec::new() },
            target: self.target.map(|id| id.strip_prefix(PERSON).unwrap_or(id).to_owned()),
            refused: self.result.map(|result| result == Outcome::Refused),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_over_their_bound_lose_what_does_not_fit() {
        let small = json!({ "role": "member" });
        assert_eq!(bounded(small.clone()), small);
        let large = bounded(json!({ "a": "x".repeat(4_000), "b": "y".repeat(200), "c": 1 }));
        assert_eq!(large, json!({ "a": "x".repeat(4_000), "c": 1, "cut": true }));
        assert!(large.to_string().len() <= MOST_CHANGES);
    }

    #[test]
    fn a_thing_is_told_in_the_singular() {
        let told = ["connections", "people", "identities", "signing_keys", "orgs"].map(one_of);
        assert_eq!(told, ["connection", "person", "identity", "signing_key", "org"]);
    }
}
