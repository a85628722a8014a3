//! The keywords of one schema, each taken only when it is well formed.

use serde_json::{Map, Number, Value, json};

use super::{DESCRIPTION, Direction, Shapes};
use crate::tool_servers::openapi::operations::compiles;
use crate::tool_servers::openapi::prose;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Formats of JSON Schema and of OpenAPI's registry that tell a caller something.
const FORMATS: [&str; 27] = [
    "binary",
    "byte",
    "date",
    "date-time",
    "decimal",
    "double",
    "duration",
    "email",
    "float",
    "hostname",
    "idn-email",
    "idn-hostname",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "password",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];
/// The most bytes of examples or of a default kept.
const SAMPLES: usize = 1024;

impl Shapes<'_> {
    /// Takes the keywords that need no other schema of the same place.
    pub(super) fn keywords(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        annotations(map, out);
        types(map, out);
        numbers(map, out);
        counts(map, out);
        self.texts(map, out);
        self.values(map, out);
        self.members(map, out, level);
        self.items(map, out, level);
    }

    fn texts(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        if let Some(Value::String(pattern)) = map.get("pattern") {
            if self.pattern_works(pattern) {
                out.insert("pattern".to_owned(), pattern.clone().into());
            } else {
                self.notes.insert("A pattern that cannot be read was left out.".to_owned());
            }
        }
        match map.get("format").and_then(Value::as_str) {
            Some("byte") => {
                out.insert("contentEncoding".to_owned(), "base64".into());
            }
            Some(format) if FORMATS.contains(&format) => {
                out.insert("format".to_owned(), format.into());
            }
            _ => {}
        }
        if map.get("type").and_then(Value::as_str) == Some("file") {
            out.insert("format".to_owned(), "binary".into());
        }
        for member in ["contentEncoding", "contentMediaType"] {
            if let Some(Value::String(text)) = map.get(member) {
                out.insert(member.to_owned(), text.clone().into());
            }
        }
    }

    /// Whether the engine that will check arguments reads the pattern.
    fn pattern_works(&mut self, pattern: &str) -> bool {
        if let Some(works) = self.patterns.get(pattern) {
            return *works;
        }
        let works = pattern.len() <= 4096 && compiles(&json!({ "pattern": pattern }));
        self.patterns.insert(pattern.to_owned(), works);
        works
    }

    fn values(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        if let Some(Value::Array(values)) = map.get("enum") {
            let mut kept: Vec<Value> = Vec::new();
            for value in values {
                if !kept.contains(value) {
                    kept.push(value.clone());
                }
            }
            if kept.is_empty() {
                self.notes.insert("An empty list of values was left out.".to_owned());
            } else {
                out.insert("enum".to_owned(), kept.into());
            }
        }
        if let Some(value) = map.get("const").filter(|_| !self.source.is_3_0) {
            out.insert("const".to_owned(), value.clone());
        }
    }

    fn members(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        let mut hidden = Vec::new();
        if let Some(Value::Object(properties)) = map.get("properties") {
            let mut shaped = Map::new();
            for (name, schema) in properties {
                if self.direction == Direction::Request && self.is_read_only(schema) {
                    hidden.push(name.as_str());
                } else {
                    shaped.insert(name.clone(), self.shape_at(schema, level + 1));
                }
            }
            out.insert("properties".to_owned(), shaped.into());
        }
        if let Some(Value::Array(names)) = map.get("required") {
            let mut required: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            required.retain(|name| !hidden.contains(name));
            required.sort_unstable();
            required.dedup();
            if !required.is_empty() {
                out.insert("required".to_owned(), json!(required));
            }
        }
        self.map_of_schemas("patternProperties", map, out, level);
        self.map_of_schemas("dependentSchemas", map, out, level);
        for member in ["additionalProperties", "propertyNames", "unevaluatedProperties"] {
            self.one_schema(member, map, out, level);
        }
        if let Some(Value::Object(dependent)) = map.get("dependentRequired") {
            let mut kept = Map::new();
            for (name, others) in dependent {
                if let Value::Array(others) = others {
                    let mut others: Vec<&str> = others.iter().filter_map(Value::as_str).collect();
                    others.sort_unstable();
                    others.dedup();
                    kept.insert(name.clone(), json!(others));
                }
            }
            out.insert("dependentRequired".to_owned(), kept.into());
        }
    }

    fn map_of_schemas(&mut self, member: &str, map: &Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        let Some(Value::Object(schemas)) = map.get(member) else {
            return;
        };
        let mut shaped = Map::new();
        for (name, schema) in schemas {
            if member != "patternProperties" || self.pattern_works(name) {
                shaped.insert(name.clone(), self.shape_at(schema, level + 1));
            }
        }
        if !shaped.is_empty() {
            out.insert(member.to_owned(), shaped.into());
        }
    }

    /// A member that is one schema; anything else in its place is passed over.
    pub(super) fn one_schema(
        &mut self,
        member: &str,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        level: usize,
    ) {
        if let Some(schema @ (Value::Bool(_) | Value::Object(_))) = map.get(member) {
            out.insert(member.to_owned(), self.shape_at(schema, level + 1));
        }
    }

    fn items(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        let tuple = map.get("prefixItems").or_else(|| map.get("items"));
        if let Some(Value::Array(tuple)) = tuple.filter(|tuple| tuple.as_array().is_some_and(|list| !list.is_empty())) {
            let shaped: Vec<Value> = tuple.iter().map(|one| self.shape_at(one, level + 1)).collect();
            out.insert("prefixItems".to_owned(), shaped.into());
        }
        for member in ["items", "contains", "unevaluatedItems"] {
            self.one_schema(member, map, out, level);
        }
        if let Some(Value::Bool(true)) = map.get("uniqueItems") {
            out.insert("uniqueItems".to_owned(), true.into());
        }
    }
}

