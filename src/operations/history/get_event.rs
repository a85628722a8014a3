//! `get_event`: one event of a playbook's history, with what a page leaves out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds;
use super::row::{self, Event};
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::operations::words::joined;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The rule of an event's id: a row's, or that of one step of a row.
pub const ID_PATTERN: &str = "^[0-9a-f-]{36}(/[0-9]+)?$";

/// The operation.
pub struct GetEvent;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of an event, as list_playbook_events shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    event_id: String,
}

/// Its output: the event.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    event: Event,
    /// The fields that were too large; told in words.
    #[serde(skip)]
    cut: Vec<&'static str>,
}

impl Operation for GetEvent {
    const DECLARATION: Declaration = Declaration {
        id: "get_event",
        name: "get_event",
        title: "Read one event",
        description: "Shows one event of the playbook's history with the large fields that a page of \
            list_playbook_events only sizes, such as the arguments and the answer of a tool's call. Use it when the \
            person needs to see exactly what was sent or what came back.",
        scope: Scope::Playbook,
        method: Method::Get,
        path: "/events/{event_id}",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookRead]),
        effect: Effect::READS,
        tool: Tool::Playbook,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let (org, playbook) = (context.org(), context.playbook.as_str());
        let ledger = &context.app.ledger;
        let row = ledger.event(org, playbook, &input.event_id).await?.ok_or_else(|| {
            Problem::not_found("There is no such event in this playbook. list_playbook_events shows those there are.")
        })?;
        let begun = row::begun(ledger, org, playbook, std::slice::from_ref(&row)).await?;
        let cause = row::cause_of(&row, &begun);
        let mut event = Event::of(row, cause);
        let mut cut = Vec::new();
        if context.over_mcp {
            (event.data, cut) = bounds::over_mcp(&event.kind, event.data);
        }
        Ok(Output { event, cut })
    }

    fn summary(_: &Context, output: &Output) -> String {
        if output.cut.is_empty() {
            return output.event.summary.clone();
        }
        let names: Vec<String> = output.cut.iter().map(|name| format!("its {name}")).collect();
        format!(
            "{} Too large to show here: {}, told by size alone; the whole is read over HTTP.",
            output.event.summary,
            joined(&names)
        )
    }
}
