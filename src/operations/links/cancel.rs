//! `cancel`: the person refuses the connection; it is removed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::opened;
use crate::connections::links::gone;
use crate::connections::{Removal, Status, View};
use crate::error::Result;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct Cancel;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The link.
    link: String,
}

impl Operation for Cancel {
    const DECLARATION: Declaration = Declaration {
        id: "cancel",
        name: "cancel",
        title: "Refuse a connection",
        description: "The person refuses the connection of a link: it is removed and nothing is connected.",
        scope: Scope::Link,
        method: Method::Post,
        path: "/{link}/cancel",
        success: 200,
        needs: Needs::Session,
        effect: Effect::ENDS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let found = opened(&context, &input.link).await?;
        if found.link.state != "open" && found.record.status != Status::Removed {
            return Err(gone());
        }
        let (actor, now) = (context.caller.actor(), context.now_ms());
        let connections = &context.app.connections;
        let (record, _) = connections.remove(context.org(), &found.record.id, actor, now, Removal::Cancelled).await?;
        if record.status != Status::Removed {
            return Err(gone());
        }
        Ok(crate::operations::connections::view(&context, &record).await)
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("{} was refused; nothing is connected.", quoted(&view.title))
    }
}
