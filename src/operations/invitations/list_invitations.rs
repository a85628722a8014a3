//! `list_invitations`: the invitations of the org, without their codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::View;
use crate::error::Result;
use crate::identity::Permission;
use crate::identity::invitations::Status;
use crate::operations::words::count;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// The operation.
pub struct ListInvitations;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only those of this status.
    status: Option<Status>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// A page of them.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The invitations, newest first.
    pub invitations: Vec<View>,
    /// Whether there are more.
    pub has_more: bool,
    /// The cursor of the next page, or null.
    pub next_cursor: Option<String>,
}

impl Operation for ListInvitations {
    const DECLARATION: Declaration = Declaration {
        id: "list_invitations",
        name: "list_invitations",
        title: "List invitations",
        description: "Lists the invitations to the org, newest first, each with what became of it; never their codes.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/invitations",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let subject = Subject::of("invitations", &[context.org(), input.status.map_or("", Status::word)]);
        let last = input.cursor.read::<(i64, String)>(&subject)?;
        let rows = input.limit.rows();
        let wanted = i64::try_from(rows + 1).unwrap_or(i64::MAX);
        let mut found = context.app.identity.invitations(context.org(), input.status, last, wanted).await?;
        let has_more = found.len() > rows;
        found.truncate(rows);
        let last = found.last().filter(|_| has_more);
        let next_cursor = last.map(|last| subject.cursor(&(last.created_at_ms, &last.id))).transpose()?;
        Ok(Output { invitations: found.iter().map(View::from).collect(), has_more, next_cursor })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} on this page.", count(output.invitations.len(), "invitation"))
    }
}
