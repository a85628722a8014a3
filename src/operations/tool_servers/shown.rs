//! What a search shows: servers with the tools that match, and the providers a person could connect.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::paging::Bound;
use crate::app::App;
use crate::clock;
use crate::config::{Adders, Playbooks};
use crate::connections::catalogue::{Kind, Rules, Shown, variable};
use crate::error::Result;
use crate::identity::{Caller, Permission};
use crate::operations::words::cut;
use crate::operations::{Offer, connections};
use crate::tool_servers::openapi::{Totals, Unusable};
use crate::tool_servers::search::{self, Asked, Match};
use crate::tool_servers::upstream::Hints;

/// The most bytes of an answer.
const MOST_BYTES: usize = 256 << 10;
/// The most characters of a description.
const DESCRIPTION: usize = 300;
/// The most providers shown.
const PROVIDERS: usize = 20;
/// The most unusable operations shown.
const UNUSABLE: usize = 100;
/// The most argument names of a tool once an answer is too large.
const ARGUMENTS: usize = 20;

/// A tool that matches.
#[derive(Serialize, JsonSchema)]
pub struct ToolShown {
    /// Its name; a function writes server/name.
    name: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The first 300 characters of what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The names of its arguments; required ones end with *.
    arguments: Vec<String>,
    /// What its author says about its effects.
    #[schemars(with = "Value")]
    annotations: Hints,
    /// Parts of its schema were left out for its size.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    simplified: bool,
    /// Its place over all servers; 1 is best.
    rank: usize,
    /// How well it matches.
    score: f64,
}

/// A server.
#[derive(Serialize, JsonSchema)]
pub struct ServerShown {
    /// What a function writes before the slash.
    pub(super) name: String,
    /// `mcp` or `openapi`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The provider it came from, or null.
    provider: Option<String>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The connection's id, on connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<String>,
    /// The playbooks that may use it; `*` is every one.
    #[serde(skip_serializing_if = "Option::is_none")]
    playbooks: Option<Vec<String>>,
    /// Whether arguments and answers are kept whole in the history.
    record_content: bool,
    /// The tools that match, by name of the server's best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<ToolShown>>,
    /// How many tools of it may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_count: Option<usize>,
    /// Counts of its document's operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    operations: Option<Totals>,
    /// Operations that became no tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    unusable: Vec<Unusable>,
    /// How many listed tools cannot be used, by cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<&'static str, usize>,
    /// Allowed tools that it does not list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Since when its list could not be read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_since: Option<String>,
    /// Since when its document could not be read again.
    #[serde(skip_serializing_if = "Option::is_none")]
    document_stale_since: Option<String>,
    /// Why it cannot be used now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unavailable: Option<String>,
    /// The same in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'static str>,
}

/// A provider a person could connect.
#[derive(Serialize, JsonSchema)]
pub struct ProviderShown {
    /// What add_connection takes.
    name: String,
    /// Its title.
    pub(super) title: String,
    /// What it is.
    description: String,
}

/// The output of a search.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The servers, each with its tools that match, or with why it cannot be used.
    pub(super) servers: Vec<ServerShown>,
    /// Providers a person can connect that no server serves yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) providers: Option<Vec<ProviderShown>>,
    /// How many more providers there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_providers: Option<usize>,
    /// The nearest names by spelling, where nothing matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) did_you_mean: Option<Vec<String>>,
    /// How many tools match.
    pub(super) total: usize,
    /// Whether more tools follow.
    pub(super) has_more: bool,
    /// The cursor of the next page, or null.
    next_cursor: Option<String>,
    /// For the words alone: servers with a tool that matches, whether there is any, and whether people may add.
    #[serde(skip)]
    pub(super) servers_matching: usize,
    #[serde(skip)]
    pub(super) any_server: bool,
    #[serde(skip)]
    pub(super) people_may_add: bool,
}

