//! The operations on API keys (`identity.md` 3 and 9): HTTP alone, for people. Who manages the org sees and changes every
//! key; anybody else who signed in, their own.

pub mod create_key;
pub mod list_keys;
pub mod revoke_key;
pub mod rotate_key;
pub mod update_key;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::Context;
use crate::clock::{self, iso};
use crate::config::{ApiKey, UsageLimit, UsagePeriod};
use crate::error::{Problem, Result};
use crate::identity::caller::PERSON;
use crate::identity::keys::{Key, Manager, Status};
use crate::identity::{Permission, Playbooks};
use crate::playbooks;

/// Where a key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// In the server's configuration, where nobody changes it over HTTP.
    Configuration,
    /// In the database.
    Database,
}

/// A key as people see it: never its text, nor a digest of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct View {
    /// Its id, which is the caller id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The org it acts in.
    pub org: String,
    /// Where it stands.
    pub source: Source,
    /// Where it is in its life.
    pub status: Status,
    /// The first characters of its text; null for a key of the configuration.
    pub display: Option<String>,
    /// What it may do, as given.
    pub permissions: Vec<Permission>,
    /// `*`, or the ids of the playbooks it reaches.
    pub playbooks: Reach,
    /// The person whose own key it is, or null.
    pub person: Option<String>,
    /// Refused from then on; null where it never ends.
    pub expires_at: Option<String>,
    /// Until when the text from before the last rotation works, while it does.
    pub previous_until: Option<String>,
    /// How many calls of tools it has in a period, or null.
    pub usage_limit: Option<u32>,
    /// The period, or null.
    pub usage_period: Option<UsagePeriod>,
    /// Calls counted in this period; null for a key of the configuration.
    pub usage_count: Option<i64>,
    /// When it was last used, exact to a minute.
    pub last_used_at: Option<String>,
    /// When it was made; null for a key of the configuration.
    pub created_at: Option<String>,
    /// Who made it.
    pub created_by: Option<String>,
    /// When it was ended, once it was.
    pub revoked_at: Option<String>,
}

impl View {
    /// Of a key of the database.
    pub fn of(key: &Key, now_ms: i64) -> Self {
        let status = key.status(now_ms);
        let previous = key.previous.map(|(_, until)| until).filter(|until| key.is_live(now_ms) && now_ms < *until);
        Self {
            id: key.id.clone(),
            name: key.name.clone(),
            org: key.org.clone(),
            source: Source::Database,
            status,
            display: Some(key.display.clone()),
            permissions: key.permissions.clone(),
            playbooks: Reach(key.playbooks.clone()),
            person: key.person.as_ref().map(|id| format!("{PERSON}{id}")),
            expires_at: key.expires_at_ms.map(iso),
            previous_until: previous.map(iso),
            usage_limit: key.usage_limit.map(|limit| limit.calls),
            usage_period: key.usage_limit.map(|limit| limit.period),
            usage_count: Some(key.used(now_ms)),
            last_used_at: key.last_used_at_ms.map(iso),
            created_at: Some(iso(key.created_at_ms)),
            created_by: Some(key.created_by.clone()),
            revoked_at: key.revoked_at_ms.map(iso),
        }
    }

    /// Of a key of the configuration.
    pub fn configured(key: &ApiKey, now_ms: i64) -> Self {
        let ended = key.expires_at_ms.is_some_and(|end| now_ms >= end);
        Self {
            id: key.id.clone(),
            name: key.id.clone(),
            org: key.org.clone(),
            source: Source::Configuration,
            status: if ended { Status::Expired } else { Status::Active },
            display: None,
            permissions: key.permissions.clone(),
            playbooks: Reach(key.playbooks.clone()),
            person: None,
            expires_at: key.expires_at_ms.map(iso),
            previous_until: None,
            usage_limit: key.usage_limit.map(|limit| limit.calls),
            usage_period: key.usage_limit.map(|limit| limit.period),
            usage_count: None,
            last_used_at: None,
            created_at: None,
            created_by: None,
            revoked_at: None,
        }
    }
}

/// A key with its text, which is told this once.
#[derive(Serialize, JsonSchema)]
pub struct WithText {
    /// The key itself: shown this once, and kept nowhere.
    pub key: String,
    /// Everything else of it.
    #[serde(flatten)]
    pub view: View,
}

/// Playbooks as callers write them: `*`, or a list of 1 to 100 ids that need not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach(pub Playbooks);

impl Serialize for Reach {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Playbooks::All => serializer.serialize_str("*"),
            Playbooks::Only(ids) => ids.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Reach {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Every(String),
            Some(Vec<String>),
        }
        match Written::deserialize(deserializer)? {
            Written::Every(text) if text == "*" => Ok(Self(Playbooks::All)),
            Written::Every(_) => Err(serde::de::Error::custom("* or a list of playbook ids")),
            Written::Some(mut ids) => {
                ids.sort();
                ids.dedup();
                Ok(Self(Playbooks::Only(ids)))
            }
        }
    }
}

impl JsonSchema for Reach {
    fn schema_name() -> Cow<'static, str> {
        "Reach".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "array"],
            "pattern": "^\\*$",
            "items": { "type": "string", "pattern": playbooks::ID_PATTERN },
            "minItems": 1,
            "maxItems": 100,
            "description": "* for every playbook, or a list of ids, which need not exist yet.",
        })
    }
}

/// Whom the caller is where keys are managed: with administration all are theirs, without it their own.
fn manager(context: &Context) -> Manager {
    let caller = &context.caller;
    Manager {
        actor: caller.actor(),
        permissions: caller.permissions,
        playbooks: caller.playbooks.clone(),
        person: caller.person().map(str::to_owned),
        every: caller.may(Permission::OrgAdmin),
    }
}

/// An instant of an input.
fn instant(pointer: &str, text: &str) -> Result<i64> {
    clock::parse_iso(text)
        .ok_or_else(|| Problem::invalid(pointer, "must be an instant with its offset, such as 2027-01-31T00:00:00Z"))
}

/// An allowance of an input.
fn allowance(calls: Option<u32>, period: Option<UsagePeriod>) -> Result<Option<UsageLimit>> {
    match (calls, period) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Problem::invalid("/usage_period", "needs a usage_limit beside it")),
        (Some(calls), period) => Ok(Some(UsageLimit { calls, period: period.unwrap_or(UsagePeriod::Total) })),
    }
}
