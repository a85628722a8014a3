//! `update_org`: another name for the org.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{View, check_owner};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct UpdateOrg;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What people call the org.
    #[schemars(length(min = 1, max = 100))]
    name: String,
}

impl Operation for UpdateOrg {
    const DECLARATION: Declaration = Declaration {
        id: "update_org",
        name: "update_org",
        title: "Rename the org",
        description: "Gives the org another name; its id stays for good. For its owners.",
        scope: Scope::Org,
        method: Method::Put,
        path: "",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::SETS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        check_owner(&context.caller)?;
        Ok(context.app.identity.rename_org(&context.caller, &input.name).await?.into())
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("The org is called {} now.", quoted(&view.name))
    }
}
