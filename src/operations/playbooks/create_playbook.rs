//! `create_playbook`: makes an active, empty playbook.

use schemars::JsonSchema;
use serde::Deserialize;

use super::trimmed;
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::playbooks::{self, Playbook};

/// The operation.
pub struct CreatePlaybook;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id of the new playbook, for good: 3 to 48 lowercase letters, digits and hyphens, beginning with a letter.
    #[schemars(regex(pattern = playbooks::ID_PATTERN))]
    playbook: String,
    /// What people call it.
    #[schemars(length(min = 1, max = 100), regex(pattern = playbooks::NOT_BLANK))]
    name: String,
    /// What it is for, in the person's words.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    description: String,
}

impl Operation for CreatePlaybook {
    const DECLARATION: Declaration = Declaration {
        id: "create_playbook",
        name: "create_playbook",
        title: "Create a playbook",
        description: "Makes a playbook, active and empty: the place where one piece of the person's work lives, with its \
            functions, workflows, tools and history. Look with list_playbooks first whether one for this work is there.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/playbooks",
        success: 201,
        needs: Needs::Any(&[Permission::OrgWrite]),
        effect: Effect::MAKES,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = Playbook;

    async fn run(context: Context, input: Input) -> Result<Playbook> {
        let (name, description) = trimmed(&input.name, &input.description)?;
        let (ledger, now) = (&context.app.ledger, context.now_ms());
        playbooks::create(ledger, &context.caller, now, input.playbook, name, description).await
    }

    fn summary(_: &Context, playbook: &Playbook) -> String {
        format!(
            "Created the playbook {}. It is active and empty; a function can be saved in it next.",
            quoted(&playbook.name)
        )
    }
}