fn annotations(map: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (member, bytes) in [("title", 200), ("description", DESCRIPTION)] {
        if let Some(Value::String(words)) = map.get(member)
            && !words.is_empty()
        {
            out.insert(member.to_owned(), prose::cut(words, bytes).into());
        }
    }
    if map.get("deprecated") == Some(&Value::Bool(true)) {
        out.insert("deprecated".to_owned(), true.into());
    }
    if let Some(value) = map.get("default").filter(|value| super::bytes(value) <= SAMPLES) {
        out.insert("default".to_owned(), value.clone());
    }
    let examples = match (map.get("examples"), map.get("example")) {
        (Some(Value::Array(list)), _) => Some(list.clone()),
        (_, Some(value)) => Some(vec![value.clone()]),
        _ => None,
    };
    if let Some(list) = examples.map(Value::Array).filter(|list| super::bytes(list) <= SAMPLES) {
        out.insert("examples".to_owned(), list);
    }
}

fn types(map: &Map<String, Value>, out: &mut Map<String, Value>) {
    match map.get("type") {
        Some(Value::String(word)) if word == "file" => {
            out.insert("type".to_owned(), "string".into());
        }
        Some(Value::String(word)) if TYPES.contains(&word.as_str()) => {
            out.insert("type".to_owned(), word.clone().into());
        }
        Some(Value::Array(words)) => {
            let mut known: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let all = known.len();
            known.retain(|word| TYPES.contains(word));
            known.sort_unstable();
            known.dedup();
            // A list with an unknown word is left open: dropping the word would refuse what the service takes.
            if !known.is_empty() && all == words.len() && known.len() <= all {
                out.insert("type".to_owned(), json!(known));
            }
        }
        _ => {}
    }
}

fn numbers(map: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let value = map.get(bound).and_then(number);
        match (value, map.get(exclusive)) {
            (Some(value), Some(Value::Bool(true))) => {
                out.insert(exclusive.to_owned(), value.into());
            }
            (value, other) => {
                if let Some(value) = value {
                    out.insert(bound.to_owned(), value.into());
                }
                if let Some(value) = other.and_then(number) {
                    out.insert(exclusive.to_owned(), value.into());
                }
            }
        }
    }
    if let Some(step) = map.get("multipleOf").and_then(number)
        && step.as_f64().is_some_and(|step| step > 0.0)
    {
        out.insert("multipleOf".to_owned(), step.into());
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        _ => None,
    }
}

fn counts(map: &Map<String, Value>, out: &mut Map<String, Value>) {
    for member in [
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ] {
        if let Some(count) = map.get(member).and_then(Value::as_u64) {
            out.insert(member.to_owned(), count.into());
        }
    }
}
