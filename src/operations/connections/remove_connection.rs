//! `remove_connection`: removes a connection for good and forgets its credential.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::connections::{Removal, View};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The rule of a connection's id.
pub const ID_PATTERN: &str = "^conn_[0-9A-Za-z]{22}$";

/// The operation.
pub struct RemoveConnection;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The connection's id, as list_connections shows it.
    #[schemars(regex(pattern = ID_PATTERN))]
    id: String,
}

impl Operation for RemoveConnection {
    const DECLARATION: Declaration = Declaration {
        id: "remove_connection",
        name: "remove_connection",
        title: "Remove a connection",
        description: "Removes a connection for good and forgets its credential; functions that name its tools no longer reach \
            them, and its name is free again. Also the way to begin anew when a link has expired. Ask the person first.",
        scope: Scope::Org,
        method: Method::Delete,
        path: "/connections/{id}",
        success: 200,
        needs: Needs::Any(&[Permission::OrgWrite]),
        effect: Effect::ENDS,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let (actor, now) = (context.caller.actor(), context.now_ms());
        let (record, _) =
            context.app.connections.remove(context.org(), &input.id, actor, now, Removal::Removed).await?;
        Ok(super::view(&context, &record).await)
    }

    fn summary(_: &Context, view: &View) -> String {
        format!(
            "The connection {} is removed and its credential is forgotten. Tools that functions name by it no longer answer.",
            quoted(&view.title)
        )
    }
}
