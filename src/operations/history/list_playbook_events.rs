//! `list_playbook_events`: what happened in a playbook, a page at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds;
use super::row::{self, Event};
use crate::clock;
use crate::error::{Issue, Problem, Result};
use crate::identity::Permission;
use crate::ledger::{Filter, Order, public_types};
use crate::operations::words::count;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// The operation.
pub struct ListPlaybookEvents;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only events of this type, such as tool_execute_answered.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only what was recorded from this instant on: ISO 8601 with its offset, such as 2026-10-01T09:30:00Z.
    #[schemars(extend("format" = "date-time"))]
    since: Option<String>,
    /// Only the events of this run and of every run started below it.
    #[schemars(extend("format" = "uuid"))]
    run_id: Option<String>,
    /// asc for oldest first, desc for newest first; left out, newest first, and with a run_id oldest first.
    order: Option<Order>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The events, in the order asked for.
    events: Vec<Event>,
    /// Whether more may follow.
    has_more: bool,
    /// What to give as cursor for the next page; null when nothing remains.
    next_cursor: Option<String>,
    /// Told in words alone.
    #[serde(skip)]
    order: Order,
    #[serde(skip)]
    of_run: bool,
}

impl Operation for ListPlaybookEvents {
    const DECLARATION: Declaration = Declaration {
        id: "list_playbook_events",
        name: "list_playbook_events",
        title: "Read the playbook's history",
        description: "Shows what happened in the playbook, each event with its fact, who did it and what led to it; \
            newest first, or with a run_id that run and all it started, oldest first. Use it to see what was done, by \
            whom and how it went. Pages come one at a time: read the next only when the person needs more. A field too \
            large for a page is told by its size; get_event shows it.",
        scope: Scope::Playbook,
        method: Method::Get,
        path: "/events",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookRead]),
        effect: Effect::READS,
        tool: Tool::Playbook,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let filter = filter(&input)?;
        let of_run = filter.correlation.is_some();
        let order = input.order.unwrap_or(if of_run { Order::Asc } else { Order::Desc });
        let (org, playbook) = (context.org(), context.playbook.as_str());
        let subject = subject(org, playbook, &filter, order);
        let from = input.cursor.read::<i64>(&subject)?;
        let ledger = &context.app.ledger;
        let page = ledger.history(org, playbook, &filter, order, from, input.limit.rows()).await?;
        let begun = row::begun(ledger, org, playbook, &page.rows).await?;
        let last = page.rows.last().map(|row| row.position).filter(|_| page.more);
        let events = page.rows.into_iter().map(|row| {
            let cause = row::cause_of(&row, &begun);
            let mut event = Event::of(row, cause);
            event.data = bounds::of_page(&event.kind, event.data);
            event
        });
        Ok(Output {
            events: events.collect(),
            has_more: page.more,
            next_cursor: last.map(|position| subject.cursor(&position)).transpose()?,
            order,
            of_run,
        })
    }

    fn summary(_: &Context, output: &Output) -> String {
        if output.events.is_empty() {
            return "No event matches.".into();
        }
        let of = if output.of_run { "of the run asked for in this playbook" } else { "of this playbook" };
        let order = match output.order {
            Order::Asc => "oldest first",
            Order::Desc => "newest first",
        };
        format!("Found {} {of}, {order}, each with its fact and its metadata.", count(output.events.len(), "event"))
    }
}

/// The filter of the fields, or every fault of them.
fn filter(input: &Input) -> Result<Filter> {
    let mut issues = Vec::new();
    if input.kind.as_deref().is_some_and(|kind| !public_types::is_public(kind)) {
        issues.push(Issue::new("/type", "is no type of event in a history; leave it out to see those there are"));
    }
    let since_ms = input.since.as_deref().and_then(instant);
    if input.since.is_some() && since_ms.is_none() {
        issues.push(Issue::new("/since", "must be an instant that exists, in ISO 8601 with its offset"));
    }
    if !issues.is_empty() {
        return Err(Problem::invalid_all(issues));
    }
    Ok(Filter { kind: input.kind.clone(), since_ms, correlation: input.run_id.as_ref().map(|id| id.to_lowercase()) })
}

/// An instant: a date of the calendar, an hour of 00 to 23 and no leap second, which no clock here tells.
fn instant(text: &str) -> Option<i64> {
    let leap = text.get(17..19) == Some("60");
    clock::parse_iso(text).filter(|_| !leap)
}

fn subject(org: &str, playbook: &str, filter: &Filter, order: Order) -> Subject {
    let kind = filter.kind.as_deref().unwrap_or_default();
    let since = filter.since_ms.map(|ms| ms.to_string()).unwrap_or_default();
    let run = filter.correlation.as_deref().unwrap_or_default();
    let order = match order {
        Order::Asc => "asc",
        Order::Desc => "desc",
    };
    Subject::of("events", &[org, playbook, kind, &since, run, order])
}

#[cfg(test)]
mod tests {
    use super::instant;

    #[test]
    fn an_instant_is_a_real_one_with_its_offset() {
        assert_eq!(instant("1970-01-01T01:00:00+01:00"), Some(0));
        for bad in [
            "",
            "2026-10-01",
            "2026-10-01T09:30:00",
            "2026-02-30T09:30:00Z",
            "2026-10-01T24:00:00Z",
            "2026-10-01T25:00:00Z",
            "2016-12-31T23:59:60Z",
        ] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }
}
