//! A connection as it is kept, and as callers see it (`connections.md` 1).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Scopes;
use super::catalogue::ValueIn;
use super::refresh::{FRESH, REFRESHING};
use crate::clock;
use crate::config::{CredentialKind, ServerType};
use crate::error::{Problem, Result};
use crate::ledger::Actor;

/// Where a connection is in its life; `removed` is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Waits for its approval.
    Pending,
    /// Approved.
    Connected,
    /// Gone for good.
    Removed,
}

impl Status {
    /// The word kept in the database.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Connected => "connected",
            Self::Removed => "removed",
        }
    }
}

/// Why a connection cannot be used just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Nobody has approved it.
    Pending,
    /// Its credential is gone, or is not what it should be.
    Broken,
    /// A rule of the operator excludes it.
    NotAllowed,
    /// Its credential cannot be read just now; that may pass.
    Unavailable,
}

impl Because {
    /// The word callers see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "connection_pending",
            Self::Broken => "connection_broken",
            Self::NotAllowed => "connection_not_allowed",
            Self::Unavailable => "connection_unavailable",
        }
    }
}

/// The server of a connection, without its credential.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// The server's address; the base address of an HTTP API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The address of its OpenAPI document, where it came from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Fixed headers without secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The playbooks that may use it; every one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playbooks: Option<Vec<String>>,
    /// The tools that may be used; every one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// Whether arguments and answers are kept whole in the history.
    pub record_content: bool,
}

/// What a connection's credential is and where it goes: never a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credential {
    /// Its kind.
    pub kind: CredentialKind,
    /// The variable of the server that holds it, of a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The header, query parameter or cookie it goes into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Header, query or cookie.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub place: Option<ValueIn>,
    /// The word before the value, in a header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
}

/// A connection as it is kept.
#[derive(Debug, Clone)]
pub struct Record {
    /// The org it belongs to.
    pub org: String,
    /// Its id, `conn_` and 22 base62 characters.
    pub id: String,
    /// What functions write before the slash.
    pub name: String,
    /// The provider's title, or the name.
    pub title: String,
    /// An MCP server or an HTTP API.
    pub kind: ServerType,
    /// The provider it came from.
    pub provider: Option<String>,
    /// The server without its credential.
    pub entry: Entry,
    /// The placeholders of the provider, filled in.
    pub placeholders: Map<String, Value>,
    /// What the credential is and where it goes.
    pub credential: Option<Credential>,
    /// Where it is in its life.
    pub status: Status,
    /// The because that was last told in the audit, so that each change is told once.
    pub last_because: Option<String>,
    /// The account at the provider, where known.
    pub account: Option<String>,
    /// What tells its account from others, where the account's id is known ([`super::Connections::account_digest`]).
    pub(super) account_digest: Option<String>,
    /// What a consent asked for and got; `None` outside OAuth.
    pub scopes: Option<Scopes>,
    /// When the access token ends, in milliseconds since the epoch; `None` when it does not, or nobody knows.
    pub expires_at: Option<i64>,
    /// How renewing its tokens stands; `None` for a credential that is not renewed.
    pub(super) renewal: Option<Renewing>,
    /// The version of the credential in use; 0 before there is one.
    pub credential_version: i64,
    /// Grows with each change; changes compare it.
    pub revision: i64,
    /// Who added it.
    pub added_by: Actor,
    /// When, in milliseconds since the epoch.
    pub added_at: i64,
    /// Who approved it.
    pub connected_by: Option<Actor>,
    /// When, in milliseconds since the epoch.
    pub connected_at: Option<i64>,
    /// Who removed it.
    pub removed_by: Option<Actor>,
    /// When, in milliseconds since the epoch.
    pub removed_at: Option<i64>,
    /// When the link that approves it ends, while it is pending and the link was not used.
    pub link_expires_at: Option<i64>,
}

/// How renewing a connection's tokens stands.
#[derive(Debug, Clone)]
pub(super) struct Renewing {
    /// One of the words of `connections.md` 2.3.
    pub(super) state: String,
    /// Why the consent is over, where it is.
    pub(super) cause: Option<String>,
    /// When the tokens in use are due, in milliseconds since the epoch.
    pub(super) due_at: Option<i64>,
    /// When they were last used, to the hour.
    pub(super) used_at: i64,
}

#[derive(sqlx::FromRow)]
struct StoredRenewing {
    renewal_state: Option<String>,
    renewal_cause: Option<String>,
    due_at: Option<i64>,
    used_at: Option<i64>,
}

impl StoredRenewing {
    fn read(self) -> Option<Renewing> {
        let Self { renewal_state, renewal_cause: cause, due_at, used_at } = self;
        Some(Renewing { state: renewal_state?, cause, due_at, used_at: used_at.unwrap_or_default() })
    }
}

/// The row of the table, with its link's end.
#[derive(sqlx::FromRow)]
pub(super) struct Stored {
    org: String,
    id: String,
    name: String,
    title: String,
    #[sqlx(rename = "type")]
    kind: String,
    provider: Option<String>,
    entry: String,
    placeholders: String,
    credential: Option<String>,
    status: String,
    last_because: Option<String>,
    account: Option<String>,
    account_digest: Option<String>,
    scopes: Option<String>,
    expires_at: Option<i64>,
    #[sqlx(flatten)]
    renewal: StoredRenewing,
    credential_version: i64,
    revision: i64,
    added_by: String,
    added_at: i64,
    connected_by: Option<String>,
    connected_at: Option<i64>,
    removed_by: Option<String>,
    removed_at: Option<i64>,
    link_expires_at: Option<i64>,
}

