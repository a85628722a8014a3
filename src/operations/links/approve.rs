//! `approve`: the person approves a connection that takes no value, or a variable of the server.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{connected, opened, tried, usable, wrong_way};
use crate::config::CredentialKind;
use crate::connections::{Because, Kept, Placed, Status, View};
use crate::error::{Problem, Reason, Result};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct Approve;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The link.
    link: String,
}

impl Operation for Approve {
    const DECLARATION: Declaration = Declaration {
        id: "approve",
        name: "approve",
        title: "Approve a connection",
        description: "The person approves the connection of a link, where its kind takes no value from them.",
        scope: Scope::Link,
        method: Method::Post,
        path: "/{link}/approve",
        success: 200,
        needs: Needs::Session,
        effect: Effect::SETS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let found = opened(&context, &input.link).await?;
        if found.record.status != Status::Connected {
            usable(&context, &found)?;
        }
        match found.record.credential.as_ref().map(|credential| credential.kind) {
            None | Some(CredentialKind::Reference) => {}
            Some(CredentialKind::Authorization) => {
                return Err(wrong_way("This connection is approved at the service itself: start there instead."));
            }
            Some(CredentialKind::Secret | CredentialKind::ClientCredentials) => {
                return Err(wrong_way("This connection takes a credential: give it on the page instead of approving."));
            }
        }
        if found.record.status == Status::Connected {
            return Ok(crate::operations::connections::view(&context, &found.record).await);
        }
        let placed = reference(&context, &found.record)?;
        let account = tried(&context, &input.link, &found.record, placed.as_ref()).await?;
        connected(&context, &found.record, Kept::Nothing, account).await
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("{} is connected.", quoted(&view.title))
    }
}

/// The value of the variable a reference names, as it will be sent.
fn reference(context: &Context, record: &crate::connections::Record) -> Result<Option<Placed>> {
    let Some(credential) = &record.credential else { return Ok(None) };
    let variable = credential.variable.as_deref().unwrap_or_default();
    let value = context.app.settings.reference(&record.org, variable);
    let placed = value.and_then(|value| context.app.connections.trial(credential, value.expose()));
    placed.map(Some).ok_or_else(|| {
        Problem::new(Reason::Unavailable, "The variable this connection names is no longer configured.")
            .kind("tool_not_offered")
            .because(Because::Broken.word())
    })
}
