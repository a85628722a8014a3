//! What makes, rotates and changes a key of the database: each is one commit with its event of the audit.

use futures_util::future::BoxFuture;
use serde_json::json;

use super::events::{event, facts, limits};
use super::{Key, MOST_LIVE, Manager, form, reaches_within, stored, within};
use crate::config::{Permission, Playbooks, Secret, UsageLimit, UsagePeriod};
use crate::error::{Problem, Result};
use crate::identity::{Changed as Forget, Identity};
use crate::ledger::{Changed, Work};
use crate::store::Connection;

/// A key about to be made.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// What it may do.
    pub permissions: Vec<Permission>,
    /// Where.
    pub playbooks: Playbooks,
    /// The person, `user_…`, whose own it is to be.
    pub person: Option<String>,
    /// When it ends, in milliseconds since the epoch.
    pub expires_at_ms: Option<i64>,
    /// Its allowance.
    pub usage_limit: Option<UsageLimit>,
}

/// What is to change of a key.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Its name.
    pub name: Option<String>,
    /// The calls of its allowance.
    pub usage_limit: Option<u32>,
    /// What they are counted over.
    pub usage_period: Option<UsagePeriod>,
    /// When it ends: earlier than before.
    pub expires_at_ms: Option<i64>,
}

/// A key with a new text, which is told this once and kept nowhere.
pub struct Made {
    /// The key.
    pub key: Key,
    /// Its text.
    pub text: Secret,
}

/// What is done with a key, in the commit that reads it.
pub(super) type Step<T> = Box<dyn for<'c> FnOnce(&'c mut Connection, Key) -> BoxFuture<'c, Result<Changed<T>>> + Send>;

impl Identity {
    /// Makes a key.
    ///
    /// # Errors
    /// 403 for more than its maker holds; 409 `taken` and `keys_full`.
    pub async fn create_key(&self, org: &str, draft: Draft, by: Manager) -> Result<Made> {
        if !by.every && (draft.person.is_none() || draft.person != by.person) {
            return Err(no_scope_helps("Only an admin of the org makes keys that are nobody's own."));
        }
        if !within(&draft.permissions, by.permissions) || !reaches_within(&draft.playbooks, &by.playbooks) {
            return Err(exceeds());
        }
        let (now, made) = (self.now_ms(), form::generate(self.ids()));
        if self.configured_keys.one(org, &draft.name).is_some() {
            return Err(taken());
        }
        let key = Key {
            org: org.to_owned(),
            id: self.ids().key(),
            name: draft.name,
            display: made.display,
            digest: made.sha256,
            previous: None,
            permissions: draft.permissions,
            playbooks: draft.playbooks,
            person: draft.person,
            expires_at_ms: draft.expires_at_ms,
            usage_limit: draft.usage_limit,
            usage: (0, 0),
            last_used_at_ms: None,
            created_at_ms: now,
            created_by: by.actor.id.clone(),
            revoked_at_ms: None,
        };
        let work: Work<Key> = Box::new(move |connection| {
            Box::pin(async move {
                let names = stored::live_names(connection, &key.org, now, &key.id).await?;
                if names.contains(&key.name) {
                    return Err(taken());
                }
                if names.len() >= MOST_LIVE {
                    let words = format!("The org has {MOST_LIVE} keys that work, and no more fit. Revoke one first.");
                    return Err(Problem::conflict("keys_full", words));
                }
                stored::insert(connection, &key).await?;
                let event = event(&key, "key_created", by.actor, facts(&key));
                Ok(Changed::by(key, event))
            })
        });
        let key = self.ledger.commit(org, work).await?;
        self.forget(Forget::Key(&key.digest));
        Ok(Made { key, text: made.text })
    }

    /// Gives a key a new text; the one before works for `grace_ms` more, the one before that no longer.
    ///
    /// # Errors
    /// 404; 403 for a key of more than `by` holds, or another person's own; 409 `configured`, `revoked`, `expired`.
    pub async fn rotate_key(&self, org: &str, id: &str, grace_ms: i64, by: Manager) -> Result<Made> {
        let (now, made) = (self.now_ms(), form::generate(self.ids()));
        let (digest, display) = (made.sha256, made.display);
        let actor = by.actor.clone();
        let manager = by.clone();
        let step: Step<(Key, Key)> = Box::new(move |connection, before| {
            Box::pin(async move {
                can_change(&before, now)?;
                // Who gets the new text could act as the key: they must hold what it holds, and be its person.
                if before.person.is_some() && !manager.owns(&before) {
                    return Err(no_scope_helps(
                        "A personal key is rotated by its own person alone; revoke it instead.",
                    ));
                }
                if !within(&before.permissions, manager.permissions)
                    || !reaches_within(&before.playbooks, &manager.playbooks)
                {
                    return Err(exceeds());
                }
                let previous = (grace_ms > 0).then_some((before.digest, now + grace_ms));
                let key = Key { digest, display, previous, ..before.clone() };
                stored::update(connection, &key).await?;
                let told = json!({
                    "name": key.name,
                    "display": { "before": before.display, "after": key.display },
                    "grace_seconds": grace_ms / 1_000,
                });
                let event = event(&key, "key_rotated", actor, told);
                Ok(Changed::by((before, key), event))
            })
        });
        let (before, key) = self.change(org, id, by, step).await?;
        self.forget_key(&before);
        self.forget_key(&key);
        Ok(Made { key, text: made.text })
    }

