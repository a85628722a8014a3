//! Cuts a schema to its bound, the deepest parts first (sheet 6.10).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::positions::holds_schemas;
use super::{bytes, children, children_mut, weight};
use crate::tool_servers::openapi::prose;

/// The most bytes of an input schema.
const BYTES: usize = 64 << 10;
/// The most values of an input schema.
const NODES: usize = 5000;
/// The most levels of an input schema.
const LEVELS: usize = 64;
/// A schema without parts counts as one with parts from this size on, such as a long list of values.
const HEAVY: usize = 2 << 10;

/// The schema within its bounds and whether parts were left out; nothing when even its first level is too much.
pub(super) fn fit(mut schema: Value) -> Option<(Value, bool)> {
    let mut profile = Profile::default();
    let mut depths = BTreeMap::new();
    profile.take(&schema, &mut depths);
    if profile.whole() <= BYTES && fits(&schema) {
        return Some((schema, false));
    }
    let mut level = profile.last_that_fits().min(LEVELS);
    while level >= 1 {
        cut(&mut schema, &depths, level);
        if fits(&schema) {
            return Some((schema, true));
        }
        level -= 1;
    }
    None
}

fn fits(schema: &Value) -> bool {
    let (mut nodes, mut levels) = (0, 0);
    measure(schema, 1, &mut nodes, &mut levels);
    let weight = weight(schema);
    nodes <= NODES
        && levels <= LEVELS
        && weight <= BYTES
        // Only where escapes could carry it over its bound is it written out to be counted.
        && (weight <= BYTES / 6 || bytes(schema) <= BYTES)
}

fn measure(value: &Value, level: usize, nodes: &mut usize, levels: &mut usize) {
    *nodes += 1;
    *levels = (*levels).max(level);
    match value {
        Value::Object(map) => map.values().for_each(|inner| measure(inner, level + 1, nodes, levels)),
        Value::Array(list) => list.iter().for_each(|inner| measure(inner, level + 1, nodes, levels)),
        _ => {}
    }
}

/// What the schemas of each level weigh, so that the level to cut at is found in one pass.
#[derive(Default)]
struct Profile {
    /// The bytes of the schemas of a level without the schemas in them.
    own: Vec<usize>,
    /// The bytes of these schemas once cut.
    stubs: Vec<usize>,
}

impl Profile {
    /// Weighs a schema and finds the level of each definition: the least one it is referred to from.
    fn take(&mut self, schema: &Value, depths: &mut BTreeMap<String, usize>) {
        let defs = schema.get("$defs").and_then(Value::as_object);
        let mut open = BTreeSet::new();
        self.walk(schema, 0, &mut open);
        while let Some((level, name)) = open.pop_first() {
            if depths.contains_key(&name) {
                continue;
            }
            if let Some(body) = defs.and_then(|defs| defs.get(&name)) {
                self.walk(body, level, &mut open);
            }
            depths.insert(name, level);
        }
    }

    fn walk(&mut self, schema: &Value, level: usize, open: &mut BTreeSet<(usize, String)>) {
        if self.own.len() <= level {
            self.own.resize(level + 1, 0);
            self.stubs.resize(level + 1, 0);
        }
        let Some(map) = schema.as_object() else {
            self.own[level] += 4;
            self.stubs[level] += 4;
            return;
        };
        if let Some(name) = definition(map) {
            open.insert((level, name.to_owned()));
        }
        let plain = map.iter().filter(|(member, _)| !holds_schemas(member) && *member != "$defs");
        let own: usize = plain.map(|(member, value)| member.len() + 4 + weight(value)).sum::<usize>() + 1;
        let mut has_parts = false;
        children(map, &mut |child, _| {
            has_parts = true;
            self.walk(child, level + 1, open);
        });
        self.own[level] += own;
        self.stubs[level] += if has_parts || own > HEAVY { own.min(60) } else { own };
    }

    fn whole(&self) -> usize {
        self.own.iter().sum()
    }

    /// The last level to cut at that may be within the bound.
    fn last_that_fits(&self) -> usize {
        let mut sum = 0;
        let mut last = 1;
        for (level, own) in self.own.iter().enumerate() {
            sum += own;
            if sum + self.stubs.get(level + 1).unwrap_or(&0) <= BYTES {
                last = last.max(level);
            }
        }
        last
    }
}

fn definition(map: &Map<String, Value>) -> Option<&str> {
    map.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// Replaces everything below `level` by its type and a word.
fn cut(schema: &mut Value, depths: &BTreeMap<String, usize>, level: usize) {
    let Some(root) = schema.as_object_mut() else { return };
    let mut defs = match root.remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    };
    defs.retain(|name, _| depths.get(name).is_some_and(|depth| *depth <= level));
    for (name, body) in &mut defs {
        cut_at(body, depths[name], level, depths);
    }
    cut_at(schema, 0, level, depths);
    if let (Some(root), false) = (schema.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".to_owned(), defs.into());
    }
}

fn cut_at(schema: &mut Value, at: usize, level: usize, depths: &BTreeMap<String, usize>) {
    let Some(map) = schema.as_object_mut() else { return };
    let leads_away = definition(map).is_some_and(|name| depths.get(name).is_none_or(|depth| *depth > level));
    if leads_away || (at > level && is_large(map)) {
        *schema = stub(map);
        return;
    }
    children_mut(map, &mut |child, _| cut_at(child, at + 1, level, depths));
}

fn is_large(map: &Map<String, Value>) -> bool {
    map.keys().any(|member| holds_schemas(member))
        || map.iter().map(|(member, value)| member.len() + 4 + weight(value)).sum::<usize>() > HEAVY
}

fn stub(map: &Map<String, Value>) -> Value {
    let words = map.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{} (simplified)", prose::cut(words, 200));
    let mut stub = json!({ "description": description.trim() });
    if let (Some(kind), Some(stub)) = (map.get("type"), stub.as_object_mut()) {
        stub.insert("type".to_owned(), kind.clone());
    }
    stub
}
