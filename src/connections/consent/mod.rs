//! A person's consent at a provider (`connections.md` 9.3): they leave for its page, come back with a code, and the code
//! becomes the tokens of their connection.
//!
//! Start with [`leaving`], which begins an [`Attempt`]; [`returning`] takes the one somebody comes back from and checks that
//! it is theirs; [`settling`] ends it, well or not; [`using`] reads the tokens at each call. An attempt is taken once, by
//! compare-and-swap, and whoever took it acts only while no later one has taken its place.

mod attempts;
mod leaving;
mod returning;
mod settling;
mod using;

pub use attempts::Attempt;
pub use leaving::Departure;
pub use returning::{Arrival, Brought, Left, Way};
pub use settling::Consented;

pub(super) use attempts::{FORGET_ORG, settle, void};

use serde_json::Value;

/// How long a person may be away, in milliseconds (decision D29).
pub const AWAY_MS: i64 = 10 * 60 * 1_000;

/// Why an attempt brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// The person came back too late, or what they brought fits no attempt under way.
    StateUnknown,
    /// They came back in another browser than they left in.
    OtherBrowser,
    /// Somebody else came back.
    OtherPerson,
    /// Another issuer answered than was asked, or the way of the provider changed meanwhile.
    IssuerMismatch,
    /// The person said no.
    Declined,
    /// The provider answered with an error, or with nothing.
    ProviderError,
    /// The provider gave no tokens for the code.
    ExchangeFailed,
    /// The provider did not answer, so that nobody knows what became of the code.
    ProviderUnreachable,
    /// The tokens could not be kept.
    StoreUnavailable,
    /// The person left out scopes without which the connection is of no use.
    ScopeMissing(Vec<String>),
    /// The server does not take the tokens, or could not be asked.
    VerificationFailed,
}

impl Failed {
    /// The code that the audit and the page know it by.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::StateUnknown => "state_unknown",
            Self::OtherBrowser => "other_browser",
            Self::OtherPerson => "other_person",
            Self::IssuerMismatch => "issuer_mismatch",
            Self::Declined => "declined",
            Self::ProviderError => "provider_error",
            Self::ExchangeFailed => "exchange_failed",
            Self::ProviderUnreachable => "provider_unreachable",
            Self::StoreUnavailable => "store_unavailable",
            Self::ScopeMissing(_) => "scope_missing",
            Self::VerificationFailed => "verification_failed",
        }
    }

    /// How far it had come.
    pub const fn stage(&self) -> &'static str {
        match self {
            Self::StateUnknown | Self::OtherBrowser | Self::OtherPerson | Self::IssuerMismatch => "return",
            Self::Declined | Self::ProviderError => "consent",
            Self::ExchangeFailed | Self::ProviderUnreachable => "exchange",
            Self::StoreUnavailable => "store",
            Self::ScopeMissing(_) => "scopes",
            Self::VerificationFailed => "verification",
        }
    }

    /// What the page lists, as it is kept.
    fn missing(&self) -> Option<String> {
        match self {
            Self::ScopeMissing(scopes) => Some(Value::from(scopes.clone()).to_string()),
            _ => None,
        }
    }
}
