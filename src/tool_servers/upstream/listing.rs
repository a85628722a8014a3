//! From the pages of `tools/list` to the tools a server has.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Scrub;
use super::headers::{self, HeaderMark};
use super::trouble::{Trouble, cut, without_controls};

/// The most pages one list may have.
pub(super) const PAGES: usize = 100;
/// The most tools one server may list.
const TOOLS: usize = 10_000;
/// The most bytes of all pages together.
pub(super) const LIST_BYTES: usize = 16 << 20;
const DESCRIPTION_BYTES: usize = 4 << 10;
const TITLE_CHARACTERS: usize = 200;
const SCHEMA_BYTES: usize = 64 << 10;
const SCHEMA_LEVELS: usize = 64;

/// What a tool's author says about its effects; hints, which nobody has checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches things outside of its server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Hints {
    /// Whether it is said to change nothing.
    pub fn is_read_only(self) -> bool {
        self.read_only_hint == Some(true)
    }

    /// Whether a second call is said to do no harm.
    pub fn may_be_repeated(self) -> bool {
        self.is_read_only() || self.idempotent_hint == Some(true)
    }
}

/// A tool as its server lists it, within our bounds and with its texts scrubbed. The schemas are as they came.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTool {
    /// 1 to 128 letters, digits, `_ - .`.
    pub name: String,
    /// Its title, at most 200 characters.
    pub title: Option<String>,
    /// What it does, at most 4 KiB.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, always an object.
    pub input_schema: Arc<Value>,
    /// The JSON Schema of its structured answer.
    pub output_schema: Option<Arc<Value>>,
    /// What its author says about its effects.
    pub annotations: Hints,
    /// The arguments that travel as headers too.
    pub header_marks: Vec<HeaderMark>,
}

/// All tools of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// In the order of the server.
    pub tools: Vec<ListedTool>,
    /// How long the list may be kept, in milliseconds, where the server says so: the smallest of its pages.
    pub ttl_ms: Option<u64>,
    /// Tools that cannot be used, and why: `bad_name`, `schema_too_large` or `bad_header_mark`.
    pub left_out: Vec<(String, &'static str)>,
    /// [`super::Upstream::list_changes`] when the reading began: once that tells more, the list is old.
    pub as_of_change: u64,
}

/// Collects the pages of one list.
pub(super) struct Pages<'a> {
    listing: Listing,
    names: HashSet<String>,
    cursors: HashSet<String>,
    marks_count: bool,
    scrub: &'a Scrub,
}

impl<'a> Pages<'a> {
    /// Nothing read yet; `marks_count` where header marks are followed (2026-07-28 over HTTP).
    pub(super) fn new(marks_count: bool, as_of_change: u64, scrub: &'a Scrub) -> Self {
        Self {
            listing: Listing { as_of_change, ..Listing::default() },
            names: HashSet::new(),
            cursors: HashSet::new(),
            marks_count,
            scrub,
        }
    }

    /// Takes one page, and gives the cursor of the next.
    pub(super) fn take(&mut self, page: Value) -> Result<Option<String>, Trouble> {
        let Value::Object(mut page) = page else {
            return Err(Trouble::failing("The server's list of tools is not one."));
        };
        let Some(Value::Array(tools)) = page.remove("tools") else {
            return Err(Trouble::failing("The server's list of tools is not one."));
        };
        let ttl = page.get("ttlMs").and_then(Value::as_u64);
        self.listing.ttl_ms = [self.listing.ttl_ms, ttl].into_iter().flatten().min();
        for tool in tools {
            self.take_tool(tool);
            if self.listing.tools.len() + self.listing.left_out.len() > TOOLS {
                return Err(Trouble::failing(format!("The server lists more than {TOOLS} tools.")));
            }
        }
        match page.remove("nextCursor") {
            Some(Value::String(cursor)) if !self.cursors.insert(cursor.clone()) => {
                Err(Trouble::failing("The server's list of tools never ends."))
            }
            Some(Value::String(cursor)) => Ok(Some(cursor)),
            _ => Ok(None),
        }
    }

    /// The whole list.
    pub(super) fn finish(self) -> Listing {
        self.listing
    }

    fn take_tool(&mut self, tool: Value) {
        let Value::Object(mut tool) = tool else {
            return self.leave_out("", "bad_name");
        };
        let name = match tool.remove("name") {
            Some(Value::String(name)) => name,
            _ => String::new(),
        };
        if !is_name(&name) {
            return self.leave_out(&name, "bad_name");
        }
        // Of two tools with one name the first stays.
        if !self.names.insert(name.clone()) {
            return;
        }
        match self.read_tool(name.clone(), tool) {
            Ok(tool) => self.listing.tools.push(tool),
            Err(because) => self.leave_out(&name, because),
        }
    }

