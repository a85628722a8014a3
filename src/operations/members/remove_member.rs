//! `remove_member`: takes a person out of the org; anybody may leave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PERSON_PATTERN, View, person_of, view};
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool, admission};

/// The operation.
pub struct RemoveMember;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The member, as list_members shows them.
    #[schemars(regex(pattern = PERSON_PATTERN))]
    person: String,
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    member: View,
    /// Always true: the person is out.
    removed: bool,
}

impl Operation for RemoveMember {
    const DECLARATION: Declaration = Declaration {
        id: "remove_member",
        name: "remove_member",
        title: "Remove a member",
        description: "Takes a person out of the org, or lets the caller leave it. The keys, grants and connections that were \
            theirs alone end at once; what they made stays. The last owner cannot go. Needs a fresh sign-in.",
        scope: Scope::Org,
        method: Method::Delete,
        path: "/members/{person}",
        success: 200,
        needs: Needs::Person,
        effect: Effect::ENDS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let person = person_of(&input.person);
        if context.caller.person() != Some(person) && !context.caller.may(Permission::OrgAdmin) {
            return Err(refused(&context));
        }
        admission::recent_sign_in(&context)?;
        let there = context.app.identity.membership(context.org(), person).await?;
        let member = match &there {
            Some(membership) => Some(view(&context, membership).await?),
            None => None,
        };
        let membership = context.app.identity.remove_member(&context.caller, person).await?;
        let member = member.unwrap_or_else(|| View::bare(&membership));
        Ok(Output { member, removed: true })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} is no member of the org any more.", quoted(&output.member.name))
    }
}

/// Nobody but those who manage the org takes others out: a wider grant helps only those whose role allows it.
fn refused(context: &Context) -> Problem {
    if context.caller.could(&[Permission::OrgAdmin]) {
        let words = "This needs org:admin, which this credential does not have.";
        return Problem::forbidden(words).scopes(&[Permission::OrgAdmin.word()]);
    }
    Problem::forbidden("Only those who manage the org take others out of it.").challenge(None)
}
