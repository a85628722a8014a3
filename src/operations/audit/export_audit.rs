//! `export_audit`: the audit as JSON Lines, oldest first, of any length; its last line says that it is whole.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Asked, Outcome, View};
use crate::clock::iso;
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::ledger::{Actor, AuditFilter, Changed, Event, Ledger, Order};
use crate::operations::{Context, Declaration, Effect, Lines, Method, Needs, Operation, Scope, Tool};

/// The longest span of one export, in milliseconds.
const LONGEST_MS: i64 = 366 * 24 * 60 * 60 * 1_000;
/// How many rows are read at once.
const ROUND: i64 = 500;

/// The operation.
pub struct ExportAudit;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// From this instant on: ISO 8601 with its offset; left out, 366 days before the end.
    #[schemars(extend("format" = "date-time"))]
    from: Option<String>,
    /// Before this instant; left out, until now.
    #[schemars(extend("format" = "date-time"))]
    to: Option<String>,
    /// Only what this caller did, by caller id.
    #[schemars(length(min = 1, max = 255))]
    actor: Option<String>,
    /// Only these actions, separated by commas.
    #[schemars(length(min = 1, max = 1000))]
    action: Option<String>,
    /// Only what was about the thing of this id.
    #[schemars(length(min = 1, max = 255))]
    target: Option<String>,
    /// Only what was done, or only what was refused.
    result: Option<Outcome>,
}

/// One line; the last one is `{"end": true, "rows": n}` instead.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    row: Option<View>,
    #[serde(skip)]
    lines: Option<Lines>,
}

impl Operation for ExportAudit {
    const DECLARATION: Declaration = Declaration {
        id: "export_audit",
        name: "export_audit",
        title: "Export the audit",
        description: "Gives the audit as JSON Lines, oldest first, one row a line, of at most 366 days. The last line is \
            {\"end\": true, \"rows\": n}: without it the export was cut short.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/audit/export",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::READS,
        tool: Tool::No,
    };
    const STREAMS: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let asked = Asked {
            from: input.from.as_deref(),
            to: input.to.as_deref(),
            actor: input.actor.as_deref(),
            action: input.action.as_deref(),
            target: input.target.as_deref(),
            result: input.result,
        };
        // Here the span counts as it was asked for; what is older than the audit keeps is simply not there.
        let mut filter = asked.filter(i64::MIN)?;
        let to = filter.to_ms.unwrap_or(context.now_ms());
        let from = filter.from_ms.filter(|_| asked.from.is_some()).unwrap_or(to - LONGEST_MS);
        if to.saturating_sub(from) > LONGEST_MS {
            return Err(Problem::invalid("/from", "must be at most 366 days before to"));
        }
        (filter.from_ms, filter.to_ms) = (Some(from.max(oldest(&context))), Some(to));
        let org = context.org().to_owned();
        record(&context.app.ledger, &org, context.caller.actor(), from, to).await?;
        Ok(Output { row: None, lines: Some(lines(context.app.ledger.clone(), org, filter)) })
    }

    fn summary(_: &Context, _: &Output) -> String {
        "The audit follows, a row a line.".into()
    }

    fn lines(output: &mut Output) -> Option<Lines> {
        output.lines.take()
    }
}

/// The oldest instant the audit still tells of, in milliseconds.
pub(super) fn oldest(context: &Context) -> i64 {
    context.now_ms() - context.app.settings.administration.audit_retention_ms
}

/// Tells in the audit itself that it was taken out.
///
/// # Errors
/// When it could not be written; then nothing is given out.
pub async fn record(ledger: &Ledger, org: &str, actor: Actor, from_ms: i64, to_ms: i64) -> Result<()> {
    let facts = json!({ "from": iso(from_ms), "to": iso(to_ms) });
    let event = Event::audit(format!("orgs/{org}"), "audit_exported", actor, facts);
    let work: crate::ledger::Work<()> = Box::new(|_| Box::pin(async move { Ok(Changed::by((), event)) }));
    ledger.commit(org, work).await
}

struct Reading {
    ledger: Ledger,
    org: String,
    filter: AuditFilter,
    after: Option<i64>,
    waiting: VecDeque<View>,
    given: u64,
    over: bool,
}

/// The rows that fit, a line each, and the line that says how many there were.
pub fn lines(ledger: Ledger, org: String, filter: AuditFilter) -> Lines {
    let begun = Reading { ledger, org, filter, after: None, waiting: VecDeque::new(), given: 0, over: false };
    let step = |reading: Option<Reading>| async move {
        let mut reading = reading?;
        match next(&mut reading).await {
            Ok(Some(line)) => Some((Ok(line), Some(reading))),
            Ok(None) => {
                let end = json!({ "end": true, "rows": reading.given });
                Some((Ok(Bytes::from(format!("{end}\n"))), None))
            }
            Err(problem) => {
                tracing::warn!(%problem, org.id = reading.org, "an export of the audit was cut short");
                Some((Err(problem), None))
            }
        }
    };
    stream::unfold(Some(begun), step).boxed()
}

async fn next(reading: &mut Reading) -> Result<Option<Bytes>> {
    if reading.waiting.is_empty() && !reading.over {
        let found = reading.ledger.audit(&reading.org, &reading.filter, Order::Asc, reading.after, ROUND).await?;
        reading.over = i64::try_from(found.len()).unwrap_or(i64::MAX) < ROUND;
        reading.after = found.last().map(|row| row.position).or(reading.after);
        let org = reading.org.clone();
        reading.waiting.extend(found.into_iter().map(|row| View::of(&org, row)));
    }
    let Some(view) = reading.waiting.pop_front() else { return Ok(None) };
    reading.given += 1;
    let mut line = serde_json::to_vec(&view)?;
    line.push(b'\n');
    Ok(Some(line.into()))
}
