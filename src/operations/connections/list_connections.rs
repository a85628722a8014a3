//! `list_connections`: the org's connections, newest first, and whether each is pending or connected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connections::input::NAME_PATTERN;
use crate::connections::{Filter, Status, View, is_id};
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::operations::words::{count, joined, quoted};
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// The operation.
pub struct ListConnections;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only those of this status.
    status: Option<Status>,
    /// Only those of this provider.
    #[schemars(regex(pattern = NAME_PATTERN))]
    provider: Option<String>,
    /// Whether removed connections are listed too.
    #[serde(default)]
    include_removed: bool,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// A page of them.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The connections, newest first.
    connections: Vec<View>,
    /// Whether there are more.
    has_more: bool,
    /// The cursor of the next page, or null.
    next_cursor: Option<String>,
}

impl Operation for ListConnections {
    const DECLARATION: Declaration = Declaration {
        id: "list_connections",
        name: "list_connections",
        title: "List connections",
        description: "Lists the services connected to the org, newest first, each with whether it is pending or connected and \
            why it cannot be used when it cannot. Use it to see whether the person has approved a connection. Pages come one at \
            a time; read on only as the person needs.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/connections",
        success: 200,
        needs: Needs::Any(&[Permission::OrgRead]),
        effect: Effect::READS,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let filters = [
            input.status.map_or("", Status::word),
            input.provider.as_deref().unwrap_or_default(),
            if input.include_removed { "removed too" } else { "" },
        ];
        let subject = Subject::of("connections", &[context.org(), filters[0], filters[1], filters[2]]);
        let before = input.cursor.read::<(i64, String)>(&subject)?;
        if before.as_ref().is_some_and(|(_, id)| !is_id(id)) {
            return Err(Problem::invalid(
                "/cursor",
                "is no cursor of this list; leave it out to begin at the first page",
            ));
        }
        let filter = Filter { status: input.status, provider: input.provider, include_removed: input.include_removed };
        let rows = input.limit.rows();
        let wanted = i64::try_from(rows + 1).unwrap_or(i64::MAX);
        let mut records = context.app.connections.page(context.org(), &filter, before, wanted).await?;
        let has_more = records.len() > rows;
        records.truncate(rows);
        let last = records.last().filter(|_| has_more).map(|record| (record.added_at, record.id.clone()));
        let next_cursor = last.map(|key| subject.cursor(&key)).transpose()?;
        let mut connections = Vec::with_capacity(records.len());
        for record in &records {
            connections.push(super::view(&context, record).await);
        }
        Ok(Output { connections, has_more, next_cursor })
    }

    fn summary(_: &Context, output: &Output) -> String {
        if output.connections.is_empty() {
            return "No connection yet.".into();
        }
        let of = |status: Status| output.connections.iter().filter(move |view| view.status == status);
        let kinds = [("connected", Status::Connected), ("pending", Status::Pending), ("removed", Status::Removed)];
        let counts: Vec<String> = kinds
            .iter()
            .filter_map(|(word, status)| Some(of(*status).count()).filter(|n| *n > 0).map(|n| format!("{n} {word}")))
            .collect();
        let mut words = format!("{} on this page: {}.", count(output.connections.len(), "connection"), joined(&counts));
        for view in of(Status::Pending) {
            let link = if view.link_expires_at.is_some() { "its link still works" } else { "its link has expired" };
            words.push_str(&format!(" {} waits for approval; {link}.", quoted(&view.title)));
        }
        if output.has_more {
            words.push_str(" More follow.");
        }
        words
    }
}
