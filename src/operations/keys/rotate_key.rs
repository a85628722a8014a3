//! `rotate_key`: gives a key a new text under the same id.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{View, WithText, manager};
use crate::error::Result;
use crate::identity::keys::{DEFAULT_GRACE_MS, ID_PATTERN, LONGEST_GRACE_MS};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool, admission};

/// The operation.
pub struct RotateKey;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The key's id, as list_keys shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    id: String,
    /// How long the text from before still works, in seconds; a day when left out.
    #[schemars(range(min = 0, max = LONGEST_GRACE_MS / 1_000))]
    grace_seconds: Option<i64>,
}

impl Operation for RotateKey {
    const DECLARATION: Declaration = Declaration {
        id: "rotate_key",
        name: "rotate_key",
        title: "Rotate a key",
        description: "Gives a key a new text under the same id and tells it this once. The text from before works for a grace \
            period, a day unless told otherwise; rotating again ends the oldest at once. Needs a sign-in of the last ten \
            minutes.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/keys/{id}/rotate",
        success: 200,
        needs: Needs::Person,
        effect: Effect::MAKES,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = WithText;

    async fn run(context: Context, input: Input) -> Result<WithText> {
        admission::recent_sign_in(&context)?;
        let grace_ms = input.grace_seconds.map_or(DEFAULT_GRACE_MS, |seconds| seconds * 1_000);
        let by = manager(&context);
        let made = context.app.identity.rotate_key(context.org(), &input.id, grace_ms, by).await?;
        Ok(WithText { key: made.text.expose().to_owned(), view: View::of(&made.key, context.now_ms()) })
    }

    fn summary(_: &Context, output: &WithText) -> String {
        let before = match &output.view.previous_until {
            Some(until) => format!("the one before works until {until}"),
            None => "the one before no longer works".into(),
        };
        format!("The key {} has a new text, shown this once; {before}.", quoted(&output.view.name))
    }
}
