//! `search` over an org: its servers, their tools by words, and the providers a person could connect.

use schemars::JsonSchema;
use serde::Deserialize;

use super::paging::Bound;
use super::shown::{Output, Page};
use super::{SERVER_PATTERN, words};
use crate::error::{Problem, Result};
use crate::identity::{Permission, Playbooks};
use crate::operations::{Context, Declaration, Effect, Method, Needs, Offer, Operation, Scope, Tool};
use crate::playbooks;
use crate::tool_servers::search::lists_digest;

/// How many tools a page has where nothing is said.
const LIMIT: usize = 20;

/// The operation.
pub struct Search;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The playbook whose servers are searched; the whole org when left out.
    #[schemars(regex(pattern = playbooks::ID_PATTERN))]
    playbook: Option<String>,
    /// Words to find tools by, such as what they do; everything when left out.
    #[schemars(length(max = 200))]
    terms: Option<String>,
    /// One server's name, to keep that one alone.
    #[schemars(regex(pattern = SERVER_PATTERN))]
    server: Option<String>,
    /// How many tools a page has; 20 when left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// The next_cursor of the page before.
    #[schemars(length(max = 1024))]
    cursor: Option<String>,
}

/// What both searches share.
pub(super) struct Asking {
    pub(super) terms: Option<String>,
    pub(super) server: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

impl Operation for Search {
    const DECLARATION: Declaration = Declaration {
        id: "search",
        name: "search",
        title: "Search tool servers",
        description: "Finds tool servers, their tools and the services a person can connect, by words or all of them, a page \
            at a time. Use it to see what is set up, before connecting a service or calling a tool. A reasoning function \
            names a tool as server/tool, or every tool of a server as server/*. When the service asked for is among the \
            providers, connect it with add_connection.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/tool-servers/search",
        success: 200,
        needs: Needs::Any(&[Permission::OrgRead, Permission::PlaybookRead]),
        effect: Effect::READS_OUTSIDE,
        tool: Tool::Org,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let limited = matches!(context.caller.playbooks, Playbooks::Only(_));
        match &input.playbook {
            None if limited => {
                return Err(Problem::forbidden(
                    "This credential reaches some playbooks alone. Name one of them as playbook.",
                ));
            }
            None => {}
            Some(_) if !context.caller.may(Permission::PlaybookRead) => {
                return Err(Problem::forbidden("This needs playbook:read, which this credential does not have."));
            }
            Some(playbook) => {
                playbooks::find(&context.app.ledger, context.org(), playbook).await?.ok_or_else(playbooks::unknown)?;
            }
        }
        let Input { playbook, terms, server, limit, cursor } = input;
        run(&context, playbook.as_deref(), Asking { terms, server, limit, cursor }, true).await
    }

    fn summary(_: &Context, output: &Output) -> String {
        words::searched(output)
    }

    /// A credential of some playbooks alone searches inside them, which it must be allowed to.
    fn admit(offer: &Offer<'_>) -> Result<()> {
        match offer.caller.playbooks {
            Playbooks::Only(_) if !offer.caller.may(Permission::PlaybookRead) => {
                Err(Problem::forbidden("This needs playbook:read, since this credential reaches some playbooks alone."))
            }
            _ => Ok(()),
        }
    }
}

/// The search itself, of one playbook or the whole org.
pub(super) async fn run(context: &Context, playbook: Option<&str>, asking: Asking, of_org: bool) -> Result<Output> {
    let tool_servers = &context.app.tool_servers;
    let all = tool_servers.servers(context.org()).await?;
    let served: Vec<Option<String>> = all.iter().map(|server| server.provider.clone()).collect();
    let mut servers = all;
    servers.retain(|server| playbook.is_none_or(|playbook| server.serves(playbook)));
    let terms = asking.terms.unwrap_or_default();
    if let Some(name) = &asking.server {
        servers.retain(|server| server.name == *name);
        if servers.is_empty() {
            return Err(Problem::invalid("/server", "is no tool server here; search without it shows those there are"));
        }
    }
    let asked = tool_servers.ask(servers).await;
    let bound = Bound {
        asked: digest(&[
            context.org(),
            playbook.unwrap_or_default(),
            &terms,
            asking.server.as_deref().unwrap_or_default(),
        ]),
        lists: lists_digest(&asked),
    };
    let page = Page {
        app: &context.app,
        caller: &context.caller,
        terms: &terms,
        limit: asking.limit.unwrap_or(LIMIT),
        cursor: asking.cursor.as_deref(),
        bound,
        of_org,
        one_server: asking.server.is_some(),
    };
    page.show(&asked, &served)
}

fn digest(parts: &[&str]) -> String {
    let text = serde_json::json!(parts).to_string();
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
