//! Why no tokens came.

use crate::egress::Failure;

/// The codes that are kept: those of RFC 6749, sections 4.1.2.1 and 5.2, RFC 8628, section 3.5, and RFC 8707, section 2.
const CODES: [&str; 10] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "invalid_scope",
    "invalid_target",
    "unauthorized_client",
    "unsupported_grant_type",
    "server_error",
    "temporarily_unavailable",
    "slow_down",
];

/// What is known of a token request that brought no tokens. It keeps no word of the provider's choosing: what stands in
/// `error` may be anything, a token too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The status, where the endpoint answered.
    pub status: Option<u16>,
    /// The error code, where it is one that the protocol or the provider's file knows.
    pub code: Option<String>,
    /// Whether the endpoint said no, rather than nothing that can be understood.
    pub is_answer: bool,
    /// How many seconds to wait, where the endpoint said so.
    pub retry_after_s: Option<u64>,
    /// Why nothing was understood or sent, by the one way out.
    pub failure: Option<Failure>,
}

impl Refusal {
    /// Nothing that can be understood came: what the endpoint did is not known.
    pub(super) fn unclear(status: Option<u16>, failure: Option<Failure>) -> Self {
        Self { status, failure, ..Self::default() }
    }

    /// An answer without tokens; `known` are the further codes of the provider's file.
    pub(super) fn of(status: u16, code: Option<&str>, known: &[String]) -> Self {
        let is_known = |code: &&str| CODES.contains(code) || known.iter().any(|known| known == code);
        let refuses = (400..500).contains(&status) && !matches!(status, 408 | 425 | 429);
        Self {
            status: Some(status),
            code: code.filter(is_known).map(str::to_owned),
            is_answer: code.is_some() || refuses,
            ..Self::default()
        }
    }
}
