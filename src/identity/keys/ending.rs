//! The end of keys of the database: by who manages them, by who holds one, and with the membership of their person.

use serde_json::json;

use super::changes::Step;
use super::events::event;
use super::{Key, Manager, form, stored};
use crate::error::Result;
use crate::identity::Identity;
use crate::ledger::{Actor, Changed, Event};
use crate::store::Connection;

impl Identity {
    /// Ends a key for good; again is the same.
    ///
    /// # Errors
    /// 404; 409 `configured`.
    pub async fn revoke_key(&self, org: &str, id: &str, by: Manager) -> Result<Key> {
        let (now, actor) = (self.now_ms(), by.actor.clone());
        let step: Step<Key> = Box::new(move |connection, key| {
            Box::pin(async move {
                if key.revoked_at_ms.is_some() {
                    return Ok(Changed::nothing(key));
                }
                let (key, event) = revoke(connection, key, now, actor, None).await?;
                Ok(Changed::by(key, event))
            })
        });
        let key = self.change(org, id, by, step).await?;
        self.forget_key(&key);
        Ok(key)
    }

    /// Ends the key whose text this is, since whoever holds it may; nothing for any other text. Whether it was one.
    pub async fn revoke_key_of_text(&self, text: &str) -> Result<bool> {
        let now = self.now_ms();
        let digest = crate::digest::sha256(text);
        let found =
            if form::is_made(text) && form::checksum_ok(text) { self.key_of_digest(&digest).await? } else { None };
        let Some(key) = found.filter(|key| key.opens(&digest, now)) else { return Ok(false) };
        let (org, id) = (key.org.clone(), key.id.clone());
        let actor = Actor::new("key", key.id, key.name);
        let by = Manager { actor, ..Manager::operator() };
        self.revoke_key(&org, &id, by).await.map(|_| true)
    }
}

/// Ends every key of a person's own in an org they leave, inside the commit that ends the membership. That membership,
/// once [`Identity::forget`] was told of it, is what stops them here at once.
pub async fn revoke_of_person(
    connection: &mut Connection,
    org: &str,
    person: &str,
    now_ms: i64,
    actor: &Actor,
    cause: &'static str,
) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for key in stored::of_person(connection, org, person).await? {
        events.push(revoke(connection, key, now_ms, actor.clone(), Some(cause)).await?.1);
    }
    Ok(events)
}

async fn revoke(
    connection: &mut Connection,
    key: Key,
    now_ms: i64,
    actor: Actor,
    cause: Option<&'static str>,
) -> Result<(Key, Event)> {
    let key = Key { revoked_at_ms: Some(now_ms), ..key };
    stored::update(connection, &key).await?;
    let mut told = json!({ "name": key.name, "display": key.display });
    if let Some(cause) = cause {
        told["cause"] = cause.into();
    }
    let event = event(&key, "key_revoked", actor, told);
    Ok((key, event))
}