    /// Changes a key's name, its allowance, or its end to an earlier one.
    ///
    /// # Errors
    /// 404; 409 `configured`, `revoked`, `expired`, `taken`; 422.
    pub async fn update_key(&self, org: &str, id: &str, change: Change, by: Manager) -> Result<Key> {
        let (now, actor) = (self.now_ms(), by.actor.clone());
        if change.name.as_deref().is_some_and(|name| self.configured_keys.one(org, name).is_some()) {
            return Err(taken());
        }
        let step: Step<Key> = Box::new(move |connection, before| {
            Box::pin(async move {
                can_change(&before, now)?;
                let key = changed(&before, change, now)?;
                if key == before {
                    return Ok(Changed::nothing(key));
                }
                let names = stored::live_names(connection, &key.org, now, &key.id).await?;
                if names.contains(&key.name) {
                    return Err(taken());
                }
                stored::update(connection, &key).await?;
                let told = json!({ "name": key.name, "before": limits(&before), "after": limits(&key) });
                let event = event(&key, "key_updated", actor, told);
                Ok(Changed::by(key, event))
            })
        });
        let key = self.change(org, id, by, step).await?;
        self.forget_key(&key);
        Ok(key)
    }

    /// Reads a key of the database that `by` may see, and does `step` with it, in one commit.
    pub(super) async fn change<T: Send + 'static>(&self, org: &str, id: &str, by: Manager, step: Step<T>) -> Result<T> {
        if self.configured_keys.one(org, id).is_some() {
            return Err(if by.every { configured() } else { unknown() });
        }
        let (org_name, id) = (org.to_owned(), id.to_owned());
        let work: Work<T> = Box::new(move |connection| {
            Box::pin(async move {
                let found = stored::one(connection, &org_name, &id).await?.filter(|key| by.sees(key));
                step(connection, found.ok_or_else(unknown)?).await
            })
        });
        self.ledger.commit(org, work).await
    }

    /// Takes back at once what this server remembers of a key's texts.
    pub(in crate::identity) fn forget_key(&self, key: &Key) {
        self.forget(Forget::Key(&key.digest));
        if let Some((previous, _)) = &key.previous {
            self.forget(Forget::Key(previous));
        }
    }
}

/// The key as it is to be.
fn changed(before: &Key, change: Change, now_ms: i64) -> Result<Key> {
    let mut key = before.clone();
    if let Some(name) = change.name {
        key.name = name;
    }
    if let Some(end) = change.expires_at_ms {
        if end <= now_ms {
            return Err(Problem::invalid("/expires_at", "must be still to come; revoke_key ends a key now"));
        }
        if before.expires_at_ms.is_some_and(|old| end > old) {
            return Err(Problem::invalid("/expires_at", "must not be later than it is now; make another key instead"));
        }
        key.expires_at_ms = Some(end);
    }
    let old = before.usage_limit;
    key.usage_limit = match (change.usage_limit.or(old.map(|limit| limit.calls)), change.usage_period) {
        (Some(calls), period) => {
            let period = period.or(old.map(|limit| limit.period)).unwrap_or(UsagePeriod::Total);
            Some(UsageLimit { calls, period })
        }
        (None, Some(_)) => return Err(Problem::invalid("/usage_period", "needs a usage_limit beside it")),
        (None, None) => None,
    };
    Ok(key)
}

fn can_change(key: &Key, now_ms: i64) -> Result<()> {
    if key.revoked_at_ms.is_some() {
        return Err(Problem::conflict("revoked", "This key was revoked and does not come back. Make another one."));
    }
    if key.is_expired(now_ms) {
        return Err(Problem::conflict("expired", "This key has expired and does not come back. Make another one."));
    }
    Ok(())
}

fn unknown() -> Problem {
    Problem::not_found("There is no such key. list_keys shows those there are.")
}

fn configured() -> Problem {
    let words = "This key stands in the server's configuration. Whoever runs the server changes it there.";
    Problem::conflict("configured", words)
}

fn taken() -> Problem {
    Problem::conflict("taken", "Another key of the org that still works has this name. Choose another name.")
}

fn exceeds() -> Problem {
    no_scope_helps("A key may do no more, and reach no more playbooks, than whoever makes it.")
}

fn no_scope_helps(words: &'static str) -> Problem {
    Problem::forbidden(words).challenge(None)
}
