//! One view of a tool, whatever kind of server it is of, and the list of a server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use aws_lc_rs::digest::{Context, SHA256};
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

use super::openapi::{self, Document, Totals, Unusable};
use super::scrub::Scrubber;
use super::upstream::{Hints, ListedTool, Listing};
use crate::digest::hex;
use crate::error::Issue;

/// A tool that its server lists. Its texts and schemas are scrubbed.
pub struct Tool {
    /// Its name, 1 to 128 letters, digits, `_ - .`.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// What it does, at most 4 KiB.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its answer.
    pub output_schema: Option<Value>,
    /// What its author says about its effects.
    pub hints: Hints,
    pub(super) made: Made,
    checker: OnceLock<Option<Validator>>,
}

/// What a call is made from.
pub(super) enum Made {
    Mcp(Box<ListedTool>),
    Http(Arc<openapi::Tool>),
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tool {
    fn mcp(tool: ListedTool, scrubber: &Scrubber) -> Self {
        let clean = |schema: &Value| {
            let mut schema = schema.clone();
            scrubber.value(&mut schema);
            schema
        };
        Self {
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            input_schema: clean(&tool.input_schema),
            output_schema: tool.output_schema.as_deref().map(clean),
            hints: tool.annotations,
            made: Made::Mcp(Box::new(tool)),
            checker: OnceLock::new(),
        }
    }

    fn http(tool: &Arc<openapi::Tool>, scrubber: &Scrubber) -> Self {
        let clean = |schema: &Value| {
            let mut schema = schema.clone();
            scrubber.value(&mut schema);
            schema
        };
        let text = |text: &str| Some(scrubber.text(text)).filter(|text| !text.is_empty());
        Self {
            name: tool.name.clone(),
            title: text(&tool.title),
            description: text(&tool.description),
            input_schema: clean(&tool.input_schema),
            output_schema: tool.output_schema.as_ref().map(clean),
            hints: Hints {
                read_only_hint: Some(tool.hints.read_only),
                destructive_hint: Some(tool.hints.destructive),
                idempotent_hint: Some(tool.hints.idempotent),
                open_world_hint: Some(tool.hints.open_world),
            },
            made: Made::Http(tool.clone()),
            checker: OnceLock::new(),
        }
    }

    /// The operation behind it, of an HTTP API.
    pub fn operation(&self) -> Option<&openapi::Tool> {
        match &self.made {
            Made::Http(tool) => Some(tool),
            Made::Mcp(_) => None,
        }
    }

    /// Whether parts of its input schema were left out for their size.
    pub fn simplified(&self) -> bool {
        self.operation().is_some_and(|tool| tool.simplified)
    }

    /// The names of its arguments, in the schema's order, each with whether it is required.
    pub fn arguments(&self) -> Vec<(&str, bool)> {
        let required: Vec<&str> =
            self.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = self.input_schema["properties"].as_object();
        properties.into_iter().flatten().map(|(name, _)| (name.as_str(), required.contains(&name.as_str()))).collect()
    }

    /// The checker of its arguments; `None` where the schema cannot be read, which is then not enforced.
    pub fn checker(&self) -> Option<&Validator> {
        self.checker.get_or_init(|| compile(&self.input_schema)).as_ref()
    }

    /// What the request itself does not take of these arguments, by pointers into them.
    pub fn unwritable(&self, arguments: &Map<String, Value>) -> Vec<Issue> {
        let prepared = self.operation().map(|tool| tool.request(arguments, None));
        prepared.and_then(Result::err).unwrap_or_default()
    }
}

/// Reads 2020-12, and draft-07 where the schema says so; never with a regex engine that backtracks, never from elsewhere.
fn compile(schema: &Value) -> Option<Validator> {
    let named = schema["$schema"].as_str().unwrap_or_default();
    let draft = if named.contains("draft-07") { Draft::Draft7 } else { Draft::Draft202012 };
    jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .inspect_err(|_| tracing::debug!("a tool's schema cannot be read and is not enforced"))
        .ok()
}

/// The tools of a server as they were read.
#[derive(Clone)]
pub struct List {
    /// In the server's order.
    pub tools: Vec<Arc<Tool>>,
    /// The document's title, of an HTTP API.
    pub title: Option<String>,
    /// Listed tools that cannot be used, and why.
    pub left_out: Vec<(String, &'static str)>,
    /// Counts of the document's operations.
    pub operations: Option<Totals>,
    /// Operations that became no tool.
    pub unusable: Vec<Unusable>,
    /// Since when the document could not be read again.
    pub document_stale_since: Option<i64>,
    /// When it was read.
    pub read_at: i64,
    /// A digest of names and texts.
    pub digest: String,
    /// About how much memory it takes.
    pub bytes: usize,
    pub(super) fresh_until: i64,
    pub(super) as_of_change: u64,
    by_name: HashMap<String, usize>,
}

impl List {
    pub(super) fn of_listing(listing: Listing, scrubber: &Scrubber, now_ms: i64, fresh_ms: i64) -> Self {
        let tools = listing.tools.into_iter().map(|tool| Arc::new(Tool::mcp(tool, scrubber))).collect();
        Self { left_out: listing.left_out, as_of_change: listing.as_of_change, ..Self::of(tools, now_ms, fresh_ms) }
    }

    pub(super) fn of_document(document: Document, scrubber: &Scrubber, now_ms: i64, fresh_ms: i64) -> Self {
        let tools = document.tools.iter().map(|tool| Arc::new(Tool::http(tool, scrubber))).collect();
        Self {
            title: Some(scrubber.text(&document.title)).filter(|title| !title.is_empty()),
            operations: Some(document.operations),
            unusable: document.unusable,
            ..Self::of(tools, now_ms, fresh_ms)
        }
    }

    fn of(tools: Vec<Arc<Tool>>, now_ms: i64, fresh_ms: i64) -> Self {
        let mut digest = Context::new(&SHA256);
        let mut bytes = 1_024;
        for tool in &tools {
            let schema = tool.input_schema.to_string();
            bytes += 1_024 + 6 * schema.len() + tool.description.as_ref().map_or(0, String::len);
            for part in [tool.name.as_str(), tool.description.as_deref().unwrap_or_default(), &schema] {
                digest.update(part.as_bytes());
                digest.update(&[0]);
            }
        }
        let by_name = tools.iter().enumerate().map(|(index, tool)| (tool.name.clone(), index)).collect();
        Self {
            tools,
            title: None,
            left_out: Vec::new(),
            operations: None,
            unusable: Vec::new(),
            document_stale_since: None,
            read_at: now_ms,
            digest: hex(digest.finish()),
            bytes,
            fresh_until: now_ms.saturating_add(fresh_ms),
            as_of_change: 0,
            by_name,
        }
    }

    /// The same list, kept while its document cannot be read again.
    pub(super) fn kept_stale(&self, now_ms: i64, fresh_ms: i64) -> Self {
        Self {
            document_stale_since: self.document_stale_since.or(Some(now_ms)),
            read_at: self.read_at,
            ..self.kept(now_ms, fresh_ms)
        }
    }

    /// The same list, whose document did not change.
    pub(super) fn kept(&self, now_ms: i64, fresh_ms: i64) -> Self {
        Self {
            document_stale_since: None,
            read_at: now_ms,
            fresh_until: now_ms.saturating_add(fresh_ms),
            ..self.clone()
        }
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name.get(name).map(|index| &self.tools[*index])
    }
}
