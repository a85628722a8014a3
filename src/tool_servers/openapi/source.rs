//! The document's value with its version, and how a reference in it is followed.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::document::{Because, Fault, Refusal};

/// The most references followed one after another.
const HOPS: usize = 32;

/// A document whose version is known.
pub(super) struct Source {
    pub(super) root: Value,
    /// 3.0, whose schemas are a dialect of their own; later ones are JSON Schema 2020-12.
    pub(super) is_3_0: bool,
    /// 3.2, which adds methods.
    pub(super) is_3_2: bool,
    anchors: BTreeMap<String, String>,
    dynamic_anchors: BTreeMap<String, String>,
    ids: BTreeMap<String, String>,
}

/// What a reference leads to.
pub(super) enum Found<'a> {
    /// A value of this document, and the pointer to it.
    Here(&'a Value, String),
    /// Something outside the document.
    Remote,
    /// Nothing.
    Missing,
}

impl Source {
    /// Checks the version and that there are paths.
    pub(super) fn new(root: Value) -> Result<Self, Refusal> {
        let Some(object) = root.as_object() else {
            return Err(Refusal::new("The document is not an object."));
        };
        if object.contains_key("swagger") && !object.contains_key("openapi") {
            return Err(Refusal::new(
                "The document is Swagger 2.0, which is not read. Convert it to OpenAPI 3.0 or 3.1 and give that.",
            ));
        }
        let version = match object.get("openapi") {
            Some(Value::String(version)) => version.trim().to_owned(),
            // YAML reads an unquoted 3.1 as a number.
            Some(Value::Number(version)) => version.to_string(),
            _ => {
                return Err(Refusal::new("The document has no `openapi` member that tells its version."));
            }
        };
        let minor = version.split('.').take(2).collect::<Vec<_>>().join(".");
        if !matches!(minor.as_str(), "3.0" | "3.1" | "3.2") {
            return Err(Refusal::new(format!(
                "The document's version {:?} is unknown; 3.0, 3.1 and 3.2 are read.",
                super::prose::one_line(&version, 40)
            )));
        }
        if !object.get("paths").is_some_and(Value::is_object) {
            return Err(Refusal::new("The document has no `paths` object."));
        }
        let mut source = Self {
            is_3_0: minor == "3.0",
            is_3_2: minor == "3.2",
            anchors: BTreeMap::new(),
            dynamic_anchors: BTreeMap::new(),
            ids: BTreeMap::new(),
            root: Value::Null,
        };
        if !source.is_3_0 {
            source.note_anchors(&root, &mut String::from("#"));
        }
        source.root = root;
        Ok(source)
    }

    /// Collects `$id`, `$anchor` and `$dynamicAnchor`; the first in document order keeps a doubled one.
    fn note_anchors(&mut self, value: &Value, at: &mut String) {
        let length = at.len();
        match value {
            Value::Object(map) => {
                for (member, found) in [
                    ("$anchor", &mut self.anchors),
                    ("$dynamicAnchor", &mut self.dynamic_anchors),
                    ("$id", &mut self.ids),
                ] {
                    if let Some(name) = map.get(member).and_then(Value::as_str) {
                        found.entry(name.trim_end_matches('#').to_owned()).or_insert_with(|| at.clone());
                    }
                }
                for (key, inner) in map {
                    if inner.is_object() || inner.is_array() {
                        at.push('/');
                        at.push_str(&escape(key));
                        self.note_anchors(inner, at);
                        at.truncate(length);
                    }
                }
            }
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    if inner.is_object() || inner.is_array() {
                        at.push('/');
                        at.push_str(&index.to_string());
                        self.note_anchors(inner, at);
                        at.truncate(length);
                    }
                }
            }
            _ => {}
        }
    }

    /// Finds what a reference names, one step.
    pub(super) fn find(&self, reference: &str) -> Found<'_> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() {
            String::from("#")
        } else if let Some(pointer) = self.ids.get(document) {
            pointer.clone()
        } else {
            return Found::Remote;
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let pointer = if fragment.is_empty() {
            base
        } else if fragment.starts_with('/') {
            format!("{base}{fragment}")
        } else {
            let named = self.anchors.get(fragment.as_ref());
            match named.or_else(|| self.dynamic_anchors.get(fragment.as_ref())) {
                Some(pointer) => pointer.clone(),
                None => return Found::Missing,
            }
        };
        match self.root.pointer(pointer.trim_start_matches('#')) {
            Some(value) => Found::Here(value, pointer),
            None => Found::Missing,
        }
    }

    /// What a `$dynamicRef` names: the document's one anchor of that name.
    pub(super) fn find_dynamic(&self, reference: &str) -> Option<String> {
        let name = reference.rsplit_once('#').map_or(reference, |(_, name)| name);
        self.dynamic_anchors.get(name).or_else(|| self.anchors.get(name)).cloned()
    }

    /// Follows the `$ref`s of a parameter, body, response or path item to the thing itself.
    pub(super) fn follow<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, Fault> {
        for _ in 0..HOPS {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(value);
            };
            value = match self.find(reference) {
                Found::Here(found, _) => found,
                Found::Remote => return Err((Because::RemoteRef, shown("It refers out of the document", reference))),
                Found::Missing => return Err((Because::UnresolvedRef, shown("It refers to nothing", reference))),
            };
        }
        Err((Because::UnresolvedRef, "It refers to itself.".to_owned()))
    }
}

fn shown(words: &str, reference: &str) -> String {
    format!("{words}: {:?}.", super::prose::one_line(reference, 200))
}

/// One segment of a JSON Pointer (RFC 6901).
pub(super) fn escape(key: &str) -> String {
    if key.contains(['~', '/']) { key.replace('~', "~0").replace('/', "~1") } else { key.to_owned() }
}
