//! `revoke_key`: ends a key for good.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{View, manager};
use crate::error::Result;
use crate::identity::keys::ID_PATTERN;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct RevokeKey;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The key's id, as list_keys shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    id: String,
}

impl Operation for RevokeKey {
    const DECLARATION: Declaration = Declaration {
        id: "revoke_key",
        name: "revoke_key",
        title: "Revoke a key",
        description: "Ends a key for good: at once on this server, within five seconds on others. Requests it has in hand end \
            with their next heartbeat; runs it started go on.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/keys/{id}/revoke",
        success: 200,
        needs: Needs::Person,
        effect: Effect::ENDS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let by = manager(&context);
        let key = context.app.identity.revoke_key(context.org(), &input.id, by).await?;
        Ok(View::of(&key, context.now_ms()))
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("The key {} is revoked and no longer works.", quoted(&view.name))
    }
}
