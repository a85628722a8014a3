//! `get_connection`: one connection, removed or not; over HTTP alone, since `list_connections` holds the same fields.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::connections::{View, is_id, unknown};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct GetConnection;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The connection's id.
    id: String,
}

impl Operation for GetConnection {
    const DECLARATION: Declaration = Declaration {
        id: "get_connection",
        name: "get_connection",
        title: "Read a connection",
        description: "Reads one connection of the org, also a removed one, with every field that list_connections shows of it.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/connections/{id}",
        success: 200,
        needs: Needs::Any(&[Permission::OrgRead]),
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        if !is_id(&input.id) {
            return Err(unknown());
        }
        let record = context.app.connections.find(context.org(), &input.id).await?.ok_or_else(unknown)?;
        Ok(super::view(&context, &record).await)
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("This is the connection {}.", quoted(&view.title))
    }
}
