//! The state of one connection's renewals, and how it changes (`connections.md` 2.3 and 10). Pure: rows are read and
//! written elsewhere, under the org's write lock.

use super::classify::Verdict;
use super::timing::{CLAIM_MS, CLIENT, FORCED_MS, REFUSED, UNCLASSIFIED};

/// The tokens are as good as they were given.
pub(crate) const FRESH: &str = "fresh";
/// A server is getting new ones.
pub(crate) const REFRESHING: &str = "refreshing";
/// The last attempt failed, and there will be another.
pub(crate) const FAILING: &str = "failing";
/// The consent is over.
pub(crate) const NEEDS_RECONNECT: &str = "needs_reconnect";

/// The row of a connection that has tokens. Times are in milliseconds, by the database's clock.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(super) struct Renewal {
    /// One of the four words above.
    pub(super) state: String,
    /// What it was before the claim.
    pub(super) state_before: String,
    /// Why the consent is over.
    pub(super) cause: Option<String>,
    /// The server that holds the claim.
    pub(super) owner: Option<String>,
    /// Grows with each claim.
    pub(super) epoch: i64,
    /// When the claim lapses.
    pub(super) deadline: Option<i64>,
    /// Failures in a row.
    pub(super) failures: i64,
    /// When the first of them was.
    pub(super) first_failure_at: Option<i64>,
    /// Before this nothing is tried again.
    pub(super) next_attempt_at: Option<i64>,
    /// What the last failure was.
    pub(super) last_code: Option<String>,
    /// The version whose refresh token may have been sent without anybody knowing what became of it.
    pub(super) intent_version: Option<i64>,
    /// When it may have been sent.
    pub(super) intent_at: Option<i64>,
    /// When the present tokens are due.
    pub(super) due_at: Option<i64>,
    /// When the refresh token is lost if it is not used before.
    pub(super) lapses_at: Option<i64>,
    /// When a call last used the tokens, within an hour.
    pub(super) used_at: i64,
    /// A keyed digest of the client that was last tried, so that a changed one is.
    pub(super) client_digest: Option<String>,
    /// The version a refusal of the server last made renew.
    pub(super) forced_version: Option<i64>,
    /// When that was.
    pub(super) forced_at: Option<i64>,
    /// Refusals of the server although the tokens were new.
    pub(super) refused: i64,
    /// When the first of them was.
    pub(super) refused_since: Option<i64>,
}

/// Who wants to renew what.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// The server that asks.
    pub(super) owner: String,
    /// The version of the tokens to be replaced.
    pub(super) version: i64,
    /// Whether the server refused them, whatever their time says.
    pub(super) forced: bool,
    /// The client that would ask.
    pub(super) client_digest: String,
}

/// How a claim went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// This server renews.
    Won {
        /// The claim's number.
        epoch: i64,
        /// Nobody knows whether the refresh token was taken before.
        unclear: bool,
        /// The server that held the claim before is gone.
        lost: bool,
    },
    /// Another server renews.
    Held,
    /// Nothing is tried now.
    NotDue,
}

/// What a failure did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// The consent is over, for this cause; true when it was not before.
    Over(&'static str, bool),
    /// It is tried again; true for the first of a series.
    Failing(bool),
}

impl Renewal {
    /// Of tokens that are new.
    pub(super) fn of_new(now_ms: i64, due_at: Option<i64>, lapses_at: Option<i64>) -> Self {
        Self {
            state: FRESH.into(),
            state_before: FRESH.into(),
            cause: None,
            owner: None,
            epoch: 0,
            deadline: None,
            failures: 0,
            first_failure_at: None,
            next_attempt_at: None,
            last_code: None,
            intent_version: None,
            intent_at: None,
            due_at,
            lapses_at,
            used_at: now_ms,
            client_digest: None,
            forced_version: None,
            forced_at: None,
            refused: 0,
            refused_since: None,
        }
    }

