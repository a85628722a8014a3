//! `execute`: one live call of a tool, as the playbook, recorded in its history.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{SERVER_PATTERN, TOOL_PATTERN, arguments, found, words};
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::tool_servers::execute::{Answer, Call};

/// The characters of an idempotency key.
pub const KEY_PATTERN: &str = "^[!-~]+$";

/// The operation.
pub struct Execute;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The server's name, as search shows it.
    #[schemars(regex(pattern = SERVER_PATTERN))]
    server: String,
    /// The tool's name, as search shows it.
    #[schemars(regex(pattern = TOOL_PATTERN))]
    tool: String,
    /// The arguments, as introspect shows them; at most 16 KiB as JSON, none when left out.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// A text of your own, 1 to 128 visible ASCII characters: the same call under the same key is made once within a day,
    /// and its answer is given again.
    #[schemars(length(min = 1, max = 128), regex(pattern = KEY_PATTERN))]
    idempotency_key: Option<String>,
}

impl Operation for Execute {
    const DECLARATION: Declaration = Declaration {
        id: "execute",
        name: "execute",
        title: "Call a tool",
        description: "Calls one tool of a tool server, live, as the playbook, and gives its answer. Use it to act for the \
            person, or to see what a tool returns before a function names it. Each call is recorded in the playbook's \
            history. Ask the person first when the tool may change something that cannot be undone; dry_run tells.",
        scope: Scope::Playbook,
        method: Method::Post,
        path: "/tool-servers/{server}/tools/{tool}/execute",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookWrite]),
        effect: Effect::CALLS,
        tool: Tool::Playbook,
    };
    type Input = Input;
    type Output = Answer;

    async fn run(context: Context, input: Input) -> Result<Answer> {
        if let Some(issue) = arguments::oversized(&input.arguments) {
            return Err(Problem::invalid_all(vec![issue]));
        }
        let call = Call {
            org: context.org().to_owned(),
            playbook: context.playbook.clone(),
            actor: context.caller.actor(),
            server: input.server,
            tool: input.tool,
            arguments: input.arguments,
            idempotency_key: input.idempotency_key,
        };
        let servers = &context.app.tool_servers;
        if let Some(answer) = servers.recorded_answer(&call).await? {
            return Ok(answer);
        }
        let found = found(&context, &call.server, &call.tool).await?;
        let faults = arguments::faults(&found, &call.arguments);
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        servers.execute(found, call).await
    }

    fn summary(_: &Context, answer: &Answer) -> String {
        words::executed(answer)
    }
}
