//! `list_grants`: what people allowed clients in the org; without administration, the caller's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::View;
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::operations::members::{PERSON_PATTERN, person_of};
use crate::operations::words::count;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// The operation.
pub struct ListGrants;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only this person's; without administration nobody's but the caller's own.
    #[schemars(regex(pattern = PERSON_PATTERN))]
    person: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// A page of them.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The grants that stand, newest first.
    pub grants: Vec<View>,
    /// Whether there are more.
    pub has_more: bool,
    /// The cursor of the next page, or null.
    pub next_cursor: Option<String>,
}

impl Operation for ListGrants {
    const DECLARATION: Declaration = Declaration {
        id: "list_grants",
        name: "list_grants",
        title: "List grants",
        description: "Lists what people allowed clients to do in the org, newest first: the client, what it reaches and what \
            it may do there. Without administration, the caller's own.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/grants",
        success: 200,
        needs: Needs::Person,
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let own = context.caller.person().unwrap_or_default();
        let asked = input.person.as_deref().map(person_of);
        let person = match asked {
            _ if context.caller.may(Permission::OrgAdmin) => asked,
            None => Some(own),
            Some(person) if person == own => asked,
            Some(_) => {
                let words = "Only those who manage the org see what others allowed.";
                return Err(Problem::forbidden(words).challenge(None));
            }
        };
        let subject = Subject::of("grants", &[context.org(), person.unwrap_or_default()]);
        let before = input.cursor.read::<(i64, String)>(&subject)?;
        let rows = input.limit.rows();
        let wanted = i64::try_from(rows + 1).unwrap_or(i64::MAX);
        let mut found = match &context.app.oauth {
            Some(oauth) => oauth.grants(context.org(), person, before, wanted).await?,
            None => Vec::new(),
        };
        let has_more = found.len() > rows;
        found.truncate(rows);
        let last = found.last().filter(|_| has_more);
        let next_cursor = last.map(|last| subject.cursor(&(last.created_at, &last.id))).transpose()?;
        Ok(Output { grants: found.into_iter().map(View::from).collect(), has_more, next_cursor })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} on this page.", count(output.grants.len(), "grant"))
    }
}