/// What was asked, for the page that answers it.
pub(super) struct Page<'a> {
    pub(super) app: &'a App,
    pub(super) caller: &'a Caller,
    pub(super) terms: &'a str,
    pub(super) limit: usize,
    pub(super) cursor: Option<&'a str>,
    pub(super) bound: Bound,
    /// The org's route, which tells playbooks and providers.
    pub(super) of_org: bool,
    pub(super) one_server: bool,
}

impl Page<'_> {
    /// The page.
    pub(super) fn show(&self, asked: &[Asked], every_provider: &[Option<String>]) -> Result<Output> {
        let matches = search::matches(asked, self.terms);
        let from = self.bound.from(self.cursor)?;
        let end = (from + self.limit).min(matches.len());
        let page = matches.get(from..end).unwrap_or_default();
        let has_more = end < matches.len();
        let mut servers_matching: Vec<usize> = matches.iter().map(|found| found.server).collect();
        servers_matching.sort_unstable();
        servers_matching.dedup();
        let (providers, more_providers) = match self.of_org && !self.one_server && self.may_add() {
            true => self.providers(every_provider),
            false => (None, None),
        };
        let nothing = matches.is_empty() && !self.terms.trim().is_empty();
        let mut output = Output {
            servers: self.servers(asked, page, from == 0),
            providers,
            more_providers,
            did_you_mean: nothing.then(|| search::alike(asked, self.terms)),
            total: matches.len(),
            has_more,
            next_cursor: has_more.then(|| self.bound.cursor(end)).transpose()?,
            servers_matching: servers_matching.len(),
            any_server: !asked.is_empty(),
            people_may_add: self.app.access.is_local() && self.app.settings.connections.add == Adders::People,
        };
        output.shorten()?;
        Ok(output)
    }

    /// The servers of the page's tools in the order of their best; on the first page those of a matching name and the
    /// unavailable ones too.
    fn servers(&self, asked: &[Asked], page: &[Match], is_first: bool) -> Vec<ServerShown> {
        let mut order: Vec<usize> = Vec::new();
        for found in page {
            if !order.contains(&found.server) {
                order.push(found.server);
            }
        }
        if is_first {
            let blank = self.terms.trim().is_empty();
            for (index, one) in asked.iter().enumerate() {
                let named = one.list.is_ok()
                    && (blank && one.usable().next().is_none()
                        || !blank && search::name_matches(&one.server, self.terms));
                if !order.contains(&index) && (one.list.is_err() || named) {
                    order.push(index);
                }
            }
            if blank {
                order.sort_by(|one, other| asked[*one].server.name.cmp(&asked[*other].server.name));
            }
        }
        order
            .into_iter()
            .map(|index| self.server(&asked[index], page.iter().filter(|found| found.server == index)))
            .collect()
    }

    fn server<'m>(&self, asked: &Asked, found: impl Iterator<Item = &'m Match>) -> ServerShown {
        let server = &asked.server;
        let list = asked.list.as_ref().ok();
        let writes = self.caller.may(Permission::OrgWrite);
        let mut left_out = BTreeMap::new();
        for (_, because) in list.iter().flat_map(|(list, _)| &list.left_out) {
            *left_out.entry(*because).or_default() += 1;
        }
        let title = server.title.as_deref().or_else(|| list.and_then(|(list, _)| list.title.as_deref()));
        let refused = asked.list.as_ref().err();
        ServerShown {
            name: server.name.clone(),
            kind: server.kind,
            provider: server.provider.clone(),
            title: title.map(|title| cut(title, DESCRIPTION)),
            connection: server.connection.as_ref().map(|record| record.id.clone()),
            playbooks: self.of_org.then(|| self.playbooks(server.playbooks.as_deref())),
            record_content: server.record_content,
            tools: list.map(|_| found.map(tool).collect()),
            tool_count: list.map(|_| asked.usable().count()),
            operations: list.and_then(|(list, _)| list.operations.clone()),
            unusable: match list {
                Some((list, _)) if writes => list.unusable.iter().take(UNUSABLE).cloned().collect(),
                _ => Vec::new(),
            },
            left_out,
            missing: if writes { asked.missing().into_iter().map(str::to_owned).collect() } else { Vec::new() },
            stale_since: list.and_then(|(_, since)| *since).map(clock::iso),
            document_stale_since: list.and_then(|(list, _)| list.document_stale_since).map(clock::iso),
            unavailable: refused.map(|(_, words)| words.clone()),
            because: refused.map(|(because, _)| *because),
        }
    }

    fn playbooks(&self, only: Option<&[String]>) -> Vec<String> {
        match (only, &self.caller.playbooks) {
            (None, _) => vec!["*".to_owned()],
            (Some(only), Playbooks::All) => only.to_vec(),
            (Some(only), Playbooks::Only(_)) => only.iter().filter(|id| self.caller.reaches(id)).cloned().collect(),
        }
    }

    /// Whether this caller may add a connection: a person who may write in an org whose people may.
    fn may_add(&self) -> bool {
        let offer = Offer { app: self.app, caller: self.caller };
        self.caller.may(Permission::OrgWrite) && connections::may_add(&offer).is_ok()
    }

    /// Providers with a way that is offered and without a server.
    fn providers(&self, served: &[Option<String>]) -> (Option<Vec<ProviderShown>>, Option<usize>) {
        let settings = &self.app.settings;
        let rules = Rules {
            kinds: settings.connections.kinds.iter().map(|kind| kind_of(*kind)).collect(),
            providers: Shown::parse(&settings.connections.providers.join(",")),
            variables: !settings.connections.variables.is_empty(),
        };
        let found = self.app.connections.catalogue().find(self.terms).into_iter().filter(|provider| {
            let is_served = served.iter().flatten().any(|name| *name == provider.name);
            let is_set = |name: &str| {
                let mut values = provider.ways.iter().flat_map(|way| &way.values);
                values.any(|value| {
                    variable(&provider.name, &value.name) == name
                        && settings.provider_values.value(&provider.name, &value.name).is_some()
                })
            };
            let offered = provider.ways(&is_set, &rules).any(|(_, offered)| offered);
            !is_served && offered
        });
        let mut all: Vec<ProviderShown> = found
            .map(|provider| ProviderShown {
                name: provider.name.clone(),
                title: provider.title.clone(),
                description: cut(&provider.description, DESCRIPTION),
            })
            .collect();
        let more = all.len().saturating_sub(PROVIDERS);
        all.truncate(PROVIDERS);
        (Some(all), (more > 0).then_some(more))
    }
}

