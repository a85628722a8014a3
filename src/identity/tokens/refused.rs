//! Why a token is no good here.

/// A token that is not good here. To whoever sent it every cause is the same; the log alone is told which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused(pub(super) Cause);

impl Refused {
    /// The cause, for the log and for counting.
    pub const fn cause(self) -> &'static str {
        self.0.words()
    }

    /// Whether the token itself is good and gives its person no place here.
    pub const fn is_of_place(self) -> bool {
        matches!(self.0, Cause::Org | Cause::Role)
    }
}

/// What a token was refused for, in the order it is looked at (`identity.md` 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    TooLong,
    Form,
    Header,
    Critical,
    Payload,
    Type,
    Algorithm,
    Issuer,
    KeyId,
    KeyUnknown,
    KeyUnfit,
    Signature,
    Ended,
    NotYet,
    IssuedAt,
    Times,
    Audience,
    Subject,
    Bound,
    Org,
    Role,
    Incomplete,
    Client,
    Nonce,
    Stale,
}

impl Cause {
    const fn words(self) -> &'static str {
        match self {
            Self::TooLong => "longer than 8 KiB",
            Self::Form => "not three parts in base64url",
            Self::Header => "its header is not a small object of JSON with each member once",
            Self::Critical => "its header has crit",
            Self::Payload => "its payload is not an object of JSON with each member once",
            Self::Type => "not an access token by its type",
            Self::Algorithm => "its algorithm is not on the list",
            Self::Issuer => "of another issuer",
            Self::KeyId => "its key id is no text of 256 bytes at most",
            Self::KeyUnknown => "its key is not in the key set",
            Self::KeyUnfit => "its key is not for its algorithm",
            Self::Signature => "its signature is wrong",
            Self::Ended => "ended",
            Self::NotYet => "not valid yet",
            Self::IssuedAt => "issued in the future or too long ago",
            Self::Times => "exp, nbf or iat is missing or no number of seconds",
            Self::Audience => "its audience is no text and no list of 1 to 16 texts",
            Self::Subject => "its subject is no text of 1 to 255 bytes",
            Self::Bound => "bound to a sender by cnf",
            Self::Org => "names its org in another form than an org id",
            Self::Role => "names no role that counts here",
            Self::Incomplete => "without a claim that each of our tokens has",
            Self::Client => "made for another client",
            Self::Nonce => "made for another attempt",
            Self::Stale => "of a sign-in before the one that was asked for",
        }
    }
}

/// Why a token could not be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It is not good here: 401.
    Refused(Refused),
    /// The issuer's keys cannot be had and none of age are there: 503, to be tried again after [`RETRY_AFTER_S`].
    Unavailable,
}

/// Seconds after which a caller may try again when the issuer's keys cannot be had.
pub const RETRY_AFTER_S: u32 = 5;

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
