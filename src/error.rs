//! The one outward error: a [`Problem`], served as a problem document (RFC 9457) over HTTP and inside a tool result over MCP.
//!
//! A `Problem` holds words for the caller and, apart from them, a private source for the log. Start with [`Reason`],
//! whose table is the only place that maps a reason to its status. `document` tells it to programs and to agents,
//! `database` makes one of what a database says.

mod database;
mod document;
mod reason;

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

pub use reason::Reason;

/// Seconds a caller is asked to wait where a sheet says nothing else (`http-api.md` 3.5).
pub const RETRY_AFTER_S: u32 = 5;

/// The most issues one refusal tells (`http-api.md` 1.2).
pub const MAX_ISSUES: usize = 100;

/// One fault of an input: what is wrong, and where, as a JSON Pointer (RFC 6901).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Issue {
    /// What is wrong and what would be right.
    pub detail: String,
    /// Where in the input.
    pub pointer: String,
}

impl Issue {
    /// An issue at `pointer`.
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), pointer: pointer.into() }
    }
}

/// The challenge a 400, 401 or 403 carries in `WWW-Authenticate` (RFC 6750, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// No credential was sent.
    Missing,
    /// What was sent is not exactly one bearer credential.
    InvalidRequest,
    /// The credential is not valid.
    InvalidToken,
    /// The credential does not reach.
    InsufficientScope,
}

/// A refusal or a failure, told to a caller. Build it with the constructor of its reason and add to it.
pub struct Problem(Box<Inner>);

struct Inner {
    reason: Reason,
    kind: Option<&'static str>,
    because: Option<&'static str>,
    detail: Cow<'static, str>,
    issues: Vec<Issue>,
    retry_after_s: Option<u32>,
    challenge: Option<Challenge>,
    scopes: Vec<&'static str>,
    allow: Option<&'static str>,
    extensions: Map<String, Value>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    incident: Option<String>,
}

/// What every fallible function of the program answers.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    /// A problem of `reason`, with words for the caller.
    pub fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            reason,
            kind: None,
            because: None,
            detail: detail.into(),
            issues: Vec::new(),
            retry_after_s: None,
            challenge: None,
            scopes: Vec::new(),
            allow: None,
            extensions: Map::new(),
            source: None,
            incident: None,
        }))
    }

    /// 404: something named does not exist, or belongs to somebody else.
    pub fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reason::NotFound, detail)
    }

    /// 403 with the challenge of a credential that does not reach.
    pub fn forbidden(detail: impl Into<Cow<'static, str>>) -> Self {
        let mut problem = Self::new(Reason::Forbidden, detail);
        problem.0.challenge = Some(Challenge::InsufficientScope);
        problem
    }

    /// 409 of a kind.
    pub fn conflict(kind: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reason::Conflict, detail).kind(kind)
    }

    /// 422 with one issue.
    pub fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::invalid_all(vec![Issue::new(pointer, detail)])
    }

    /// 422 with several issues, of which the first hundred are told.
    pub fn invalid_all(mut issues: Vec<Issue>) -> Self {
        issues.truncate(MAX_ISSUES);
        let detail = match issues.as_slice() {
            [only] => format!("The input does not fit at {}: {}", named(&only.pointer), only.detail),
            many => format!("The input does not fit in {} places; each is told under errors.", many.len()),
        };
        let mut problem = Self::new(Reason::InvalidInput, detail);
        problem.0.issues = issues;
        problem
    }

    /// 503 without a kind, which the same request may resolve later.
    pub fn unavailable(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reason::Unavailable, detail).retry_after(RETRY_AFTER_S)
    }

    /// 500: the caller learns that it is ours; `source` goes to the log alone.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut problem = Self::new(
            Reason::Internal,
            "Something went wrong inside Playmaker. Try again; if it stays, give whoever runs the server the instance.",
        );
        problem.0.source = Some(source.into());
        problem
    }

    /// The same problem, of a kind.
    #[must_use]
    pub fn kind(mut self, kind: &'static str) -> Self {
        self.0.kind = Some(kind);
        self
    }

    /// The same problem, with its because.
    #[must_use]
    pub fn because(mut self, because: &'static str) -> Self {
        self.0.because = Some(because);
        self
    }

    /// The same problem, asking the caller to wait `seconds`.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }

    /// The same problem with a challenge, or without one.
    #[must_use]
    pub fn challenge(mut self, challenge: Option<Challenge>) -> Self {
        self.0.challenge = challenge;
        self
    }

    /// The same problem; its challenge, where it has one and names no scopes yet, asks for these.
    #[must_use]
    pub fn scopes(mut self, scopes: &[&'static str]) -> Self {
        if self.0.scopes.is_empty() {
            self.0.scopes = scopes.to_vec();
        }
        self
    }

    /// The same problem, telling the methods the path has.
    #[must_use]
    pub fn allow(mut self, methods: &'static str) -> Self {
        self.0.allow = Some(methods);
        self
    }

    /// The same problem with an extension member (RFC 9457, section 3.2).
    #[must_use]
    pub fn with(mut self, member: &str, value: Value) -> Self {
        self.0.extensions.insert(member.to_owned(), value);
        self
    }

    /// An extension member.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.0.extensions.get(name)
    }

    /// The same problem under the id of an incident, told as `instance`.
    #[must_use]
    pub fn incident(mut self, id: String) -> Self {
        self.0.incident = Some(id);
        self
    }

    /// The same problem with every pointer moved below `prefix`.
    #[must_use]
    pub fn below(mut self, prefix: &str) -> Self {
        for issue in &mut self.0.issues {
            issue.pointer.insert_str(0, prefix);
        }
        self
    }

    /// Its reason.
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// Its kind, where it has one.
    pub fn kind_word(&self) -> Option<&'static str> {
        self.0.kind
    }

    /// Its because, where it has one.
    pub fn because_word(&self) -> Option<&'static str> {
        self.0.because
    }

    /// Its words.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The faults of an input.
    pub fn issues(&self) -> &[Issue] {
        &self.0.issues
    }

    /// Its HTTP status.
    pub fn status(&self) -> u16 {
        self.0.reason.status()
    }

    /// Seconds to wait, where waiting may help.
    pub fn retry_after_s(&self) -> Option<u32> {
        self.0.retry_after_s
    }

    /// The challenge to send with it.
    pub fn challenge_of(&self) -> Option<Challenge> {
        self.0.challenge
    }

    /// The scopes its challenge asks for; none where it means every one of the endpoint.
    pub fn scopes_of(&self) -> &[&'static str] {
        &self.0.scopes
    }

    /// The methods to name in `Allow`.
    pub fn allowed_methods(&self) -> Option<&'static str> {
        self.0.allow
    }

    /// What the log, and nobody else, is told.
    pub fn private_source(&self) -> Option<&(dyn std::error::Error + Send + Sync)> {
        self.0.source.as_deref()
    }
}

/// A place as words name it: without control characters, which a sender may have put into a field's name.
fn named(pointer: &str) -> String {
    if pointer.is_empty() {
        return "the input itself".into();
    }
    pointer.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem")
            .field("reason", &self.0.reason)
            .field("kind", &self.0.kind)
            .field("because", &self.0.because)
            .field("detail", &self.0.detail)
            .field("issues", &self.0.issues)
            .field("source", &self.0.source)
            .finish()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.reason.word(), self.0.detail)
    }
}

impl std::error::Error for Problem {}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error)
    }
}
