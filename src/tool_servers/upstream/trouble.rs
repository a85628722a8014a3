//! Why a server could not serve, in words a caller may read.

use std::fmt;
use std::time::Duration;

use http::StatusCode;

use crate::egress::Failure;

/// The most a failure's words may take, in bytes.
pub const WORDS_BYTES: usize = 1024;

/// The class of a failure, as callers read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// No connection, no process, no answer.
    Unreachable,
    /// It answers, but not with what was asked.
    Failing,
    /// It asks to wait longer than a call waits.
    RateLimited {
        /// How long it asks to wait, where it says so.
        retry_after: Option<Duration>,
    },
    /// It refuses the credential.
    KeyRefused,
    /// The guard of outgoing requests refuses its address.
    NotAllowed,
}

impl Because {
    /// The word of the class; the one of a refused address is the connection's.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Failing => "failing",
            Self::RateLimited { .. } => "rate_limited",
            Self::KeyRefused => "key_refused",
            Self::NotAllowed => "connection_not_allowed",
        }
    }
}

/// A failure to reach or to use a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Its class.
    pub because: Because,
    /// Words for a person, scrubbed, at most [`WORDS_BYTES`].
    pub detail: String,
    /// Whether the request may have reached the server, so that the call may have had its effect.
    pub sent: bool,
    /// Whether it was given up because its time was over.
    pub timed_out: bool,
    /// The HTTP status the server answered with, where it answered by HTTP.
    pub status: Option<u16>,
    /// The id of the last JSON-RPC request that was sent for it, for the record.
    pub jsonrpc_id: Option<u64>,
    /// The server's own id of the request, where the entry says where to find it.
    pub server_request_id: Option<String>,
}

impl Trouble {
    /// A failure of a class; `sent` is false until told otherwise.
    pub fn new(because: Because, detail: impl Into<String>) -> Self {
        Self {
            because,
            detail: tidy(&detail.into(), WORDS_BYTES),
            sent: false,
            timed_out: false,
            status: None,
            jsonrpc_id: None,
            server_request_id: None,
        }
    }

    /// The server cannot be reached.
    pub fn unreachable(detail: impl Into<String>) -> Self {
        Self::new(Because::Unreachable, detail)
    }

    /// The server answers in a way that cannot be used.
    pub fn failing(detail: impl Into<String>) -> Self {
        Self::new(Because::Failing, detail)
    }

    /// The time of what was begun is over.
    pub fn timed_out(detail: impl Into<String>) -> Self {
        Self { timed_out: true, ..Self::new(Because::Unreachable, detail) }
    }

    /// The same failure, after the request may have reached the server.
    #[must_use]
    pub fn after_sending(mut self) -> Self {
        self.sent = true;
        self
    }

    /// The same failure, of an answer with this HTTP status.
    #[must_use]
    pub fn of_status(mut self, status: StatusCode) -> Self {
        self.status = Some(status.as_u16());
        self
    }

    /// Whether the server was reached and refuses with the rights it sees.
    pub fn is_forbidden(&self) -> bool {
        self.status == Some(StatusCode::FORBIDDEN.as_u16())
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let because = match failure {
            Failure::NotAllowed { .. } => Because::NotAllowed,
            Failure::TooLarge => Because::Failing,
            _ => Because::Unreachable,
        };
        Self {
            sent: !failure.before_sending(),
            timed_out: matches!(failure, Failure::TimedOut),
            ..Self::new(because, failure.to_string())
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.because.word(), self.detail)
    }
}

impl std::error::Error for Trouble {}

/// `text` without control characters but line breaks, and at most `bytes` long.
pub(super) fn tidy(text: &str, bytes: usize) -> String {
    let kept: String = without_controls(text);
    cut(kept.trim(), bytes).to_owned()
}

/// `text` without control characters but line breaks.
pub(super) fn without_controls(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\r')).collect()
}

/// The beginning of `text`, at most `bytes` long and never within a character.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
