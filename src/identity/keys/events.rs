//! The events of the audit about a key, and the facts in them.

use serde_json::{Value, json};

use super::Key;
use crate::clock::iso;
use crate::config::Playbooks;
use crate::identity::resource;
use crate::ledger::{Actor, Event};

/// An event of the audit about a key.
pub(super) fn event(key: &Key, kind: &'static str, actor: Actor, facts: Value) -> Event {
    Event::audit(format!("keys/{}", key.id), kind, actor, facts)
}

/// What a key is when it is made.
pub(super) fn facts(key: &Key) -> Value {
    let mut told = limits(key);
    told["display"] = key.display.as_str().into();
    told["permissions"] = resource::words(&key.permissions).into();
    told["playbooks"] = match &key.playbooks {
        Playbooks::All => "*".into(),
        Playbooks::Only(ids) => json!(ids),
    };
    told["person"] = json!(key.person.as_ref().map(|id| format!("{}{id}", crate::identity::caller::PERSON)));
    told
}

/// What of a key can change.
pub(super) fn limits(key: &Key) -> Value {
    json!({
        "name": key.name,
        "expires_at": key.expires_at_ms.map(iso),
        "usage_limit": key.usage_limit.map(|limit| limit.calls),
        "usage_period": key.usage_limit.map(|limit| limit.period.word()),
    })
}
