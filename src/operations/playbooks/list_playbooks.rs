//! `list_playbooks`: the playbooks the caller may reach, each whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::{count, joined_most, quoted};
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::playbooks::{self, Playbook, Status};

/// The operation.
pub struct ListPlaybooks;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Whether retired playbooks are listed too.
    #[serde(default)]
    include_retired: bool,
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The playbooks, by id.
    playbooks: Vec<Playbook>,
}

impl Operation for ListPlaybooks {
    const DECLARATION: Declaration = Declaration {
        id: "list_playbooks",
        name: "list_playbooks",
        title: "List playbooks",
        description: "Lists the playbooks this connection may use, each with its id, name, description and whether it is \
            active. Use it to find where the person's work lives before making a new playbook.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/playbooks",
        success: 200,
        needs: Needs::Any(&[Permission::OrgRead, Permission::PlaybookRead]),
        effect: Effect::READS,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let mut playbooks = playbooks::list(&context.app.ledger, context.org(), input.include_retired).await?;
        playbooks.retain(|playbook| context.caller.reaches(&playbook.id));
        Ok(Output { playbooks })
    }

    fn summary(_: &Context, output: &Output) -> String {
        if output.playbooks.is_empty() {
            return "No playbook yet.".into();
        }
        let names: Vec<String> = output.playbooks.iter().map(|playbook| quoted(&playbook.name)).collect();
        let mut words = format!("{}: {}.", count(names.len(), "playbook"), joined_most(&names, 10));
        match output.playbooks.iter().filter(|playbook| playbook.status == Status::Retired).count() {
            0 => {}
            1 => words.push_str(" 1 of them is retired."),
            many => words.push_str(&format!(" {many} of them are retired.")),
        }
        words
    }
}
