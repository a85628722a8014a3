//! `list_audit`: what was done in the org, by whom and how they came, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, Outcome, View};
use crate::error::Result;
use crate::identity::Permission;
use crate::ledger::Order;
use crate::operations::words::count;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// The operation.
pub struct ListAudit;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only what was done from this instant on: ISO 8601 with its offset.
    #[schemars(extend("format" = "date-time"))]
    from: Option<String>,
    /// Only what was done before this instant.
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
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// A page of it.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The rows, newest first.
    pub rows: Vec<View>,
    /// Whether there are more.
    pub has_more: bool,
    /// The cursor of the next page, or null.
    pub next_cursor: Option<String>,
}

impl Operation for ListAudit {
    const DECLARATION: Declaration = Declaration {
        id: "list_audit",
        name: "list_audit",
        title: "Read the audit",
        description: "Shows what was done in the org, newest first: who did it, how they came, what it was about and what \
            changed. Refused acts are among it. Rows are kept for as long as whoever runs the server says.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/audit",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::READS,
        tool: Tool::No,
    };
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
        let filter = asked.filter(super::export_audit::oldest(&context))?;
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let result = filter.refused.map_or("", |refused| if refused { "refused" } else { "ok" });
        let parts = [text(asked.from), text(asked.to), text(asked.actor), text(asked.action), text(asked.target)];
        let [from, to, actor, action, target] = parts.each_ref().map(String::as_str);
        let subject = Subject::of("audit", &[context.org(), from, to, actor, action, target, result]);
        let before = input.cursor.read::<i64>(&subject)?;
        let rows = input.limit.rows();
        let wanted = i64::try_from(rows + 1).unwrap_or(i64::MAX);
        let ledger = &context.app.ledger;
        let mut found = ledger.audit(context.org(), &filter, Order::Desc, before, wanted).await?;
        let has_more = found.len() > rows;
        found.truncate(rows);
        let last = found.last().filter(|_| has_more).map(|row| row.position);
        let next_cursor = last.map(|position| subject.cursor(&position)).transpose()?;
        let rows = found.into_iter().map(|row| View::of(context.org(), row)).collect();
        Ok(Output { rows, has_more, next_cursor })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} of the audit on this page.", count(output.rows.len(), "row"))
    }
}
