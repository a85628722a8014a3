//! What stands between a caller and a tool, in one order for `introspect`, `dry_run` and `execute` (`tool-servers.md` 8, 9).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ToolServers;
use super::live::Live;
use super::registry::{NotReady, Server};
use super::tool::Tool;
use super::upstream;
use crate::connections::Because;
use crate::error::{Problem, RETRY_AFTER_S, Reason, Result};

/// How each check ended; `null` where an earlier one failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Checks {
    /// The playbook has a server of that name.
    pub server_known: Option<bool>,
    /// The server's entry allows the tool.
    pub tool_allowed: Option<bool>,
    /// `ready`, `not_a_connection`, or why the connection cannot be used.
    pub connection_ready: Option<&'static str>,
    /// `present`, `none_needed` or `missing`; never the credential.
    pub credential_present: Option<&'static str>,
    /// True when the list could be read, else why not.
    pub server_reachable: Option<Value>,
    /// The server lists the tool.
    pub tool_listed: Option<bool>,
}

/// A tool that may be called.
pub struct Found {
    /// Its server.
    pub server: Server,
    /// The tool.
    pub tool: Arc<Tool>,
    pub(super) live: Arc<Live>,
}

impl Found {
    /// Whether a secret of the server is among `arguments`.
    pub fn holds_secret(&self, arguments: &Value) -> bool {
        self.live.scrubber.finds(arguments)
    }
}

/// Why a tool cannot be called.
#[derive(Debug)]
pub enum Refusal {
    /// The playbook has no such server.
    NotConfigured,
    /// The server's entry does not allow the tool.
    NotAllowed,
    /// The connection cannot be used.
    NotReady(NotReady),
    /// The server does not list the tool.
    NotListed,
    /// The server cannot be used.
    Failed(upstream::Trouble),
    /// No place for another call came free.
    Busy,
}

impl ToolServers {
    /// Checks whether `playbook` may call `tool` of `server` now; asks the server for its list.
    pub async fn check(
        &self,
        org: &str,
        playbook: &str,
        server: &str,
        tool: &str,
    ) -> Result<(Checks, Result<Found, Refusal>)> {
        let mut checks = Checks::default();
        let known = self.server(org, server).await?.filter(|server| server.serves(playbook));
        checks.server_known = Some(known.is_some());
        let Some(server) = known else { return Ok((checks, Err(Refusal::NotConfigured))) };
        let found = self.check_server(server, tool, &mut checks).await;
        Ok((checks, found))
    }

    async fn check_server(&self, server: Server, tool: &str, checks: &mut Checks) -> Result<Found, Refusal> {
        let allowed = server.allows(tool);
        checks.tool_allowed = Some(allowed);
        if !allowed {
            return Err(Refusal::NotAllowed);
        }
        let credential = self.credential(&server).await.map_err(|not_ready| {
            checks.connection_ready = Some(not_ready.because.word());
            if not_ready.because == Because::Broken {
                checks.credential_present = Some("missing");
            }
            Refusal::NotReady(not_ready)
        })?;
        let has_secrets = server.configured().is_some_and(|entry| !entry.secrets.is_empty()) || credential.is_some();
        checks.connection_ready = Some(if server.connection.is_some() { "ready" } else { "not_a_connection" });
        checks.credential_present = Some(if has_secrets { "present" } else { "none_needed" });
        let mut server = server;
        let listed = async {
            let mut live = self.live(&server, credential).await?;
            let mut list = match self.list(&live).await {
                Err(trouble) => match self.renewed(&server, &live, &trouble).await {
                    Some(renewed) => {
                        (server, live) = renewed;
                        self.after_new_tokens(&server, self.list(&live).await).await?
                    }
                    None => return Err(trouble),
                },
                Ok(list) => list,
            };
            if list.tool(tool).is_none() {
                list = self.list_again(&live, &list).await?;
            }
            Ok::<_, upstream::Trouble>((live, list))
        };
        let (live, list) = listed.await.map_err(|trouble| {
            checks.server_reachable = Some(trouble.because.word().into());
            Refusal::Failed(trouble)
        })?;
        checks.server_reachable = Some(true.into());
        let found = list.tool(tool).cloned();
        checks.tool_listed = Some(found.is_some());
        found.map(|tool| Found { server, tool, live }).ok_or(Refusal::NotListed)
    }
}

const SEARCH_SHOWS: &str = "search shows the servers and tools it may use.";

impl Refusal {
    /// The same for a caller who named `server` and `tool`.
    pub fn problem(&self, server: &str, tool: &str) -> Problem {
        let not_offered = |because: &'static str, words: String| {
            Problem::new(Reason::Unavailable, words).kind("tool_not_offered").because(because)
        };
        match self {
            Self::NotConfigured => not_offered(
                "tool_server_not_configured",
                format!("This playbook has no tool server “{server}”. {SEARCH_SHOWS}"),
            ),
            Self::NotAllowed => not_offered(
                "tool_not_allowed",
                format!("This playbook may not use the tool “{tool}” of “{server}”. {SEARCH_SHOWS}"),
            ),
            Self::NotListed => not_offered(
                "tool_not_listed",
                format!("The tool server “{server}” has no tool “{tool}”. {SEARCH_SHOWS}"),
            ),
            Self::NotReady(NotReady { because, detail }) => {
                let problem = not_offered(because.word(), format!("{detail} search shows what can be used."));
                if *because == Because::Unavailable { problem.retry_after(RETRY_AFTER_S) } else { problem }
            }
            Self::Failed(trouble) => failed(server, trouble),
            Self::Busy => Problem::new(
                Reason::Unavailable,
                format!("Too many calls are under way, so that none to “{server}” could begin. Nothing was sent."),
            )
            .kind("tool_server_failed")
            .because("busy")
            .retry_after(RETRY_AFTER_S),
        }
    }
}

fn failed(server: &str, trouble: &upstream::Trouble) -> Problem {
    use upstream::Because;
    let because = trouble.because.word();
    let kind = if trouble.because == Because::NotAllowed { "tool_not_offered" } else { "tool_server_failed" };
    let words = format!("The tool server “{server}” cannot be used now: {}", trouble.detail);
    let problem = Problem::new(Reason::Unavailable, words).kind(kind).because(because);
    match trouble.because {
        Because::KeyRefused | Because::NotAllowed => problem,
        _ => problem.retry_after(RETRY_AFTER_S),
    }
}
