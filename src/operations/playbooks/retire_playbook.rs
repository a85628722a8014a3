//! `retire_playbook`: ends a playbook for good; its history stays readable.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::playbooks::{self, Playbook};

/// The operation.
pub struct RetirePlaybook;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The playbook's id.
    #[schemars(regex(pattern = playbooks::ID_PATTERN))]
    playbook: String,
}

impl Operation for RetirePlaybook {
    const DECLARATION: Declaration = Declaration {
        id: "retire_playbook",
        name: "retire_playbook",
        title: "Retire a playbook",
        description: "Ends a playbook for good: nothing in it runs or changes any more, and its id is never used again. Its \
            history stays readable. Ask the person before you call it, since it cannot be undone.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/playbooks/{playbook}/retire",
        success: 200,
        needs: Needs::Any(&[Permission::OrgWrite]),
        effect: Effect::ENDS,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = Playbook;

    async fn run(context: Context, input: Input) -> Result<Playbook> {
        playbooks::retire(&context.app.ledger, &context.caller, context.now_ms(), input.playbook).await
    }

    fn summary(_: &Context, playbook: &Playbook) -> String {
        format!("The playbook {} is retired for good. Its history stays readable.", quoted(&playbook.name))
    }
}
