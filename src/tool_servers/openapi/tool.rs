//! One tool: an operation that can be called, with everything needed to write its request.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::Value;
use url::Url;

use super::document::HintsGiven;

/// Where a parameter or a credential travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A part of the path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A member of a JSON body; toolkits alone.
    Body,
}

impl Place {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Body => "body",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Path, Self::Query, Self::Header, Self::Cookie].into_iter().find(|place| place.word() == word)
    }
}

/// What a tool does to the outside, as MCP's tool annotations say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy.
    pub destructive: bool,
    /// Calling twice is as calling once.
    pub idempotent: bool,
    /// It reaches outside.
    pub open_world: bool,
}

impl Hints {
    /// The hints of a method (sheet 6.7); nothing in a document can make a tool look harmless.
    pub(super) fn of(method: &Method, given: HintsGiven) -> Self {
        let read_only = matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "QUERY");
        Self {
            read_only: given.read_only.unwrap_or(read_only),
            destructive: given.destructive.unwrap_or(!read_only),
            idempotent: given.idempotent.unwrap_or(read_only || matches!(method.as_str(), "PUT" | "DELETE")),
            open_world: true,
        }
    }
}

/// A tool made from an operation of a document or a toolkit.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name, 1–128 of letters, digits, `_ - .`.
    pub name: String,
    /// Its title, at most 200 characters.
    pub title: String,
    /// What it does, at most 4 KiB, its notes at the end.
    pub description: String,
    /// What it takes, in JSON Schema 2020-12; an object.
    pub input_schema: Value,
    /// What it gives, where that is simple; never enforced.
    pub output_schema: Option<Value>,
    /// What it does to the outside.
    pub hints: Hints,
    /// The method of its request.
    pub method: Method,
    /// Its path with placeholders, as the document writes it.
    pub path: String,
    /// Whether the document says that a credential is needed.
    pub needs_credential: bool,
    /// What was passed over in the document, at most 20.
    pub notes: Vec<String>,
    /// Whether parts of the input schema were left out for its size.
    pub simplified: bool,
    /// Where it is sent: the address its path is put behind.
    pub server: Url,
    /// The rights the service asks for; toolkits alone.
    pub scopes: Vec<String>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<BodyPlan>,
    pub(super) accept: String,
    pub(super) reduction: Option<Reduction>,
    /// Where the credential travels: no argument may take its place.
    pub(super) credential: Option<(Place, String)>,
}

/// One parameter and how it is written.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    /// The member of the arguments.
    pub(super) property: String,
    /// The name on the wire.
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) style: Style,
    pub(super) explode: bool,
    pub(super) allow_reserved: bool,
    /// Sent as JSON text.
    pub(super) as_json: bool,
}

/// The styles of OpenAPI; tabs come from Swagger 2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    Spaces,
    Pipes,
    Deep,
}

impl Style {
    /// The style of a word where it may be used in `place`; else the default of the place.
    pub(super) fn of(place: Place, word: Option<&str>) -> Self {
        match (place, word) {
            (Place::Path, Some("label")) => Self::Label,
            (Place::Path, Some("matrix")) => Self::Matrix,
            (Place::Query, Some("spaceDelimited")) => Self::Spaces,
            (Place::Query, Some("pipeDelimited")) => Self::Pipes,
            (Place::Query, Some("deepObject")) => Self::Deep,
            (Place::Query | Place::Cookie, _) => Self::Form,
            _ => Self::Simple,
        }
    }
}

/// How the body is written.
#[derive(Debug, Clone)]
pub(super) struct BodyPlan {
    pub(super) required: bool,
    pub(super) media_type: String,
    pub(super) form: BodyForm,
}

/// The forms of a body (sheet 6.5).
#[derive(Debug, Clone)]
pub(super) enum BodyForm {
    /// The argument `body` as JSON.
    Json,
    /// Arguments as members of one JSON object: argument and member. Toolkits alone.
    Members(Vec<(String, String)>),
    Urlencoded(BTreeMap<String, Encoding>),
    Multipart {
        encodings: BTreeMap<String, Encoding>,
        /// The members that are files.
        files: BTreeSet<String>,
    },
    Bytes,
    Text,
}

/// How one member of a form is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Encoding {
    pub(super) content_type: Option<String>,
    pub(super) style: Option<Style>,
    pub(super) explode: Option<bool>,
    pub(super) allow_reserved: bool,
    pub(super) headers: Vec<(String, String)>,
}

/// What is kept of an answer; toolkits alone.
#[derive(Debug, Clone)]
pub(super) enum Reduction {
    Pointer(String),
    Fields(Vec<String>),
}

impl Reduction {
    /// The part of an answer that is kept; of a list, that of each item.
    pub(super) fn apply(&self, answer: Value) -> Value {
        match self {
            Self::Pointer(pointer) => answer.pointer(pointer).cloned().unwrap_or(Value::Null),
            Self::Fields(fields) => match answer {
                Value::Array(items) => items.into_iter().map(|item| self.apply(item)).collect(),
                Value::Object(mut map) => {
                    map.retain(|name, _| fields.contains(name));
                    Value::Object(map)
                }
                other => other,
            },
        }
    }
}
