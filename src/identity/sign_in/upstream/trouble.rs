//! Why somebody who came back from a provider is not signed in.

use crate::error::Problem;

/// Each is a page of its own; nothing a sender wrote stands in any of them.
#[derive(Debug)]
pub enum Trouble {
    /// The attempt is unknown, used, too old, or another browser's or person's.
    Attempt,
    /// The person, or the provider for them, said no.
    Denied,
    /// The provider does not answer, or not as it should.
    Unanswered,
    /// What came back is not of the provider that was asked, or not for this attempt.
    Untrusted,
    /// The provider does not say that the email is the person's own.
    Unverified,
    /// Nobody invited them, and no rule lets them in.
    NotInvited,
    /// Their account here is stopped.
    Stopped,
    /// Somebody else than whose sign-in was to be repeated.
    OtherPerson,
    /// Anything else.
    Problem(Problem),
}

impl Trouble {
    /// Its word, for the audit and the log.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Attempt => "attempt",
            Self::Denied => "denied",
            Self::Unanswered => "unanswered",
            Self::Untrusted => "untrusted",
            Self::Unverified => "email_not_verified",
            Self::NotInvited => "not_invited",
            Self::Stopped => "account_stopped",
            Self::OtherPerson => "other_person",
            Self::Problem(_) => "problem",
        }
    }
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}
