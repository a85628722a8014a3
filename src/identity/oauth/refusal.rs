//! The refusals of the authorization server: the error codes of RFC 6749 (4.1.2.1, 5.2), 7009, 7591 and 8707, with fixed
//! words. A failure of our own keeps its cause for the log apart from them.

use crate::error::Problem;

/// An error code on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A parameter is missing, doubled or malformed.
    InvalidRequest,
    /// The client did not prove who it is.
    InvalidClient,
    /// The code or refresh token is not good here.
    InvalidGrant,
    /// The client may not do this.
    UnauthorizedClient,
    /// Another grant type than ours.
    UnsupportedGrantType,
    /// Another response type than `code`.
    UnsupportedResponseType,
    /// More scopes than were granted.
    InvalidScope,
    /// A resource that is not ours, or not the one before (RFC 8707).
    InvalidTarget,
    /// The person, or what they may do, says no.
    AccessDenied,
    /// The person would have to be asked.
    ConsentRequired,
    /// A client cannot be registered with this return address (RFC 7591).
    InvalidRedirectUri,
    /// A client cannot be registered like this (RFC 7591).
    InvalidClientMetadata,
    /// The same request may succeed later.
    TemporarilyUnavailable,
    /// Something went wrong here.
    ServerError,
}

impl Code {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::AccessDenied => "access_denied",
            Self::ConsentRequired => "consent_required",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::ServerError => "server_error",
        }
    }

    /// The status where the answer is no redirect.
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::TemporarilyUnavailable => 503,
            Self::ServerError => 500,
            _ => 400,
        }
    }
}

/// A refusal: its code and its fixed words.
#[derive(Debug)]
pub struct Refusal {
    /// The code.
    pub code: Code,
    /// What is wrong and what would be right, in ASCII without quotes (RFC 6749, section 5.2).
    pub words: &'static str,
    /// Whether the client proved itself by `Authorization: Basic`, so that the answer must challenge it.
    pub basic: bool,
    /// What the log alone is told.
    pub source: Option<Box<Problem>>,
}

/// What every step of the authorization server answers.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    /// A refusal with `code`.
    pub const fn new(code: Code, words: &'static str) -> Self {
        Self { code, words, basic: false, source: None }
    }

    /// `invalid_request`.
    pub const fn request(words: &'static str) -> Self {
        Self::new(Code::InvalidRequest, words)
    }

    /// `invalid_grant`, in the same words whatever the cause.
    pub const fn grant() -> Self {
        Self::new(Code::InvalidGrant, "The code or refresh token is not valid here, or no longer")
    }

    /// `invalid_client`, in the same words whatever the cause.
    pub const fn client() -> Self {
        Self::new(Code::InvalidClient, "The client is unknown, or did not prove itself the way it registered")
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        let (code, words) = match problem.status() {
            503 => (Code::TemporarilyUnavailable, "The server cannot answer just now; try again shortly"),
            _ => (Code::ServerError, "Something went wrong inside the server"),
        };
        Self { code, words, basic: false, source: Some(Box::new(problem)) }
    }
}