    /// Takes the claim where it is free and something is to be tried.
    pub(super) fn claim(&mut self, wanted: &Wanted, now_ms: i64) -> Claim {
        if self.owner.is_some() && self.deadline.is_some_and(|deadline| deadline > now_ms) {
            return Claim::Held;
        }
        let lost = self.owner.is_some();
        let new_client = self.client_digest.as_ref().is_some_and(|digest| *digest != wanted.client_digest);
        let client_mended = new_client && self.cause.as_deref() == Some("client");
        let waits = self.next_attempt_at.is_some_and(|next| next > now_ms) && !client_mended;
        if waits
            || (self.state == NEEDS_RECONNECT && !client_mended)
            || (wanted.forced && !self.may_force(wanted, now_ms))
        {
            return Claim::NotDue;
        }
        if wanted.forced {
            (self.forced_version, self.forced_at) = (Some(wanted.version), Some(now_ms));
        }
        let unclear = self.intent_version == Some(wanted.version);
        if !lost {
            self.state_before.clone_from(&self.state);
        }
        self.state = REFRESHING.into();
        self.owner = Some(wanted.owner.clone());
        self.epoch += 1;
        self.deadline = Some(now_ms + CLAIM_MS);
        (self.intent_version, self.intent_at) = (Some(wanted.version), Some(now_ms));
        self.client_digest = Some(wanted.client_digest.clone());
        Claim::Won { epoch: self.epoch, unclear, lost }
    }

    /// Once a version, and at most one a minute.
    fn may_force(&self, wanted: &Wanted, now_ms: i64) -> bool {
        self.forced_version != Some(wanted.version) && self.forced_at.is_none_or(|at| now_ms - at >= FORCED_MS)
    }

    /// New tokens are in use; tells whether it was failing, or over, before.
    pub(super) fn renewed(&mut self, due_at: Option<i64>, lapses_at: Option<i64>) -> bool {
        let was_well = self.state_before == FRESH || (self.owner.is_none() && self.state == FRESH);
        let kept = self.clone();
        *self = Self {
            epoch: kept.epoch,
            client_digest: kept.client_digest,
            forced_version: kept.forced_version,
            forced_at: kept.forced_at,
            refused: kept.refused,
            refused_since: kept.refused_since,
            ..Self::of_new(kept.used_at, due_at, lapses_at)
        };
        !was_well
    }

    /// The attempt failed; `unclear` tells that the refresh token may have been taken all the same. `was_unclear` is what
    /// was told when the claim was won, `wait_ms` how long the next attempt waits after so many failures.
    pub(super) fn failed(
        &mut self,
        verdict: Verdict,
        code: &str,
        (was_unclear, unclear): (bool, bool),
        now_ms: i64,
        wait_ms: impl FnOnce(i64) -> i64,
    ) -> Failed {
        let before = std::mem::replace(&mut self.state_before, FRESH.into());
        (self.owner, self.deadline) = (None, None);
        if !unclear {
            (self.intent_version, self.intent_at) = (None, None);
        }
        let again = verdict == Verdict::Client && self.last_code.as_deref() != Some("invalid_client");
        self.failures = if again { 1 } else { self.failures + 1 };
        let since = *self.first_failure_at.get_or_insert(now_ms);
        self.last_code = Some(code.to_owned());
        let over = match verdict {
            Verdict::Over(_) if was_unclear && code == "invalid_grant" => Some("lost"),
            Verdict::Over(cause) => Some(cause),
            Verdict::Client if self.failures >= CLIENT.0 || before == NEEDS_RECONNECT => Some("client"),
            Verdict::Unclassified if self.failures >= UNCLASSIFIED.0 && now_ms - since >= UNCLASSIFIED.1 => {
                Some("refused")
            }
            _ if before == NEEDS_RECONNECT => Some("client"),
            _ => None,
        };
        if let Some(cause) = over {
            self.end(cause);
            return Failed::Over(cause, before != NEEDS_RECONNECT);
        }
        let wait = if verdict == Verdict::Client { CLIENT.1 } else { wait_ms(self.failures) };
        self.next_attempt_at = Some(now_ms + wait);
        self.due_at = Some(now_ms + wait);
        self.state = FAILING.into();
        Failed::Failing(before != FAILING)
    }

    /// The server refused tokens that were just renewed; true when that ends the consent.
    pub(super) fn refused_again(&mut self, now_ms: i64) -> bool {
        if self.refused_since.is_none_or(|since| now_ms - since > REFUSED.1) {
            (self.refused, self.refused_since) = (0, Some(now_ms));
        }
        self.refused += 1;
        let over = self.refused >= REFUSED.0 && self.state != NEEDS_RECONNECT;
        if over {
            self.end("refused");
        }
        over
    }

    fn end(&mut self, cause: &'static str) {
        self.state = NEEDS_RECONNECT.into();
        self.cause = Some(cause.into());
        (self.owner, self.deadline) = (None, None);
        (self.intent_version, self.intent_at) = (None, None);
        (self.next_attempt_at, self.due_at) = (None, None);
    }
}
