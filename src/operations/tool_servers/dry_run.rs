//! `dry_run`: what `execute` would check, without calling the tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::arguments::{self, Fault};
use super::{SERVER_PATTERN, TOOL_PATTERN, checked};
use crate::error::{Issue, Problem, Result};
use crate::identity::Permission;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::playbooks::{self, Status};
use crate::tool_servers::check::{Checks, Found};
use crate::tool_servers::upstream::Hints;

/// The operation.
pub struct DryRun;

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
    /// The arguments of the call; none when left out.
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// The check of the arguments.
#[derive(Serialize, JsonSchema)]
pub struct Arguments {
    /// Whether they fit the tool's schema.
    valid: bool,
    /// Their size as JSON; at most 16,384 are taken.
    bytes: usize,
    /// What does not fit, at most 20 faults.
    errors: Vec<Fault>,
}

/// The request as it would be sent, without host and credential.
#[derive(Serialize, JsonSchema)]
pub struct Request {
    /// The method.
    method: String,
    /// The path and the query.
    path: String,
    /// The names of the headers.
    headers: Vec<String>,
    /// The type of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_type: Option<String>,
    /// The size of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_bytes: Option<usize>,
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// As given.
    server: String,
    /// As given.
    tool: String,
    /// Whether every check passes.
    would_call: bool,
    /// Each check.
    checks: Checks,
    /// The check of the arguments.
    arguments: Arguments,
    /// What the tool's author says about its effects.
    #[schemars(with = "Value")]
    annotations: Hints,
    /// Whether it may do what cannot be undone: ask the person first.
    destructive: bool,
    /// Whether this caller may execute.
    permission: bool,
    /// False when the playbook is retired.
    playbook_active: bool,
    /// `whole` or `digests`: what the history keeps.
    recorded_as: &'static str,
    /// The request, of an HTTP API with arguments that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    /// The refusal execute would give.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Value>,
}

impl Operation for DryRun {
    const DECLARATION: Declaration = Declaration {
        id: "dry_run",
        name: "dry_run",
        title: "Check a tool call",
        description: "Tells what execute would check of a tool call: whether the playbook may use the tool, whether its \
            connection is ready and its server answers, and whether the arguments fit. It asks the server for its list, \
            calls no tool and records nothing. Use it before a call that may change something.",
        scope: Scope::Playbook,
        method: Method::Post,
        path: "/tool-servers/{server}/tools/{tool}/dry-run",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookRead]),
        effect: Effect::READS_OUTSIDE,
        tool: Tool::Playbook,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let Input { server, tool, arguments } = input;
        let (checks, found) = checked(&context, &server, &tool).await?;
        let shown = serde_json::to_value(&checks)?;
        let found = found.map_err(|problem| problem.with("checks", shown))?;
        let playbook = playbooks::find(&context.app.ledger, context.org(), &context.playbook).await?;
        let playbook_active = playbook.is_some_and(|playbook| playbook.status == Status::Active);
        let permission = context.caller.may(Permission::PlaybookWrite);
        let faults = arguments::faults(&found, &arguments);
        let request = if faults.is_empty() { request(&found, &arguments) } else { None };
        let refusal = refusal(permission, playbook_active, &faults);
        let hints = found.tool.hints;
        Ok(Output {
            server,
            tool,
            would_call: refusal.is_none(),
            checks,
            arguments: Arguments {
                valid: faults.is_empty(),
                bytes: arguments::bytes(&arguments),
                errors: arguments::told(faults),
            },
            annotations: hints,
            destructive: !hints.is_read_only() && hints.destructive_hint != Some(false),
            permission,
            playbook_active,
            recorded_as: if found.server.record_content { "whole" } else { "digests" },
            request,
            refusal: refusal.map(|problem| problem.document()),
        })
    }

    fn summary(_: &Context, output: &Output) -> String {
        let called = format!("the tool {} of {}", quoted(&output.tool), quoted(&output.server));
        let Some(refusal) = &output.refusal else {
            return format!("The call of {called} would be made. Nothing was called.");
        };
        let why = refusal["detail"].as_str().unwrap_or_default();
        format!("The call of {called} would be refused: {why} Nothing was called.")
    }
}

/// The first refusal `execute` would give, in its order.
fn refusal(permission: bool, playbook_active: bool, faults: &[Issue]) -> Option<Problem> {
    if !permission {
        return Some(Problem::forbidden("This needs playbook:write, which this credential does not have."));
    }
    if !playbook_active {
        return Some(playbooks::retired());
    }
    (!faults.is_empty()).then(|| Problem::invalid_all(faults.to_vec()))
}

fn request(found: &Found, arguments: &Map<String, Value>) -> Option<Request> {
    let prepared = found.tool.operation()?.request(arguments, None).ok()?;
    let mut headers: Vec<String> = prepared.headers.iter().map(|(name, _)| name.to_string()).collect();
    if prepared.body.is_some() {
        headers.push("content-type".into());
    }
    Some(Request {
        method: prepared.method.to_string(),
        path: prepared.path_and_query,
        headers,
        body_type: prepared.body.as_ref().map(|body| body.media_type.clone()),
        body_bytes: prepared.body.as_ref().map(|body| body.bytes.len()),
    })
}
