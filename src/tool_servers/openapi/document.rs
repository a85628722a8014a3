//! What is read from a document, and under which bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use url::{Origin, Url};

use super::operations;
use super::security::CredentialPlace;
use super::servers::Servers;
use super::source::Source;
use super::text;
use super::tool::{Place, Tool};

/// How much of a document is read, by who gave it (sheet `tool-servers` 6.1, `connections` 16.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes of text.
    pub bytes: usize,
    /// The most bytes of scalars after aliases are put in place.
    pub expanded_bytes: usize,
    /// The most values, after aliases are put in place.
    pub nodes: usize,
    /// The most levels of nesting.
    pub levels: usize,
    /// The most aliases of a YAML text.
    pub aliases: usize,
    /// The most operations read; those after them are over the limit.
    pub operations: usize,
    /// The most tools made; the operations after them are over the limit.
    pub tools: usize,
    /// Whether a person gave the document, who must then say where it is sent unless the document leaves no doubt.
    pub by_person: bool,
}

impl Bounds {
    /// For documents of the operator's settings and of shipped providers.
    pub const OPERATOR: Self = Self {
        bytes: 16 << 20,
        expanded_bytes: 64 << 20,
        nodes: 2_000_000,
        levels: 200,
        aliases: 50_000,
        operations: 10_000,
        tools: 10_000,
        by_person: false,
    };
    /// For documents a person gives with a connection.
    pub const PERSON: Self = Self {
        bytes: 4 << 20,
        expanded_bytes: 4 << 20,
        nodes: 100_000,
        levels: 64,
        aliases: 100,
        operations: 2_000,
        tools: 512,
        by_person: true,
    };
}

/// Hints an operator or a provider gives for one tool; what is left out stays as the method says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HintsGiven {
    /// The tool changes nothing.
    pub read_only: Option<bool>,
    /// The tool may destroy.
    pub destructive: Option<bool>,
    /// Calling twice is as calling once.
    pub idempotent: Option<bool>,
}

/// Where the tools of a document are sent and what the entry says about them.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The entry's own address; all operations are sent there when it is given.
    pub base_url: Option<Url>,
    /// Where the document came from; relative servers are resolved against it.
    pub document_url: Option<Url>,
    /// Further origins that operations may name.
    pub hosts: Vec<Origin>,
    /// Whether `http` servers named by the document may be taken.
    pub allow_http: bool,
    /// Values of the servers' variables.
    pub server_variables: BTreeMap<String, String>,
    /// Where the entry's or connection's credential travels, and under which name.
    pub credential: Option<(Place, String)>,
    /// Hints by tool name.
    pub hints: BTreeMap<String, HintsGiven>,
    /// The operations taken, by name; all when left out.
    pub include: Option<BTreeSet<String>>,
    /// The operations left out, by name.
    pub exclude: BTreeSet<String>,
    /// Other names for operations.
    pub rename: BTreeMap<String, String>,
}

/// A document that was read.
#[derive(Debug, Clone)]
pub struct Document {
    /// The document's title, or empty.
    pub title: String,
    /// The tools, in the order of their names.
    pub tools: Vec<Arc<Tool>>,
    /// Counts of all operations.
    pub operations: Totals,
    /// The operations that became no tool, by path and method.
    pub unusable: Vec<Unusable>,
    /// Where requests go, unless an operation has its own server.
    pub base_url: Url,
    /// Places of credentials the document speaks of; a proposal for a person to confirm, nothing else.
    pub credential_places: Vec<CredentialPlace>,
    /// Faults of the text that were passed over, such as a key given twice.
    pub warnings: Vec<String>,
}

/// Counts of the operations of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// All operations found.
    pub total: usize,
    /// Those that became a tool.
    pub usable: usize,
    /// Those of them that carry a note.
    pub noted: usize,
    /// Those that became none.
    pub unusable: usize,
    /// The unusable ones by cause.
    pub by_because: BTreeMap<&'static str, usize>,
}

/// An operation that became no tool.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Unusable {
    /// The method in upper case, or `*` for a whole path.
    pub method: String,
    /// The path as the document writes it.
    pub path: String,
    /// The cause.
    pub because: Because,
    /// The cause in words.
    pub detail: String,
}

