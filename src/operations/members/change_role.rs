//! `change_role`: what a member may do, and where.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{PERSON_PATTERN, Reach, View, person_of, view};
use crate::error::Result;
use crate::identity::members::changes::Change;
use crate::identity::{Permission, Role};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool, admission};

/// The operation.
pub struct ChangeRole;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The member, as list_members shows them.
    #[schemars(regex(pattern = PERSON_PATTERN))]
    person: String,
    /// The new role; left out, it stays.
    role: Option<Role>,
    /// Where the role counts: "*", or a list of ids of playbooks, which narrows viewers and members; left out, it stays.
    playbooks: Option<Reach>,
}

impl Operation for ChangeRole {
    const DECLARATION: Declaration = Declaration {
        id: "change_role",
        name: "change_role",
        title: "Change a member's role",
        description: "Sets what a member may do and in which playbooks. Only an owner decides about owners, nobody raises \
            their own role, and the last owner stays one. Needs a fresh sign-in.",
        scope: Scope::Org,
        method: Method::Put,
        path: "/members/{person}",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::SETS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        admission::recent_sign_in(&context)?;
        let change = Change { role: input.role, playbooks: input.playbooks.map(|reach| reach.0) };
        let identity = &context.app.identity;
        let membership = identity.change_member(&context.caller, person_of(&input.person), change).await?;
        view(&context, &membership).await
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("{} has the role {} now.", quoted(&view.name), view.role.word())
    }
}
