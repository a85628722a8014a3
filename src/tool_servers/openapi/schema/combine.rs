//! `allOf`, `anyOf`, `oneOf` and the like, discriminators and null.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Shapes;
use crate::tool_servers::openapi::source::Found;

/// The members a plain object schema may have, so that several can be made one.
const PLAIN: [&str; 9] = [
    "additionalProperties",
    "default",
    "deprecated",
    "description",
    "examples",
    "properties",
    "required",
    "title",
    "type",
];
/// The most branches looked at in pairs.
const BRANCHES: usize = 24;

impl Shapes<'_> {
    /// Takes the keywords that put schemas together.
    pub(super) fn combinations(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        for member in ["not", "if", "then", "else"] {
            self.one_schema(member, map, out, level);
        }
        if let Some(parts) = self.list("allOf", map, level) {
            match self.flattened(out, &parts) {
                Some(flat) => *out = flat,
                None => {
                    out.insert("allOf".to_owned(), parts.into());
                }
            }
        }
        if let Some(mut branches) = self.list("anyOf", map, level) {
            self.discriminate(map, &mut branches);
            out.insert("anyOf".to_owned(), branches.into());
        }
        if let Some(mut branches) = self.list("oneOf", map, level) {
            self.discriminate(map, &mut branches);
            if self.are_apart(&branches) {
                out.insert("oneOf".to_owned(), branches.into());
            } else if out.contains_key("anyOf") {
                let both = out.entry("allOf").or_insert_with(|| json!([]));
                if let Some(both) = both.as_array_mut() {
                    both.push(json!({ "anyOf": branches }));
                }
            } else {
                out.insert("anyOf".to_owned(), branches.into());
            }
        }
    }

    fn list(&mut self, member: &str, map: &Map<String, Value>, level: usize) -> Option<Vec<Value>> {
        let parts = map.get(member)?.as_array().filter(|parts| !parts.is_empty())?;
        Some(parts.iter().map(|part| self.shape_at(part, level + 1)).collect())
    }

    /// One plain object of all parts, where every part is one and no two speak differently of a property.
    fn flattened(&mut self, own: &Map<String, Value>, parts: &[Value]) -> Option<Map<String, Value>> {
        if !is_plain(own) {
            return None;
        }
        let mut flat = own.clone();
        let (mut is_object, mut properties, mut required) = (false, Map::new(), BTreeSet::new());
        let opened = parts.iter().map(|part| self.part(part)).collect::<Option<Vec<_>>>()?;
        for part in std::iter::once(own).chain(&opened) {
            if !is_plain(part) {
                return None;
            }
            is_object |= part.contains_key("type") || part.contains_key("properties");
            for (name, schema) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                match properties.get(name) {
                    Some(other) if other != schema => return None,
                    _ => properties.insert(name.clone(), schema.clone()),
                };
            }
            let names = part.get("required").and_then(Value::as_array).into_iter().flatten();
            required.extend(names.filter_map(Value::as_str).map(str::to_owned));
            for (member, value) in part {
                if !flat.contains_key(member) || (member == "additionalProperties" && *value == Value::Bool(false)) {
                    flat.insert(member.clone(), value.clone());
                }
            }
        }
        if !is_object {
            return None;
        }
        flat.insert("type".to_owned(), "object".into());
        flat.insert("properties".to_owned(), properties.into());
        flat.remove("required");
        if !required.is_empty() {
            flat.insert("required".to_owned(), json!(required));
        }
        Some(flat)
    }

    fn part(&mut self, part: &Value) -> Option<Map<String, Value>> {
        let map = part.as_object()?;
        match map.get("$ref").and_then(Value::as_str) {
            Some(pointer) if map.len() == 1 => {
                let body = self.body(pointer)?;
                self.notes.extend(body.notes.iter().cloned());
                body.value.as_object().cloned()
            }
            Some(_) => None,
            None => Some(map.clone()),
        }
    }

    /// Turns a plain mapping into a constant on each branch.
    fn discriminate(&mut self, map: &Map<String, Value>, branches: &mut [Value]) {
        let Some(discriminator) = map.get("discriminator") else {
            return;
        };
        let Some(name) = discriminator.get("propertyName").and_then(Value::as_str) else {
            return;
        };
        let Some(mapping) = discriminator.get("mapping").and_then(Value::as_object) else {
            return;
        };
        let mut values: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for (value, target) in mapping {
            let target = target.as_str().unwrap_or_default();
            let reference = if target.contains(['#', '/', '.']) {
                target.to_owned()
            } else {
                format!("#/components/schemas/{target}")
            };
            if let Found::Here(found, pointer) = self.source.find(&reference)
                && let Some(pointer) = self.settle(found, pointer)
            {
                values.entry(pointer).or_default().push(value);
            }
        }
        let constants: Option<Vec<&String>> = branches
            .iter()
            .map(|branch| match values.get(branch.get("$ref")?.as_str()?)?.as_slice() {
                [value] if branch.as_object().is_some_and(|branch| branch.len() == 1) => Some(*value),
                _ => None,
            })
            .collect();
        for (branch, value) in branches.iter_mut().zip(constants.into_iter().flatten()) {
            if let Some(branch) = branch.as_object_mut() {
                branch.insert("properties".to_owned(), json!({ name: { "const": value } }));
                branch.insert("required".to_owned(), json!([name]));
            }
        }
    }

    /// Whether no value can fit two branches, as far as types, values and marked properties tell.
    fn are_apart(&mut self, branches: &[Value]) -> bool {
        if branches.len() > BRANCHES {
            return false;
        }
        let sketches: Vec<Sketch> = branches.iter().map(|branch| self.sketch(branch)).collect();
        sketches
            .iter()
            .enumerate()
            .all(|(index, one)| sketches[index + 1..].iter().all(|other| one.is_apart_from(other)))
    }

    fn sketch(&mut self, branch: &Value) -> Sketch {
        let mut sketch = Sketch::default();
        let Some(map) = branch.as_object() else { return sketch };
        if let Some(body) = map.get("$ref").and_then(Value::as_str).and_then(|pointer| self.body(pointer))
            && let Some(body) = body.value.as_object()
        {
            sketch.add(body);
        }
        sketch.add(map);
        sketch
    }
}

