//! Who may call this server at all, fixed at the start: the local developer, people who sign in, the
//! keys, or nobody.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Caller, Permissions, Who};
use crate::config::{self, ApiKey};
use crate::digest::sha256;

/// The ways in that are open.
pub struct Access {
    mode: config::Access,
    local: Option<Arc<Caller>>,
    keys: Keys,
}

/// The configured keys, by the SHA-256 of their text.
#[derive(Default)]
pub struct Keys(HashMap<[u8; 32], Known>);

struct Known {
    caller: Arc<Caller>,
    expires_at_ms: Option<i64>,
}

impl Access {
    /// The ways that `settings` open; the local developer is called `account`.
    pub fn of(settings: &config::Settings, account: &str) -> Self {
        let mode = settings.access();
        Self {
            mode,
            local: (mode == config::Access::Local).then(|| Arc::new(Caller::local(account))),
            keys: Keys::of(settings.api_keys.as_deref().unwrap_or_default()),
        }
    }

    /// Whether this is local mode: only this machine reaches the server, and every request is the local developer's.
    pub fn is_local(&self) -> bool {
        self.mode == config::Access::Local
    }

    /// Whether people sign in.
    pub fn signs_in(&self) -> bool {
        self.mode == config::Access::SignIn
    }

    /// Whether nobody may call.
    pub fn is_closed(&self) -> bool {
        self.mode == config::Access::Closed
    }

    /// The local developer, in local mode.
    pub fn local_caller(&self) -> Option<Arc<Caller>> {
        self.local.clone()
    }

    /// The caller of a configured key's text; `None` alike for an unknown, an ended and a misspelt one.
    pub fn key_caller(&self, text: &str, now_ms: i64) -> Option<Arc<Caller>> {
        self.keys.find(text, now_ms)
    }
}

impl Keys {
    /// The keys of checked entries.
    pub fn of(keys: &[ApiKey]) -> Self {
        let known = keys.iter().map(|key| {
            let caller = Caller {
                org: key.org.clone(),
                who: Who::Key { id: key.id.clone(), name: key.id.clone(), person: None },
                permissions: Permissions::of(&key.permissions),
                playbooks: key.playbooks.clone(),
                origin: None,
            };
            (key.sha256, Known { caller: Arc::new(caller), expires_at_ms: key.expires_at_ms })
        });
        Self(known.collect())
    }

    /// The caller whose key this is, unless it has ended; `None` tells nothing of why.
    ///
    /// Found by digest: what an attacker can time is the digest of a guess, which tells nothing of a key.
    pub fn find(&self, text: &str, now_ms: i64) -> Option<Arc<Caller>> {
        if !super::keys::is_possible(text) {
            return None;
        }
        let known = self.0.get(&sha256(text))?;
        let ended = known.expires_at_ms.is_some_and(|end| now_ms >= end);
        (!ended).then(|| known.caller.clone())
    }
}
