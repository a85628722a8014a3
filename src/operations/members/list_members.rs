//! `list_members`: the people of the org, for those who manage it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::View;
use crate::error::Result;
use crate::identity::members::list::MemberFilter;
use crate::identity::{Permission, Role};
use crate::operations::words::count;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// The operation.
pub struct ListMembers;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only those of this role.
    role: Option<Role>,
    /// Only those with this in their name or email.
    #[schemars(length(min = 1, max = 100))]
    q: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// A page of them.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The members, the first to join first.
    pub members: Vec<View>,
    /// Whether there are more.
    pub has_more: bool,
    /// The cursor of the next page, or null.
    pub next_cursor: Option<String>,
}

impl Operation for ListMembers {
    const DECLARATION: Declaration = Declaration {
        id: "list_members",
        name: "list_members",
        title: "List members",
        description: "Lists the people of the org, the first to join first, each with role, playbooks, how they sign in and \
            the day they were last seen.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/members",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let text = input.q.unwrap_or_default();
        let subject = Subject::of("members", &[context.org(), input.role.map_or("", Role::word), &text]);
        let last = input.cursor.read::<(i64, String)>(&subject)?;
        let filter = MemberFilter { role: input.role, text: (!text.is_empty()).then_some(text), person: None };
        let rows = input.limit.rows();
        let wanted = i64::try_from(rows + 1).unwrap_or(i64::MAX);
        let mut found = context.app.identity.members(context.org(), &filter, last, wanted).await?;
        let has_more = found.len() > rows;
        found.truncate(rows);
        let last = found.last().filter(|_| has_more).map(|one| &one.membership);
        let next_cursor = last.map(|last| subject.cursor(&(last.created_at_ms, &last.person))).transpose()?;
        Ok(Output { members: found.iter().map(View::of).collect(), has_more, next_cursor })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} on this page.", count(output.members.len(), "member"))
    }
}
