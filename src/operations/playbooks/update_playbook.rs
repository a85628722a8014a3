//! `update_playbook`: replaces a playbook's name and description.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trimmed;
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::playbooks::{self, Playbook};

/// The operation.
pub struct UpdatePlaybook;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The playbook's id, which stays.
    #[schemars(regex(pattern = playbooks::ID_PATTERN))]
    playbook: String,
    /// The name it shall have.
    #[schemars(length(min = 1, max = 100), regex(pattern = playbooks::NOT_BLANK))]
    name: String,
    /// The description it shall have.
    #[schemars(length(max = 2000))]
    description: String,
}

/// Its output: the playbook as it stands.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    playbook: Playbook,
    /// Whether anything changed; told in words alone.
    #[serde(skip)]
    changed: bool,
}

impl Operation for UpdatePlaybook {
    const DECLARATION: Declaration = Declaration {
        id: "update_playbook",
        name: "update_playbook",
        title: "Rename or describe a playbook",
        description: "Replaces the name and the description of a playbook, both at once. Its id and what is in it stay as \
            they are. Use it when the person calls the work something else or says better what it is for.",
        scope: Scope::Org,
        method: Method::Put,
        path: "/playbooks/{playbook}",
        success: 200,
        needs: Needs::Any(&[Permission::OrgWrite]),
        effect: Effect::SETS,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let (name, description) = trimmed(&input.name, &input.description)?;
        let (ledger, now) = (&context.app.ledger, context.now_ms());
        let (playbook, changed) =
            playbooks::update(ledger, &context.caller, now, input.playbook, name, description).await?;
        Ok(Output { playbook, changed })
    }

    fn summary(_: &Context, output: &Output) -> String {
        if output.changed {
            format!("The playbook is now called {}, with its description as given.", quoted(&output.playbook.name))
        } else {
            format!("Nothing changed; the playbook {} stays as it is.", quoted(&output.playbook.name))
        }
    }
}
