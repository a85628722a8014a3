//! `introspect`: one tool in full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{SERVER_PATTERN, TOOL_PATTERN, found, words};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::tool_servers::upstream::Hints;

/// The operation.
pub struct Introspect;

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
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The server's name.
    server: String,
    /// `mcp` or `openapi`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The provider it came from, or null.
    provider: Option<String>,
    /// The connection's id, on connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<String>,
    /// The tool's name.
    tool: String,
    /// Its title.
    title: Option<String>,
    /// What it does, in its server's words.
    description: Option<String>,
    /// The JSON Schema of its arguments.
    input_schema: Value,
    /// The JSON Schema of its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
    /// What its author says about its effects.
    #[schemars(with = "Value")]
    annotations: Hints,
    /// Whether arguments and answers are kept whole in the history.
    record_content: bool,
    /// The method of its request, of an HTTP API.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// The path of its request, with placeholders.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Whether the API asks for a credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs_credential: Option<bool>,
    /// What was passed over in the API's document.
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<String>>,
    /// Whether parts of the input schema were left out for its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    simplified: Option<bool>,
}

impl Operation for Introspect {
    const DECLARATION: Declaration = Declaration {
        id: "introspect",
        name: "introspect",
        title: "Read a tool",
        description: "Reads one tool of a tool server in full: what it does, what it takes and what its author says about \
            its effects. Use it before calling a tool or naming it in a function. It calls no tool.",
        scope: Scope::Playbook,
        method: Method::Get,
        path: "/tool-servers/{server}/tools/{tool}",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookRead]),
        effect: Effect::READS_OUTSIDE,
        tool: Tool::Playbook,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let found = found(&context, &input.server, &input.tool).await?;
        let (server, tool) = (&found.server, &found.tool);
        let operation = tool.operation();
        Ok(Output {
            server: server.name.clone(),
            kind: server.kind,
            provider: server.provider.clone(),
            connection: server.connection.as_ref().map(|record| record.id.clone()),
            tool: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            output_schema: tool.output_schema.clone(),
            annotations: tool.hints,
            record_content: server.record_content,
            method: operation.map(|operation| operation.method.to_string()),
            path: operation.map(|operation| operation.path.clone()),
            needs_credential: operation.map(|operation| operation.needs_credential),
            notes: operation.map(|operation| operation.notes.clone()),
            simplified: operation.map(|operation| operation.simplified),
        })
    }

    fn summary(_: &Context, output: &Output) -> String {
        let does = output.description.as_deref().map(words::first_sentence).unwrap_or_default();
        let does = if does.is_empty() { String::new() } else { format!(" What it does: {}", quoted(&does)) };
        let effect = match output.annotations.read_only_hint {
            Some(true) => "By its author's word it only reads.",
            _ => "It may change something.",
        };
        format!("This is the tool {} of {}.{does} {effect}", quoted(&output.tool), quoted(&output.server))
    }
}
