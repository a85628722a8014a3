//! `api_keys` as it is written, and its checks.

use std::collections::HashSet;

use serde::Deserialize;

use super::Permission;
use super::api_keys::{ApiKey, Playbooks, UsageLimit, UsagePeriod};
use super::decode::Fault;
use super::given::Given;
use super::names;
use super::refusal::Refusal;
use crate::digest;

/// A key that may call. `playmaker key create` prints one.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with the fields of a key")]
#[schemars(rename = "ApiKey")]
pub(super) struct Written {
    /// The caller's id, unique in the org: 1 to 32 of a-z 0-9 -.
    id: String,
    /// The org it acts in.
    org: String,
    /// What it may do; all four permissions when left out.
    permissions: Option<Vec<Permission>>,
    /// '*' or a list of playbook ids; '*' when left out.
    playbooks: Option<PlaybooksWritten>,
    /// SHA-256 of the key's text, as 64 lower-case hex digits.
    sha256: String,
    /// When it stops working, as an ISO 8601 instant with its offset.
    expires_at: Option<String>,
    /// How many calls it has, 1 to 1,000,000,000.
    usage_limit: Option<u32>,
    /// What the limit counts over; its whole life when left out.
    usage_period: Option<UsagePeriod>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "'*' or a list of playbook ids")]
enum PlaybooksWritten {
    Word(String),
    List(Vec<String>),
}

/// Checks every entry, and that no id of an org and no digest occurs twice.
pub(super) fn read(given: &Given) -> Result<Vec<ApiKey>, Refusal> {
    let written: Vec<Written> = given.read()?;
    let mut ids = HashSet::new();
    let mut digests = HashSet::new();
    let mut keys = Vec::with_capacity(written.len());
    for (index, entry) in written.into_iter().enumerate() {
        let refuse = |fault: Fault| given.refuse(fault.below(index.to_string()));
        let key = check(entry).map_err(refuse)?;
        if !ids.insert((key.org.clone(), key.id.clone())) {
            return Err(refuse(Fault::at(&["id"], "an id no other key of the org has")));
        }
        if !digests.insert(key.sha256) {
            return Err(refuse(Fault::at(&["sha256"], "a digest no other key has")));
        }
        keys.push(key);
    }
    Ok(keys)
}

fn check(entry: Written) -> Result<ApiKey, Fault> {
    if !names::is_key_id(&entry.id) {
        return Err(Fault::at(&["id"], names::KEY_ID));
    }
    if !names::is_org(&entry.org) {
        return Err(Fault::at(&["org"], names::ORG));
    }
    let permissions = entry.permissions.unwrap_or_else(|| Permission::ALL.to_vec());
    let distinct: HashSet<_> = permissions.iter().collect();
    if permissions.is_empty() || distinct.len() < permissions.len() {
        return Err(Fault::at(&["permissions"], "one permission or more, each once"));
    }
    let sha256 = digest::from_hex(&entry.sha256)
        .ok_or_else(|| Fault::at(&["sha256"], "the SHA-256 of the key as 64 lower-case hex digits"))?;
    let expires_at_ms =
        match &entry.expires_at {
            None => None,
            Some(text) => Some(crate::clock::parse_iso(text).ok_or_else(|| {
                Fault::at(&["expires_at"], "an instant with its offset, such as 2027-01-31T00:00:00Z")
            })?),
        };
    Ok(ApiKey {
        id: entry.id,
        org: entry.org,
        permissions,
        playbooks: playbooks(entry.playbooks)?,
        sha256,
        expires_at_ms,
        usage_limit: usage_limit(entry.usage_limit, entry.usage_period)?,
    })
}

fn playbooks(written: Option<PlaybooksWritten>) -> Result<Playbooks, Fault> {
    let whole = |expected| Fault::at(&["playbooks"], expected);
    match written {
        None => Ok(Playbooks::All),
        Some(PlaybooksWritten::Word(word)) if word == "*" => Ok(Playbooks::All),
        Some(PlaybooksWritten::Word(_)) => Err(whole("'*' or a list of playbook ids")),
        Some(PlaybooksWritten::List(ids)) => {
            if !(1..=100).contains(&ids.len()) {
                return Err(whole("'*' or a list of 1 to 100 playbook ids"));
            }
            playbook_ids(&ids)?;
            Ok(Playbooks::Only(ids))
        }
    }
}

/// Checks a list under `playbooks`: each an id, none twice.
pub(super) fn playbook_ids(ids: &[String]) -> Result<(), Fault> {
    for (index, id) in ids.iter().enumerate() {
        let at = |expected| Fault::at(&["playbooks", &index.to_string()], expected);
        if !names::is_playbook(id) {
            return Err(at(names::PLAYBOOK));
        }
        if ids[..index].contains(id) {
            return Err(at("each playbook once"));
        }
    }
    Ok(())
}

fn usage_limit(calls: Option<u32>, period: Option<UsagePeriod>) -> Result<Option<UsageLimit>, Fault> {
    match (calls, period) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Fault::at(&["usage_period"], "a usage_limit beside it")),
        (Some(calls @ 1..=1_000_000_000), period) => {
            Ok(Some(UsageLimit { calls, period: period.unwrap_or(UsagePeriod::Total) }))
        }
        (Some(_), _) => Err(Fault::at(&["usage_limit"], "a whole number from 1 to 1000000000")),
    }
}