    fn leave_out(&mut self, name: &str, because: &'static str) {
        let name = (self.scrub)(name);
        let name = cut(&without_controls(&name), 128).to_owned();
        self.listing.left_out.push((name, because));
    }

    fn read_tool(&self, name: String, mut tool: Map<String, Value>) -> Result<ListedTool, &'static str> {
        let input_schema = match tool.remove("inputSchema") {
            Some(schema @ Value::Object(_)) => schema,
            // Without a schema anything goes: the server checks its arguments itself.
            _ => json!({ "type": "object" }),
        };
        if !within_bounds(&input_schema) {
            return Err("schema_too_large");
        }
        let header_marks =
            if self.marks_count { headers::marks(&input_schema).map_err(|_| "bad_header_mark")? } else { Vec::new() };
        let annotations = tool.get("annotations").cloned().unwrap_or_default();
        let title = text(tool.remove("title")).or_else(|| text(annotations.get("title").cloned()));
        Ok(ListedTool {
            name,
            title: title.map(|title| self.words(&title).chars().take(TITLE_CHARACTERS).collect()),
            description: text(tool.remove("description"))
                .map(|words| cut(&self.words(&words), DESCRIPTION_BYTES).to_owned()),
            input_schema: Arc::new(input_schema),
            output_schema: tool
                .remove("outputSchema")
                .filter(|schema| schema.is_object() && within_bounds(schema))
                .map(Arc::new),
            annotations: hints(&annotations),
            header_marks,
        })
    }

    /// Scrubbed before anything is cut, so that no half of a secret stays.
    fn words(&self, text: &str) -> String {
        without_controls(&(self.scrub)(text))
    }
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

fn hints(annotations: &Value) -> Hints {
    let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
    Hints {
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}

/// Whether `name` is 1 to 128 letters, digits, `_ - .`.
fn is_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

fn within_bounds(schema: &Value) -> bool {
    levels(schema) <= SCHEMA_LEVELS && serde_json::to_vec(schema).is_ok_and(|text| text.len() <= SCHEMA_BYTES)
}

/// How deep a value is nested; the reader of JSON stops at 128, so this ends.
fn levels(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::unscrubbed;
    use super::*;

    fn read(pages: Vec<Value>) -> Result<Listing, Trouble> {
        let scrub = unscrubbed();
        let mut all = Pages::new(true, 0, &scrub);
        for page in pages {
            all.take(page)?;
        }
        Ok(all.finish())
    }

    #[test]
    fn a_tool_keeps_what_callers_are_shown() {
        let listing = read(vec![
            json!({ "ttlMs": 9000, "tools": [{
            "name": "find",
            "description": "Finds.\u{7}",
            "inputSchema": { "type": "object" },
            "annotations": { "title": "Find it", "readOnlyHint": true },
        }] }),
            json!({ "ttlMs": 5000, "tools": [] }),
        ])
        .unwrap();
        let [tool] = listing.tools.as_slice() else {
            panic!("one tool is listed");
        };
        assert_eq!(tool.title.as_deref(), Some("Find it"));
        assert_eq!(tool.description.as_deref(), Some("Finds."));
        assert!(tool.annotations.may_be_repeated());
        assert_eq!(serde_json::to_value(tool.annotations).unwrap(), json!({ "readOnlyHint": true }));
        assert_eq!(listing.ttl_ms, Some(5000));
    }

    #[test]
    fn unusable_tools_are_left_out_and_named() {
        let deep = (0..70).fold(json!(true), |inner, _| json!({ "not": inner }));
        let listing = read(vec![json!({ "tools": [
            { "name": "a b" },
            { "name": "deep", "inputSchema": deep },
            { "name": "wide", "inputSchema": { "description": "x".repeat(70_000) } },
            { "name": "marked", "inputSchema": { "x-mcp-header": "A" } },
            { "name": "good", "title": "first" },
            { "name": "good", "title": "second" },
        ] })])
        .unwrap();
        assert_eq!(
            listing.left_out,
            [
                ("a b".to_owned(), "bad_name"),
                ("deep".to_owned(), "schema_too_large"),
                ("wide".to_owned(), "schema_too_large"),
                ("marked".to_owned(), "bad_header_mark"),
            ]
        );
        assert_eq!(listing.tools.len(), 1);
        assert_eq!(listing.tools[0].title.as_deref(), Some("first"));
    }

    #[test]
    fn a_list_without_end_is_refused() {
        let page = || json!({ "tools": [], "nextCursor": "again" });
        assert!(read(vec![page(), page()]).is_err());
        let many: Vec<Value> = (0..=TOOLS).map(|n| json!({ "name": format!("t{n}") })).collect();
        assert!(read(vec![json!({ "tools": many })]).is_err());
    }
}