const fn kind_of(kind: crate::config::CredentialKind) -> Kind {
    use crate::config::CredentialKind;
    match kind {
        CredentialKind::Authorization => Kind::Authorization,
        CredentialKind::Secret => Kind::Secret,
        CredentialKind::ClientCredentials => Kind::ClientCredentials,
        CredentialKind::Reference => Kind::Reference,
    }
}

fn tool(found: &Match) -> ToolShown {
    let tool = &found.tool;
    ToolShown {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.as_deref().map(|text| cut(text, DESCRIPTION)),
        arguments: tool
            .arguments()
            .into_iter()
            .map(|(name, required)| if required { format!("{name}*") } else { name.to_owned() })
            .collect(),
        annotations: tool.hints,
        simplified: tool.simplified(),
        rank: found.rank,
        score: found.score,
    }
}

impl Output {
    /// Keeps the answer within its bound: descriptions give way first, then what else is long.
    fn shorten(&mut self) -> Result<()> {
        for step in 0..4 {
            if serde_json::to_vec(self)?.len() <= MOST_BYTES {
                return Ok(());
            }
            for server in &mut self.servers {
                match step {
                    0 => server.tools.iter_mut().flatten().for_each(|tool| tool.description = None),
                    1 => server.unusable.clear(),
                    2 => server.tools.iter_mut().flatten().for_each(|tool| tool.arguments.truncate(ARGUMENTS)),
                    _ => {
                        server.missing.truncate(ARGUMENTS);
                        server.unavailable = server.unavailable.take().map(|words| cut(&words, 100));
                    }
                }
            }
        }
        Ok(())
    }
}
