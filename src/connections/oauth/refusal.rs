//! Why no tokens came.

use crate::egress::Failure;

/// What is known of a token request that brought no tokens. It keeps no word of the provider's own but a code of the form
/// RFC 6749 gives one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The status, where the endpoint answered.
    pub status: Option<u16>,
    /// The error code of the answer, such as `invalid_grant` (RFC 6749, section 5.2).
    pub code: Option<String>,
    /// How many seconds to wait, where the endpoint said so.
    pub retry_after_s: Option<u64>,
    /// Why nothing was sent at all; then the code or refresh token is as good as before.
    pub unreached: Option<Failure>,
}

impl Refusal {
    pub(super) fn unreached(failure: Failure) -> Self {
        Self { unreached: Some(failure), ..Self::default() }
    }

    pub(super) fn of(status: u16, code: Option<&str>) -> Self {
        Self { status: Some(status), code: code.filter(|code| is_code(code)).map(str::to_owned), ..Self::default() }
    }

    /// Whether the endpoint said no, rather than nothing that can be understood.
    pub fn is_answer(&self) -> bool {
        self.code.is_some() || self.status.is_some_and(|status| (400..500).contains(&status) && status != 429)
    }
}

/// Whether `text` has the form of an error code, short enough to be kept.
fn is_code(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}
