//! What the simulated provider granted: codes, tokens and the families they belong to.

use std::collections::HashMap;

use super::quirks::{Account, Quirks, Reuse, Rotation};

/// What a code is good for.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) challenge: Option<String>,
    pub(super) redirect: String,
    pub(super) scopes: Vec<String>,
    pub(super) resource: Option<String>,
    pub(super) account: Account,
}

/// Tokens of one consent end together.
struct Family {
    alive: bool,
    scopes: Vec<String>,
    account: Account,
}

struct Access {
    family: usize,
    ends_ms: Option<i64>,
}

struct Renewal {
    family: usize,
    used_ms: Option<i64>,
}

/// All that was granted.
#[derive(Default)]
pub(super) struct Grants {
    codes: HashMap<String, Code>,
    families: Vec<Family>,
    access: HashMap<String, Access>,
    renewals: HashMap<String, Renewal>,
    made: usize,
}

/// The tokens of an answer.
pub(super) struct Given {
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    pub(super) scopes: Vec<String>,
}

impl Grants {
    /// A code for what a person allowed.
    pub(super) fn code(&mut self, code: Code) -> String {
        let text = self.name("sim-code");
        self.codes.insert(text.clone(), code);
        text
    }

    /// Takes a code, which is good for once.
    pub(super) fn take(&mut self, code: &str) -> Option<Code> {
        self.codes.remove(code)
    }

    /// The tokens of a new consent.
    pub(super) fn begin(&mut self, code: Code, quirks: &Quirks, now_ms: i64) -> Given {
        self.families.push(Family { alive: true, scopes: code.scopes, account: code.account });
        let family = self.families.len() - 1;
        let refresh_token = quirks.refreshes.then(|| self.renewal(family));
        self.given_to(family, refresh_token, quirks, now_ms)
    }

    /// The tokens of a refresh, or `None` where the refresh token is not taken.
    pub(super) fn renew(&mut self, token: &str, quirks: &Quirks, now_ms: i64) -> Option<Given> {
        let renewal = self.renewals.get_mut(token)?;
        let (family, used) = (renewal.family, renewal.used_ms);
        if !self.families[family].alive {
            return None;
        }
        if let Some(used) = used {
            match quirks.reuse {
                Reuse::EndsFamily { grace_ms } if now_ms - used < grace_ms => {}
                Reuse::EndsFamily { .. } => {
                    self.families[family].alive = false;
                    return None;
                }
                Reuse::Refused => return None,
            }
        }
        let next = match quirks.rotation {
            Rotation::Always => {
                renewal.used_ms.get_or_insert(now_ms);
                Some(self.renewal(family))
            }
            Rotation::Never => None,
        };
        Some(self.given_to(family, next, quirks, now_ms))
    }

    /// Ends the family of a token.
    pub(super) fn revoke(&mut self, token: &str) {
        if let Some(family) = self.family_of(token) {
            self.families[family].alive = false;
        }
    }

    /// The account and the scopes of an access token that is taken now.
    pub(super) fn holder(&self, token: &str, now_ms: i64) -> Option<(Account, Vec<String>)> {
        let access = self.access.get(token)?;
        let family = &self.families[access.family];
        let taken = family.alive && access.ends_ms.is_none_or(|end| now_ms < end);
        taken.then(|| (family.account.clone(), family.scopes.clone()))
    }

    pub(super) fn lives(&self, token: &str, now_ms: i64) -> bool {
        let unused = |renewal: &Renewal| renewal.used_ms.is_none() && self.families[renewal.family].alive;
        self.holder(token, now_ms).is_some() || self.renewals.get(token).is_some_and(unused)
    }

    pub(super) fn given(&self) -> Vec<String> {
        self.access.keys().chain(self.renewals.keys()).cloned().collect()
    }

    fn family_of(&self, token: &str) -> Option<usize> {
        let access = self.access.get(token).map(|access| access.family);
        access.or_else(|| self.renewals.get(token).map(|renewal| renewal.family))
    }

    fn renewal(&mut self, family: usize) -> String {
        let text = self.name("sim-refresh");
        self.renewals.insert(text.clone(), Renewal { family, used_ms: None });
        text
    }

    fn given_to(&mut self, family: usize, refresh_token: Option<String>, quirks: &Quirks, now_ms: i64) -> Given {
        let access_token = self.name("sim-access");
        let ends_ms = quirks.lifetime_ms.map(|life| now_ms + life);
        self.access.insert(access_token.clone(), Access { family, ends_ms });
        if let Some(granted) = &quirks.granted {
            self.families[family].scopes.clone_from(granted);
        }
        Given { access_token, refresh_token, scopes: self.families[family].scopes.clone() }
    }

    /// Long enough to be found wherever it should not be.
    fn name(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}-canary-{}-of-the-simulator", self.made)
    }
}
