//! `delete_org`: begins the seven days after which the org is gone.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{View, check_owner};
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool, admission};

/// The operation.
pub struct DeleteOrg;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The org's id, typed, so that no slip deletes one.
    #[schemars(length(max = 64))]
    confirm: String,
}

impl Operation for DeleteOrg {
    const DECLARATION: Declaration = Declaration {
        id: "delete_org",
        name: "delete_org",
        title: "Delete the org",
        description: "Begins to delete the org: at once no key and no agent reaches it and nothing in it changes; for seven \
            days an owner may restore it, then its credentials and everything else go. For its owners; needs a fresh sign-in.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/delete",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::ENDS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        check_owner(&context.caller)?;
        admission::recent_sign_in(&context)?;
        if input.confirm != context.org() {
            return Err(Problem::invalid("/confirm", "must be the id of the org"));
        }
        Ok(context.app.identity.delete_org(&context.caller).await?.into())
    }

    fn summary(_: &Context, view: &View) -> String {
        let end = view.deletes_at.as_deref().unwrap_or_default();
        format!("The org {} is being deleted. Until {end} an owner may restore it.", view.id)
    }
}
