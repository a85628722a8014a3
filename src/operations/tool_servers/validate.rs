//! `validate`: whether arguments fit a tool; over HTTP alone, since `dry_run` tells the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments::{self, Fault};
use super::{SERVER_PATTERN, TOOL_PATTERN, found};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct Validate;

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
    /// The arguments to check.
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Whether they fit.
    valid: bool,
    /// What does not, at most 20 faults.
    errors: Vec<Fault>,
}

impl Operation for Validate {
    const DECLARATION: Declaration = Declaration {
        id: "validate",
        name: "validate",
        title: "Check arguments",
        description: "Checks arguments against a tool's schema, as dry_run and execute do, and calls no tool.",
        scope: Scope::Playbook,
        method: Method::Post,
        path: "/tool-servers/{server}/tools/{tool}/validate",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookRead]),
        effect: Effect::READS_OUTSIDE,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let found = found(&context, &input.server, &input.tool).await?;
        let errors = arguments::told(arguments::faults(&found, &input.arguments));
        Ok(Output { valid: errors.is_empty(), errors })
    }

    fn summary(_: &Context, output: &Output) -> String {
        if output.valid { "The arguments fit.".into() } else { "The arguments do not fit.".into() }
    }
}