/// Why an operation became no tool (sheet 6.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// A reference to nothing.
    UnresolvedRef,
    /// A reference out of the document.
    RemoteRef,
    /// A required parameter that cannot be read.
    BadParameter,
    /// A path that cannot be filled in.
    BadPath,
    /// No server to send to.
    NoServer,
    /// A server address that cannot be taken.
    BadServer,
    /// A server of another origin.
    ForeignServer,
    /// A method that is never sent.
    MethodNotOffered,
    /// A required parameter that only a credential could fill.
    CredentialParameter,
    /// No input could be right.
    ImpossibleInput,
    /// The input schema cannot be cut to its bound.
    TooLarge,
    /// After the last operation that is taken.
    OverTheLimit,
    /// The operation is not an object.
    Malformed,
}

impl Because {
    /// The cause as one word of the contract.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UnresolvedRef => "unresolved_ref",
            Self::RemoteRef => "remote_ref",
            Self::BadParameter => "bad_parameter",
            Self::BadPath => "bad_path",
            Self::NoServer => "no_server",
            Self::BadServer => "bad_server",
            Self::ForeignServer => "foreign_server",
            Self::MethodNotOffered => "method_not_offered",
            Self::CredentialParameter => "credential_parameter",
            Self::ImpossibleInput => "impossible_input",
            Self::TooLarge => "too_large",
            Self::OverTheLimit => "over_the_limit",
            Self::Malformed => "malformed",
        }
    }
}

/// Why one operation, or a part of it, is spoilt: the cause and words.
pub(super) type Fault = (Because, String);

/// A document that was refused whole, in words for whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The words.
    pub detail: String,
}

impl Refusal {
    pub(super) fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.detail)
    }
}

impl std::error::Error for Refusal {}

/// The stack a document is read on, in bytes: the readers go down once a level, and 200 levels are allowed.
const STACK: usize = 64 << 20;

/// Reads a document. Blocks for as long as that takes, on a thread of its own whose stack holds the deepest document.
///
/// # Errors
/// A text that is neither JSON nor YAML or over a bound, an unknown version, a document without `paths`, and no
/// certain place to send to.
pub fn read(text: &str, bounds: Bounds, place: &Placement) -> Result<Document, Refusal> {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new()
            .name("openapi".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || read_here(text, bounds, place));
        match reader.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(read)) => read,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Err(Refusal::new("The document cannot be read now; try again.")),
        }
    })
}

fn read_here(text: &str, bounds: Bounds, place: &Placement) -> Result<Document, Refusal> {
    let (root, warnings) = text::read(text, &bounds)?;
    // A Swagger 2.0 document would be turned into the 3.0 shape between these two lines (sheet 6.9).
    let source = Source::new(root)?;
    let servers = Servers::new(&source, place, bounds.by_person)?;
    let title = source.root["info"]["title"].as_str().unwrap_or_default();
    let mut document = Document {
        title: super::prose::one_line(title, 200),
        tools: Vec::new(),
        operations: Totals::default(),
        unusable: Vec::new(),
        base_url: servers.base().clone(),
        credential_places: super::security::places(&source),
        warnings,
    };
    operations::collect(&source, &servers, place, &bounds, &mut document);
    Ok(document)
}

impl Document {
    /// Adds an operation that became no tool.
    pub(super) fn refuse(&mut self, method: &str, path: &str, (because, detail): Fault) {
        self.operations.total += 1;
        self.operations.unusable += 1;
        *self.operations.by_because.entry(because.word()).or_default() += 1;
        self.unusable.push(Unusable { method: method.to_owned(), path: path.to_owned(), because, detail });
    }

    /// Adds a tool.
    pub(super) fn take(&mut self, tool: Tool) {
        self.operations.total += 1;
        self.operations.usable += 1;
        self.operations.noted += usize::from(!tool.notes.is_empty());
        self.tools.push(Arc::new(tool));
    }
}

/// An object member, or nothing where the value is no object.
pub(super) fn text_of<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}
