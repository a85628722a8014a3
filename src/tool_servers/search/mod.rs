//! Finding tools by words over the servers a caller may see (`tool-servers.md` 7).

mod rank;
mod words;

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use futures_util::future::join_all;
use tokio::time::timeout;

use super::ToolServers;
use super::registry::{NotReady, Server};
use super::tool::{List, Tool};
use super::upstream::Trouble;
use crate::digest::hex;
use rank::Entry;

/// For all servers together.
const ASKING: Duration = Duration::from_secs(15);
/// How many names are told that look alike.
const ALIKE: usize = 3;
/// From which likeness on a name looks alike, 0 to 1.
const LIKENESS: f64 = 0.6;

/// A list with since when it is stale, or why there is none: the word and the words.
pub type Listed = Result<(Arc<List>, Option<i64>), (&'static str, String)>;

/// A server with its list, or with why there is none.
pub struct Asked {
    /// The server.
    pub server: Server,
    /// Its list and since when that is stale, or why it is not usable and the words.
    pub list: Listed,
}

impl Asked {
    /// The tools that may be used, in the server's order.
    pub fn usable(&self) -> impl Iterator<Item = &Arc<Tool>> {
        let list = self.list.as_ref().ok().map(|(list, _)| list);
        list.into_iter().flat_map(|list| &list.tools).filter(|tool| self.server.allows(&tool.name))
    }

    /// The allowed tools that the server does not list.
    pub fn missing(&self) -> Vec<&str> {
        let Ok((list, _)) = &self.list else { return Vec::new() };
        let allowed = self.server.allowed().unwrap_or_default();
        allowed.iter().filter(|name| list.tool(name).is_none()).map(String::as_str).collect()
    }
}

/// A tool that matches.
pub struct Match {
    /// The index of its server in what was searched.
    pub server: usize,
    /// The tool.
    pub tool: Arc<Tool>,
    /// Its place over all servers, from 1.
    pub rank: usize,
    /// How well it matches; 0 where no words were given.
    pub score: f64,
}

impl ToolServers {
    /// Asks the servers for their lists, all at the same time.
    pub async fn ask(&self, servers: Vec<Server>) -> Vec<Asked> {
        let asking = servers.into_iter().map(|server| async {
            let late = ("unreachable", "The server did not answer in time.".to_owned());
            let list = timeout(ASKING, self.ask_one(&server)).await.unwrap_or(Err(late));
            Asked { server, list }
        });
        join_all(asking).await
    }

    async fn ask_one(&self, server: &Server) -> Listed {
        let credential =
            self.credential(server).await.map_err(|NotReady { because, detail }| (because.word(), detail))?;
        let of_trouble = |trouble: Trouble| (trouble.because.word(), trouble.detail);
        let live = self.live(server, credential).await.map_err(of_trouble)?;
        self.list_or_stale(&live).await.map_err(of_trouble)
    }
}

/// The usable tools that match `terms`, the best first; without terms every one, by server and tool.
pub fn matches(asked: &[Asked], terms: &str) -> Vec<Match> {
    let mut tools: Vec<(usize, &Arc<Tool>)> =
        asked.iter().enumerate().flat_map(|(index, one)| one.usable().map(move |tool| (index, tool))).collect();
    tools.sort_by(|(server, tool), (other_server, other)| {
        (&asked[*server].server.name, &tool.name).cmp(&(&asked[*other_server].server.name, &other.name))
    });
    let found = |place: usize, index: usize, score: f64| {
        let (server, tool) = tools[index];
        Match { server, tool: tool.clone(), rank: place + 1, score }
    };
    if terms.trim().is_empty() {
        return (0..tools.len()).map(|index| found(index, index, 0.0)).collect();
    }
    let entries: Vec<Entry> = tools.iter().map(|(server, tool)| entry(&asked[*server], tool)).collect();
    let hits = rank::rank(terms, &entries);
    hits.into_iter().enumerate().map(|(place, hit)| found(place, hit.index, hit.score)).collect()
}

fn entry(asked: &Asked, tool: &Tool) -> Entry {
    let server = &asked.server;
    let document_title = asked.list.as_ref().ok().and_then(|(list, _)| list.title.as_deref());
    let mut entry = Entry::new(&server.name, &tool.name)
        .with(&tool.name, 4.0)
        .with(tool.title.as_deref().unwrap_or_default(), 3.0)
        .with(&server.name, 2.0)
        .with(server.title.as_deref().or(document_title).unwrap_or_default(), 2.0)
        .with(server.provider.as_deref().unwrap_or_default(), 2.0)
        .with(tool.description.as_deref().unwrap_or_default(), 1.0);
    for (name, _) in tool.arguments() {
        entry = entry.with(name, 1.0);
    }
    entry
}

/// Whether a server's own name answers the words.
pub fn name_matches(server: &Server, terms: &str) -> bool {
    let names = [Some(server.name.as_str()), server.title.as_deref(), server.provider.as_deref()];
    let entry = names.into_iter().flatten().fold(Entry::new(&server.name, ""), |entry, name| entry.with(name, 1.0));
    !rank::rank(terms, &[entry]).is_empty()
}

/// The names nearest by spelling, where nothing matches.
pub fn alike(asked: &[Asked], terms: &str) -> Vec<String> {
    let terms = terms.trim().to_lowercase();
    let mut near: Vec<(f64, String)> = asked
        .iter()
        .flat_map(|one| one.usable().map(|tool| (one.server.name.as_str(), tool)))
        .filter_map(|(server, tool)| {
            let likeness = strsim::jaro_winkler(&terms, &tool.name.to_lowercase());
            (likeness >= LIKENESS).then(|| (likeness, format!("{server}/{}", tool.name)))
        })
        .collect();
    near.sort_by(|(one, name), (other, other_name)| other.total_cmp(one).then_with(|| name.cmp(other_name)));
    near.into_iter().take(ALIKE).map(|(_, name)| name).collect()
}

/// A digest of all lists: as long as it stays, pages follow one another.
pub fn lists_digest(asked: &[Asked]) -> String {
    let mut digest = Context::new(&SHA256);
    for one in asked {
        digest.update(one.server.name.as_bytes());
        let state = match &one.list {
            Ok((list, _)) => list.digest.as_str(),
            Err((because, _)) => because,
        };
        digest.update(state.as_bytes());
        digest.update(b"\n");
        for name in one.server.allowed().unwrap_or_default() {
            digest.update(name.as_bytes());
            digest.update(b"\n");
        }
    }
    hex(digest.finish())[..16].to_owned()
}
