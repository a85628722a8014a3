//! Why a request failed, without a word of what was on the other side.

use std::fmt;

/// Why an outgoing request has no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The address is refused; `rule` is for the log alone, callers get [`Failure::NOT_ALLOWED`].
    NotAllowed {
        /// Which rule refused it.
        rule: &'static str,
    },
    /// The name does not resolve.
    Resolve,
    /// No socket could be opened.
    Connect,
    /// No trusted TLS session; never worth a second try.
    Tls,
    /// The answer took too long.
    TimedOut,
    /// The connection broke, or the answer is not understandable HTTP.
    Broken,
    /// The answer is over its bound of size, ratio or headers.
    TooLarge,
}

impl Failure {
    /// The one text for a refused address, which tells nothing about what is there.
    pub const NOT_ALLOWED: &'static str = "The address is not allowed.";

    /// Whether nothing was sent, so that the call certainly had no effect.
    ///
    /// A refused redirect counts too: only requests without an effect (GET, HEAD) are redirected.
    pub const fn before_sending(self) -> bool {
        matches!(self, Self::NotAllowed { .. } | Self::Resolve | Self::Connect | Self::Tls)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAllowed { .. } => Self::NOT_ALLOWED,
            Self::Resolve => "The name of the server does not resolve.",
            Self::Connect => "The server cannot be reached.",
            Self::Tls => "The certificate of the server is not trusted.",
            Self::TimedOut => "The server took too long to answer.",
            Self::Broken => "The connection to the server broke.",
            Self::TooLarge => "The answer of the server is too large.",
        })
    }
}

impl std::error::Error for Failure {}

/// Why a client cannot be built from its policy; words for the operator.
#[derive(Debug)]
pub struct BuildError(pub(super) String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}