impl Stored {
    /// Org and id, to go on after.
    pub(super) fn key(&self) -> (String, String) {
        (self.org.clone(), self.id.clone())
    }
}

impl TryFrom<Stored> for Record {
    type Error = Problem;

    fn try_from(row: Stored) -> Result<Self> {
        let actor = |text: Option<String>| text.map(|text| serde_json::from_str(&text)).transpose();
        Ok(Self {
            org: row.org,
            id: row.id,
            name: row.name,
            title: row.title,
            kind: if row.kind == "openapi" { ServerType::Openapi } else { ServerType::Mcp },
            provider: row.provider,
            entry: serde_json::from_str(&row.entry)?,
            placeholders: serde_json::from_str(&row.placeholders)?,
            credential: row.credential.map(|text| serde_json::from_str(&text)).transpose()?,
            status: match row.status.as_str() {
                "connected" => Status::Connected,
                "removed" => Status::Removed,
                _ => Status::Pending,
            },
            last_because: row.last_because,
            account: row.account,
            account_digest: row.account_digest,
            scopes: row.scopes.map(|text| serde_json::from_str(&text)).transpose()?,
            expires_at: row.expires_at,
            renewal: row.renewal.read(),
            credential_version: row.credential_version,
            revision: row.revision,
            added_by: serde_json::from_str(&row.added_by)?,
            added_at: row.added_at,
            connected_by: actor(row.connected_by)?,
            connected_at: row.connected_at,
            removed_by: actor(row.removed_by)?,
            removed_at: row.removed_at,
            link_expires_at: row.link_expires_at,
        })
    }
}

/// The link of a pending connection, in the answer that made it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Connect {
    /// The page on which the person approves.
    pub url: String,
    /// When the link ends.
    pub expires_at: String,
}

/// A connection as callers see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct View {
    /// Its id.
    pub id: String,
    /// What a function writes before the slash.
    pub name: String,
    /// The provider's title, or the name.
    pub title: String,
    /// `mcp` or `openapi`.
    #[serde(rename = "type")]
    pub kind: ServerType,
    /// The provider it came from, or null.
    pub provider: Option<String>,
    /// The server without its credential.
    pub entry: Entry,
    /// The placeholders given.
    pub placeholders: Map<String, Value>,
    /// What the credential is, never its value.
    pub credential: Option<Credential>,
    /// Where it is in its life.
    pub status: Status,
    /// Null when it can be used.
    pub because: Option<&'static str>,
    /// The same in words.
    pub detail: Option<String>,
    /// `fresh`, `refreshing`, `failing` or `needs_reconnect`; null for a credential that is not renewed.
    pub refresh: Option<String>,
    /// The account at the provider, where known.
    pub account: Option<String>,
    /// Null outside OAuth.
    pub scopes: Option<Scopes>,
    /// When the present access token ends; null when it does not, or nobody knows.
    pub expires_at: Option<String>,
    /// Who added it.
    pub added_by: Actor,
    /// When.
    pub added_at: String,
    /// Who approved it.
    pub connected_by: Option<Actor>,
    /// When.
    pub connected_at: Option<String>,
    /// Who removed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_by: Option<Actor>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<String>,
    /// When its link ends, while it is pending and the link lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_expires_at: Option<String>,
    /// The link, in the answer that made it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<Connect>,
}

impl Record {
    /// As callers see it, with why it cannot be used and those words.
    pub fn view(&self, because: Option<(Because, String)>, now_ms: i64) -> View {
        let (because, detail) = because.map_or((None, None), |(because, detail)| (Some(because.word()), Some(detail)));
        View {
            id: self.id.clone(),
            name: self.name.clone(),
            title: self.title.clone(),
            kind: self.kind,
            provider: self.provider.clone(),
            entry: self.entry.clone(),
            placeholders: self.placeholders.clone(),
            credential: self.credential.clone(),
            status: self.status,
            because,
            detail,
            refresh: self.refresh(now_ms).map(str::to_owned),
            account: self.account.clone(),
            scopes: self.scopes.clone(),
            expires_at: self.expires_at.map(clock::iso),
            added_by: self.added_by.clone(),
            added_at: clock::iso(self.added_at),
            connected_by: self.connected_by.clone(),
            connected_at: self.connected_at.map(clock::iso),
            removed_by: self.removed_by.clone(),
            removed_at: self.removed_at.map(clock::iso),
            link_expires_at: self.living_link(now_ms).map(clock::iso),
            connect: None,
        }
    }

    /// The word of its renewal: that it is under way shows only while the tokens in hand have ended.
    fn refresh(&self, now_ms: i64) -> Option<&str> {
        let state = self.renewal.as_ref().filter(|_| self.status == Status::Connected)?.state.as_str();
        let lasts = self.expires_at.is_none_or(|end| now_ms < end);
        Some(if state == REFRESHING && lasts { FRESH } else { state })
    }

    /// When its link ends, while it is pending and the link lives.
    pub fn living_link(&self, now_ms: i64) -> Option<i64> {
        self.link_expires_at.filter(|end| self.status == Status::Pending && now_ms < *end)
    }

    /// The host of its server, for callers and the audit.
    pub fn host(&self) -> String {
        let url = self.entry.url.as_deref().and_then(|url| url::Url::parse(url).ok());
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }
}
