//! `revoke_grant`: withdraws what a person allowed a client.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ID_PATTERN, View};
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::identity::oauth::grants::Because;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct RevokeGrant;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The grant's id, as list_grants shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    id: String,
}

impl Operation for RevokeGrant {
    const DECLARATION: Declaration = Declaration {
        id: "revoke_grant",
        name: "revoke_grant",
        title: "Revoke a grant",
        description: "Withdraws what a person allowed a client: its tokens stop working at once. One's own, or with \
            administration anybody's in the org; again is the same.",
        scope: Scope::Org,
        method: Method::Delete,
        path: "/grants/{id}",
        success: 200,
        needs: Needs::Person,
        effect: Effect::ENDS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let Some(oauth) = &context.app.oauth else { return Err(unknown()) };
        let own = context.caller.person().unwrap_or_default();
        let every = context.caller.may(Permission::OrgAdmin);
        let seen = |grant: &crate::identity::oauth::grants::Grant| every || grant.person == own;
        // Another's is as one that is not there.
        if !oauth.grant(context.org(), &input.id).await?.is_some_and(|grant| seen(&grant)) {
            return Err(unknown());
        }
        oauth.revoke_grant(context.org(), &input.id, context.caller.actor(), Because::Withdrawn).await?;
        Ok(oauth.grant(context.org(), &input.id).await?.ok_or_else(unknown)?.into())
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("{} may do nothing in this org any more.", quoted(&view.client_name))
    }
}

fn unknown() -> Problem {
    Problem::not_found("There is no such grant. list_grants shows those there are.")
}
