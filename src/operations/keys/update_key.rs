//! `update_key`: changes a key's name or allowance, or ends it earlier.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{View, instant, manager};
use crate::config::UsagePeriod;
use crate::error::Result;
use crate::identity::keys::{Change, ID_PATTERN, NAME_PATTERN};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct UpdateKey;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The key's id, as list_keys shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    id: String,
    /// What people call it from now on.
    #[schemars(regex(pattern = NAME_PATTERN))]
    name: Option<String>,
    /// How many calls of tools it has in a period.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    usage_limit: Option<u32>,
    /// What the limit counts over.
    usage_period: Option<UsagePeriod>,
    /// When it stops working: earlier than before.
    #[schemars(length(max = 40))]
    expires_at: Option<String>,
}

impl Operation for UpdateKey {
    const DECLARATION: Declaration = Declaration {
        id: "update_key",
        name: "update_key",
        title: "Change a key",
        description: "Changes a key's name or its usage limit, or lets it end earlier. What it may do, and where, never \
            changes: make another key for that.",
        scope: Scope::Org,
        method: Method::Put,
        path: "/keys/{id}",
        success: 200,
        needs: Needs::Person,
        effect: Effect::SETS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let change = Change {
            name: input.name,
            usage_limit: input.usage_limit,
            usage_period: input.usage_period,
            expires_at_ms: input.expires_at.as_deref().map(|text| instant("/expires_at", text)).transpose()?,
        };
        let by = manager(&context);
        let key = context.app.identity.update_key(context.org(), &input.id, change, by).await?;
        Ok(View::of(&key, context.now_ms()))
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("The key {} is changed.", quoted(&view.name))
    }
}
