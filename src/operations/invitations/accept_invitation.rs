//! `accept_invitation`: joins an org with the code of an invitation, in the browser alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::proof;
use crate::clock::iso;
use crate::error::{Problem, Result};
use crate::identity::Role;
use crate::identity::caller::PERSON;
use crate::operations::members::Reach;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct AcceptInvitation;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The code: what stands behind the `#` of the link.
    #[schemars(length(min = 1, max = 128))]
    code: String,
}

/// The membership.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The org.
    org: String,
    /// The person, as `person:user_…`.
    person: String,
    /// What they may do.
    role: Role,
    /// "*", or the ids of the playbooks where they may.
    playbooks: Reach,
    /// When they joined.
    created_at: String,
}

impl Operation for AcceptInvitation {
    const DECLARATION: Declaration = Declaration {
        id: "accept_invitation",
        name: "accept_invitation",
        title: "Accept an invitation",
        description: "Joins an org with the code of an invitation, as the person of the address it was made for. Only in the \
            browser, signed in to Studio.",
        scope: Scope::Server,
        method: Method::Post,
        path: "/invitations/accept",
        success: 200,
        needs: Needs::Person,
        effect: Effect::MAKES,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let caller = &context.caller;
        let Some(person) = caller.person().filter(|_| caller.is_in_browser()) else {
            let words = "An invitation is accepted in the browser, signed in to Studio.";
            return Err(Problem::forbidden(words).challenge(None));
        };
        let (app, actor) = (&context.app, caller.actor());
        let joined = app.identity.accept_invitation(&input.code, person, actor, proof(app)).await?;
        Ok(Output {
            person: format!("{PERSON}{}", joined.person),
            role: joined.role,
            playbooks: Reach(joined.reach()),
            created_at: iso(joined.created_at_ms),
            org: joined.org,
        })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("You are a member of the org {} now, as {}.", output.org, output.role.word())
    }
}
