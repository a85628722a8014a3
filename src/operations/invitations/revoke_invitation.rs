//! `revoke_invitation`: takes an invitation back.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ID_PATTERN, View};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct RevokeInvitation;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The invitation's id, as list_invitations shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    id: String,
}

impl Operation for RevokeInvitation {
    const DECLARATION: Declaration = Declaration {
        id: "revoke_invitation",
        name: "revoke_invitation",
        title: "Revoke an invitation",
        description: "Takes an invitation back, so that its code lets nobody in; one that was accepted stays accepted.",
        scope: Scope::Org,
        method: Method::Delete,
        path: "/invitations/{id}",
        success: 200,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::ENDS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let invitation = context.app.identity.revoke_invitation(&context.caller, &input.id).await?;
        Ok(View::from(&invitation))
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("The invitation of {} is {}.", quoted(&view.email), view.status.word())
    }
}
