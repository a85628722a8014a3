//! `get_playbook`: one playbook, retired or not; over HTTP alone, since `list_playbooks` holds the same fields.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::playbooks::{self, Playbook};

/// The operation.
pub struct GetPlaybook;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The playbook's id.
    playbook: String,
}

impl Operation for GetPlaybook {
    const DECLARATION: Declaration = Declaration {
        id: "get_playbook",
        name: "get_playbook",
        title: "Read a playbook",
        description: "Reads one playbook of the org, retired or not, with every field that list_playbooks shows of it.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/playbooks/{playbook}",
        success: 200,
        needs: Needs::Any(&[Permission::OrgRead]),
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Playbook;

    async fn run(context: Context, input: Input) -> Result<Playbook> {
        if !playbooks::is_id(&input.playbook) {
            return Err(playbooks::unknown());
        }
        playbooks::find(&context.app.ledger, context.org(), &input.playbook).await?.ok_or_else(playbooks::unknown)
    }

    fn summary(_: &Context, playbook: &Playbook) -> String {
        format!("This is the playbook {}.", quoted(&playbook.name))
    }
}
