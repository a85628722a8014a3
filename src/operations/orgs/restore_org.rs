//! `restore_org`: keeps an org that was about to be deleted.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{View, check_owner};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct RestoreOrg;

/// It has no fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

impl Operation for RestoreOrg {
    const DECLARATION: Declaration = Declaration {
        id: "restore_org",
        name: "restore_org",
        title: "Restore the org",
        description: "Keeps an org that is being deleted, within its seven days: keys and agents reach it again. For its \
            owners.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/restore",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::SETS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, _: Input) -> Result<View> {
        check_owner(&context.caller)?;
        Ok(context.app.identity.restore_org(&context.caller).await?.into())
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("The org {} is kept.", view.id)
    }
}
