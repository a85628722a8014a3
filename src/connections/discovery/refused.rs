//! Why nobody can sign in through a server.

use crate::egress::Failure;
use crate::error::{Problem, Reason};

/// Why discovery brought nothing. What the other side wrote is never in it.
#[derive(Debug)]
pub enum Refused {
    /// What the server or its issuer says of itself does not fit; the log learns what.
    MetadataMismatch(&'static str),
    /// The issuer does not say that it takes PKCE with S256.
    PkceMissing,
    /// The issuer knows no client of ours and takes none.
    NoClient(&'static str),
    /// The server or its issuer does not answer.
    Unreachable(&'static str),
    /// The fault is ours.
    Internal(Problem),
}

impl Refused {
    /// The code that the audit and the page know it by.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MetadataMismatch(_) => "metadata_mismatch",
            Self::PkceMissing => "pkce_missing",
            Self::NoClient(_) => "no_client",
            Self::Unreachable(_) => "provider_unreachable",
            Self::Internal(_) => "internal",
        }
    }

    /// What happened on the way out, where it is for `what` that was asked.
    pub(super) const fn of(failure: Failure, what: &'static str) -> Self {
        match failure {
            Failure::NotAllowed { .. } | Failure::TooLarge => Self::MetadataMismatch(what),
            Failure::Resolve | Failure::Connect | Failure::Tls | Failure::TimedOut | Failure::Broken => {
                Self::Unreachable(what)
            }
        }
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Internal(problem)
    }
}

impl From<Refused> for Problem {
    /// The refusal for the person who wanted to leave.
    fn from(refused: Refused) -> Self {
        let code = refused.code();
        let words = match refused {
            Refused::Internal(problem) => return problem,
            Refused::Unreachable(_) => {
                let words =
                    "The service, or where people sign in to it, does not answer just now. Try again in a moment.";
                return Self::unavailable(words).with("code", code.into());
            }
            Refused::MetadataMismatch(_) => {
                "What the service says about signing in does not fit together, so nobody is sent there. Tell whoever runs \
                 the service, or connect it another way."
            }
            Refused::PkceMissing => {
                "Where people sign in to this service lacks a protection that Playmaker insists on (PKCE with S256), so \
                 nobody is sent there. Tell whoever runs the service, or connect it another way."
            }
            Refused::NoClient(_) => {
                "Where people sign in to this service does not take Playmaker as a client by itself. Whoever runs this \
                 server can register one there and set its values."
            }
        };
        Self::new(Reason::Unavailable, words).with("code", code.into())
    }
}
