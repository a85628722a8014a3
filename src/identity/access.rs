//! Who may call this server at all, fixed at the start: the local developer, people who sign in, the
//! keys, or nobody.

use std::sync::Arc;

use super::Caller;
use crate::config;

/// The ways in that are open.
pub struct Access {
    mode: config::Access,
    local: Option<Arc<Caller>>,
}

impl Access {
    /// The ways that `settings` open; the local developer is called `account`.
    pub fn of(settings: &config::Settings, account: &str) -> Self {
        let mode = settings.access();
        Self { mode, local: (mode == config::Access::Local).then(|| Arc::new(Caller::local(account))) }
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
}
