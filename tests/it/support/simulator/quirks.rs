//! What the simulated provider does differently from the kindest one.

use std::collections::{BTreeMap, VecDeque};

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Value, json};

/// How it behaves; the default is kind in everything.
#[derive(Clone, Debug)]
pub struct Quirks {
    /// Form of a good token answer.
    pub answers: Answers,
    /// What a token answer says as `expires_in`, as it stands; `None` leaves it out.
    pub expires_in: Option<Value>,
    /// How long an access token is really taken, in milliseconds; `None` for ever.
    pub lifetime_ms: Option<i64>,
    /// Whether an exchange gives a refresh token.
    pub refreshes: bool,
    /// What a refresh gives.
    pub rotation: Rotation,
    /// What a refresh token that was used before does.
    pub reuse: Reuse,
    /// Scopes granted in place of those asked for.
    pub granted: Option<Vec<String>>,
    /// Whether a token answer names the scopes.
    pub says_scopes: bool,
    /// What the next token requests meet instead of an answer, first first.
    pub faults: VecDeque<Fault>,
    /// How the client must prove itself.
    pub proof: Proof,
    /// Whether token requests must be JSON.
    pub wants_json: bool,
    /// What it says of itself on the way back (RFC 9207).
    pub issuer: Issuer,
    /// Who is signed in there.
    pub account: Account,
    /// Status of the API for a good token; 200 when kind.
    pub api_status: u16,
    /// Status of a revocation; nothing is done unless it is 200.
    pub revoke_status: u16,
    /// What the MCP server says in `WWW-Authenticate` when it refuses.
    pub challenge: Option<String>,
    /// What is answered at a path whatever stands there.
    pub pages: BTreeMap<String, Page>,
}

/// An answer of its own.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: String,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            answers: Answers::Json,
            expires_in: Some(json!(3_600)),
            lifetime_ms: Some(3_600_000),
            refreshes: true,
            rotation: Rotation::Always,
            reuse: Reuse::EndsFamily { grace_ms: 0 },
            granted: None,
            says_scopes: true,
            faults: VecDeque::new(),
            proof: Proof::Basic,
            wants_json: false,
            issuer: Issuer::Right,
            account: Account::default(),
            api_status: 200,
            revoke_status: 200,
            challenge: None,
            pages: BTreeMap::new(),
        }
    }
}

impl Page {
    /// A JSON document.
    pub fn json(document: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status: 200, headers, body: document.to_string() }
    }

    pub(super) fn answer(&self) -> Response {
        let mut response = (StatusCode::from_u16(self.status).unwrap(), self.body.clone()).into_response();
        for (name, value) in &self.headers {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
        response
    }
}

/// Form of a good token answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// JSON, as RFC 6749 has it.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// JSON, with the tokens inside a member `authed_user`, and `ok` beside it.
    Nested,
}

/// What a refresh gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Another refresh token; the old one is used up.
    Always,
    /// No refresh token in the answer: the old one goes on.
    Never,
}

/// What a refresh token that was used before does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// It is refused, and that is all.
    Refused,
    /// It ends every token of its family, unless it comes within the grace, where it works once more.
    EndsFamily {
        /// The grace, in milliseconds.
        grace_ms: i64,
    },
}

/// What a token request meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A status alone; nothing was done.
    Status(u16),
    /// A status with `Retry-After`; nothing was done.
    Later(u16, u64),
    /// An error code of RFC 6749 with status 400, and words of the provider; nothing was done.
    Refuse(&'static str),
    /// An error code with status 200; nothing was done.
    RefuseIn200(&'static str),
    /// A page; nothing was done.
    Html,
    /// Ten megabytes; nothing was done.
    Huge,
    /// Done, and the answer is held until the test lets it go.
    Hang,
    /// Done, and the answer is cut short.
    Cut,
}

/// How the client must prove itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// `Authorization: Basic`.
    Basic,
    /// Members of the body.
    Post,
    /// Not at all.
    None,
}

/// What it says of itself on the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// Its identifier.
    Right,
    /// Somebody else's.
    Wrong,
    /// Nothing.
    Missing,
}

/// Who is signed in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its stable id.
    pub id: String,
    /// What it is called.
    pub email: String,
}

impl Default for Account {
    fn default() -> Self {
        Self { id: "account-7".into(), email: "ada@sim.example".into() }
    }
}

/// Words a provider might say that nobody else may repeat.
pub const WORDS: &str = "words-of-the-provider";
