//! The request headers of 2026-07-28 that repeat parts of the body: `Mcp-Name` and `Mcp-Param-…`.

use std::collections::HashSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// A property of a tool's arguments whose value is repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderMark {
    /// The names from the arguments down to the property.
    path: Vec<String>,
    /// The header.
    header: HeaderName,
}

impl HeaderMark {
    /// The header for a call with `arguments`; `None` where they leave the property out.
    pub(super) fn header_for(&self, arguments: &Map<String, Value>) -> Option<(HeaderName, HeaderValue)> {
        let (first, rest) = self.path.split_first()?;
        let value = rest.iter().try_fold(arguments.get(first)?, |value, name| value.get(name))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(yes) => yes.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some((self.header.clone(), header_value(&text)))
    }
}

/// Why the marks of a schema cannot be used: the tool is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadMark;

/// The marks of an input schema. A mark is a header name, on a text, integer or boolean property that is reached from
/// the root through `properties` alone; no two marks are alike without regard to case.
pub(super) fn marks(schema: &Value) -> Result<Vec<HeaderMark>, BadMark> {
    let mut found = Vec::new();
    if let Some(root) = schema.as_object() {
        if root.contains_key(MARK) {
            return Err(BadMark);
        }
        walk(root, true, &mut Vec::new(), &mut found)?;
    }
    let mut seen = HashSet::new();
    if found.iter().all(|mark| seen.insert(mark.header.clone())) { Ok(found) } else { Err(BadMark) }
}

const MARK: &str = "x-mcp-header";

/// Goes through a schema; `reachable` while only `properties` led here. Its depth was bounded before.
fn walk<'a>(
    schema: &'a Map<String, Value>,
    reachable: bool,
    path: &mut Vec<&'a str>,
    found: &mut Vec<HeaderMark>,
) -> Result<(), BadMark> {
    for (keyword, value) in schema {
        match keyword.as_str() {
            MARK if !reachable => return Err(BadMark),
            MARK => found.push(read_mark(schema, value, path)?),
            "properties" => {
                for (name, property) in value.as_object().into_iter().flatten() {
                    path.push(name);
                    walk_any(property, reachable, path, found)?;
                    path.pop();
                }
            }
            // Maps from names to schemas: a property may be called like the mark.
            "$defs" | "definitions" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                for (_, property) in value.as_object().into_iter().flatten() {
                    walk_any(property, false, path, found)?;
                }
            }
            // Values, not schemas.
            "default" | "const" | "enum" | "examples" | "dependentRequired" => {}
            _ => walk_any(value, false, path, found)?,
        }
    }
    Ok(())
}

fn walk_any<'a>(
    value: &'a Value,
    reachable: bool,
    path: &mut Vec<&'a str>,
    found: &mut Vec<HeaderMark>,
) -> Result<(), BadMark> {
    match value {
        Value::Object(schema) => walk(schema, reachable, path, found),
        Value::Array(items) => items.iter().try_for_each(|item| walk_any(item, false, path, found)),
        _ => Ok(()),
    }
}

fn read_mark(schema: &Map<String, Value>, mark: &Value, path: &[&str]) -> Result<HeaderMark, BadMark> {
    let name = mark.as_str().filter(|name| !name.is_empty()).ok_or(BadMark)?;
    let kind = schema.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(BadMark);
    }
    Ok(HeaderMark {
        path: path.iter().map(|&name| name.to_owned()).collect(),
        header: HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).map_err(|_| BadMark)?,
    })
}

/// `text` as a header value: as it is where that is plain ASCII, else in base64 between `=?base64?` and `?=`.
pub(super) fn header_value(text: &str) -> HeaderValue {
    let blank_end = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) && !blank_end && !looks_encoded;
    let written = if plain {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("=?base64?{}?=", BASE64_STANDARD.encode(text)))
    };
    // Both forms are printable ASCII, which every header value takes.
    written.unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_arguments_travel_as_headers_too() {
        let marks = marks(&json!({
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "page": { "type": "object", "properties": { "size": { "type": "integer", "x-mcp-header": "Size" } } },
                "x-mcp-header": { "type": "string" },
            },
        }))
        .unwrap();
        let arguments = json!({ "region": "Zürich", "page": { "size": 5 } });
        let mut headers: Vec<String> = marks
            .iter()
            .filter_map(|mark| mark.header_for(arguments.as_object().unwrap()))
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        headers.sort();
        assert_eq!(headers, ["mcp-param-region: =?base64?WsO8cmljaA==?=", "mcp-param-size: 5"]);
    }

    #[test]
    fn a_mark_that_cannot_be_followed_is_bad() {
        for schema in [
            json!({ "x-mcp-header": "A" }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "not a token" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": 5 } } }),
            json!({ "properties": { "a": { "type": "object", "x-mcp-header": "A" } } }),
            json!({ "properties": { "a": { "type": "array", "items": { "type": "string", "x-mcp-header": "A" } } } }),
            json!({ "anyOf": [{ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } }] }),
            json!({ "properties": {
                "a": { "type": "string", "x-mcp-header": "Same" },
                "b": { "type": "string", "x-mcp-header": "same" },
            } }),
        ] {
            assert_eq!(marks(&schema), Err(BadMark), "{schema}");
        }
    }

    proptest! {
        #[test]
        fn every_text_can_be_read_back_from_its_header(text in "\\PC*|[ -~\t]*|=\\?base64\\?[a-z]*\\?=") {
            let value = header_value(&text);
            let value = value.to_str().unwrap();
            let read = match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
                Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap(),
                None => value.to_owned(),
            };
            prop_assert_eq!(read, text);
        }
    }
}
