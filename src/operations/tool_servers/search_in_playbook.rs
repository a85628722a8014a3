//! `search` within a playbook: its servers and their tools by words.

use schemars::JsonSchema;
use serde::Deserialize;

use super::search::{self, Asking};
use super::shown::Output;
use super::{SERVER_PATTERN, words};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit};

/// The operation.
pub struct SearchInPlaybook;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Words to find tools by, such as what they do; everything when left out.
    #[schemars(length(max = 200))]
    terms: Option<String>,
    /// One server's name, to keep that one alone.
    #[schemars(regex(pattern = SERVER_PATTERN))]
    server: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

impl Operation for SearchInPlaybook {
    const DECLARATION: Declaration = Declaration {
        id: "search_in_playbook",
        name: "search",
        title: "Search tool servers",
        description: "Finds the playbook's tool servers and their tools, by words or all of them, a page at a time. Use it to \
            see what the playbook may use before calling a tool. A reasoning function names a tool as server/tool, or every \
            tool of a server as server/*.",
        scope: Scope::Playbook,
        method: Method::Get,
        path: "/tool-servers/search",
        success: 200,
        needs: Needs::Any(&[Permission::PlaybookRead]),
        effect: Effect::READS_OUTSIDE,
        tool: Tool::OnlyPlaybook,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let Input { terms, server, limit, cursor } = input;
        let playbook = context.playbook.clone();
        search::run(&context, Some(&playbook), Asking { terms, server, limit, cursor }, false).await
    }

    fn summary(_: &Context, output: &Output) -> String {
        words::searched(output)
    }
}
