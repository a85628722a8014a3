//! An event as callers see it: the fact, and its context apart from it (`http-api.md` 11.1 and 11.2).

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::clock;
use crate::error::Result;
use crate::ledger::summaries::{self, Called};
use crate::ledger::{Actor, Ledger, Row};

/// An event of a playbook's history.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Its id, the same on every read.
    pub id: String,
    /// What kind of thing happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// The event in a sentence.
    pub summary: String,
    /// The fact alone.
    pub data: Value,
    /// Its context.
    pub metadata: Metadata,
}

/// The context of an event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Metadata {
    /// The thing the event is about.
    pub stream: String,
    /// Its place among the events of that thing, from 1.
    pub position: i64,
    /// Its place in the order in which everything was recorded, with gaps.
    pub global_position: i64,
    /// What its whole tree is known by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The event that directly led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// When it happened.
    pub at: String,
    /// Who did it.
    pub by: Actor,
}

impl Event {
    /// The event of `row` with its fact whole; `begun` is the tool that the event which led to it called.
    pub fn of(row: Row, begun: Option<&Called>) -> Self {
        Self {
            summary: summaries::summary(&row, begun),
            id: row.id,
            kind: row.kind,
            data: row.data,
            metadata: Metadata {
                stream: row.stream,
                position: row.stream_position,
                global_position: row.position,
                correlation_id: row.correlation_id,
                causation_id: row.causation_id,
                at: clock::iso(row.at),
                by: row.actor,
            },
        }
    }
}

/// The tools that the events which led to `rows` called, by the ids of these events.
pub async fn begun(ledger: &Ledger, org: &str, playbook: &str, rows: &[Row]) -> Result<HashMap<String, Called>> {
    let mut found: HashMap<String, Called> =
        rows.iter().filter_map(|row| Some((row.id.clone(), Called::of(&row.data)?))).collect();
    for cause in rows.iter().filter(|row| summaries::names_its_cause(row)).filter_map(|row| row.causation_id.as_ref()) {
        if found.contains_key(cause) {
            continue;
        }
        let row = ledger.event(org, playbook, cause).await?;
        if let Some(called) = row.and_then(|row| Called::of(&row.data)) {
            found.insert(cause.clone(), called);
        }
    }
    Ok(found)
}

/// The tool, among those `begun`, that the event which led to `row` called.
pub fn cause_of<'a>(row: &Row, begun: &'a HashMap<String, Called>) -> Option<&'a Called> {
    row.causation_id.as_ref().and_then(|cause| begun.get(cause))
}
