//! The servers of an org: what the operator wrote for it and what its people connected, in one name space.

use std::sync::Arc;

use super::ToolServers;
use crate::config::{ServerType, Settings, ToolServer};
use crate::connections::{Because, Placed, Record};
use crate::error::Result;

/// A server of an org, not opened.
#[derive(Clone)]
pub struct Server {
    /// The org it is of.
    pub org: String,
    /// What a function writes before the slash.
    pub name: String,
    /// `mcp` or `openapi`.
    pub kind: &'static str,
    /// The provider it came from.
    pub provider: Option<String>,
    /// A title, on connections.
    pub title: Option<String>,
    /// The playbooks that may use it; every one when `None`.
    pub playbooks: Option<Vec<String>>,
    /// Whether arguments and answers are kept whole in the history.
    pub record_content: bool,
    /// The connection it is, unless the operator wrote it.
    pub connection: Option<Arc<Record>>,
    allowed: Option<Vec<String>>,
    settings: Arc<Settings>,
}

impl Server {
    /// Whether `playbook` may use it.
    pub fn serves(&self, playbook: &str) -> bool {
        self.playbooks.as_ref().is_none_or(|only| only.iter().any(|id| id == playbook))
    }

    /// Whether the tool of that name may be used, should the server list it.
    pub fn allows(&self, tool: &str) -> bool {
        self.allowed.as_ref().is_none_or(|only| only.iter().any(|name| name == tool))
    }

    /// The tools that may be used, where somebody chose.
    pub fn allowed(&self) -> Option<&[String]> {
        self.allowed.as_deref()
    }

    /// What the operator wrote, unless it is a connection.
    pub fn configured(&self) -> Option<&ToolServer> {
        match self.connection {
            Some(_) => None,
            None => self.settings.tool_servers.get(&self.name),
        }
    }

    fn of_operator(org: &str, name: &str, entry: &ToolServer, settings: &Arc<Settings>) -> Self {
        Self {
            org: org.to_owned(),
            name: name.to_owned(),
            kind: entry.shown_type(),
            provider: entry.provider.clone(),
            title: None,
            playbooks: entry.playbooks.clone(),
            record_content: entry.record_content,
            connection: None,
            allowed: entry.allowed.clone(),
            settings: settings.clone(),
        }
    }

    pub(super) fn of_connection(record: Record, settings: &Arc<Settings>) -> Self {
        Self {
            org: record.org.clone(),
            name: record.name.clone(),
            kind: match record.kind {
                ServerType::Mcp => "mcp",
                ServerType::Openapi => "openapi",
            },
            provider: record.provider.clone(),
            title: Some(record.title.clone()),
            playbooks: record.entry.playbooks.clone(),
            record_content: record.entry.record_content,
            allowed: record.entry.allowed.clone(),
            connection: Some(Arc::new(record)),
            settings: settings.clone(),
        }
    }
}

/// A connection cannot be used just now, with words.
#[derive(Debug, Clone)]
pub struct NotReady {
    /// Why.
    pub because: Because,
    /// The same in words.
    pub detail: String,
}

impl ToolServers {
    /// Every server of the org, by name; of two with one name the operator's.
    pub async fn servers(&self, org: &str) -> Result<Vec<Server>> {
        let settings = &self.needs.settings;
        let written = settings.tool_servers.iter().filter(|(_, entry)| entry.org == org);
        let mut servers: Vec<Server> =
            written.map(|(name, entry)| Server::of_operator(org, name, entry, settings)).collect();
        for record in self.needs.connections.living(org).await? {
            if servers.iter().all(|server| server.name != record.name) {
                servers.push(Server::of_connection(record, settings));
            }
        }
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(servers)
    }

    /// The org's server of that name.
    pub async fn server(&self, org: &str, name: &str) -> Result<Option<Server>> {
        let settings = &self.needs.settings;
        if let Some(entry) = settings.tool_servers.get(name).filter(|entry| entry.org == org) {
            return Ok(Some(Server::of_operator(org, name, entry, settings)));
        }
        let record = self.needs.connections.named(org, name).await?;
        Ok(record.map(|record| Server::of_connection(record, settings)))
    }

    /// The credential to reach a server with, or why it cannot be used.
    pub(super) async fn credential(&self, server: &Server) -> Result<Option<Placed>, NotReady> {
        let Some(record) = &server.connection else { return Ok(None) };
        let connections = &self.needs.connections;
        match connections.credential(record).await {
            Ok(placed) => Ok(placed),
            Err(because) => Err(NotReady { because, detail: connections.words(record, because) }),
        }
    }
}