/// What is certain of a branch.
#[derive(Default)]
struct Sketch {
    types: Option<BTreeSet<String>>,
    values: Option<Vec<Value>>,
    /// The values of required properties.
    marks: BTreeMap<String, Vec<Value>>,
}

impl Sketch {
    fn add(&mut self, map: &Map<String, Value>) {
        let types: BTreeSet<String> = match map.get("type") {
            Some(Value::String(word)) => BTreeSet::from([word.replace("integer", "number")]),
            Some(Value::Array(words)) => {
                let words = words.iter().filter_map(Value::as_str);
                words.map(|word| word.replace("integer", "number")).collect()
            }
            _ => BTreeSet::new(),
        };
        if !types.is_empty() {
            self.types = Some(types);
        }
        self.values = values(map).or_else(|| self.values.take());
        let required: Vec<&str> = match map.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if let Some(Value::Object(properties)) = map.get("properties") {
            for (name, schema) in properties.iter().filter(|(name, _)| required.contains(&name.as_str())) {
                if let Some(values) = schema.as_object().and_then(values) {
                    self.marks.insert(name.clone(), values);
                }
            }
        }
    }

    fn is_apart_from(&self, other: &Self) -> bool {
        if let (Some(one), Some(two)) = (&self.types, &other.types)
            && one.is_disjoint(two)
        {
            return true;
        }
        if let (Some(one), Some(two)) = (&self.values, &other.values)
            && !one.iter().any(|value| two.contains(value))
        {
            return true;
        }
        let only = |types: &Option<BTreeSet<String>>| types.as_ref().is_some_and(|types| types.iter().eq(["object"]));
        only(&self.types)
            && only(&other.types)
            && self.marks.iter().any(|(name, one)| {
                let two = other.marks.get(name);
                two.is_some_and(|two| !one.iter().any(|value| two.contains(value)))
            })
    }
}

fn values(map: &Map<String, Value>) -> Option<Vec<Value>> {
    match (map.get("const"), map.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn is_plain(map: &Map<String, Value>) -> bool {
    map.keys().all(|member| PLAIN.contains(&member.as_str()))
        && map.get("type").is_none_or(|word| word == "object")
        && map.get("additionalProperties").is_none_or(Value::is_boolean)
}

/// Lets null through: `nullable` of 3.0.
pub(super) fn nullable(mut out: Map<String, Value>) -> Value {
    if ["allOf", "anyOf", "oneOf", "not", "$ref", "const"].iter().any(|member| out.contains_key(*member)) {
        let mut outer = Map::new();
        for member in ["title", "description", "deprecated", "default", "examples"] {
            if let Some(value) = out.remove(member) {
                outer.insert(member.to_owned(), value);
            }
        }
        outer.insert("anyOf".to_owned(), json!([out, { "type": "null" }]));
        return Value::Object(outer);
    }
    match out.get_mut("type") {
        Some(Value::Array(words)) if !words.contains(&json!("null")) => words.push("null".into()),
        Some(word @ Value::String(_)) if word != "null" => *word = json!([word.clone(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(out)
}
