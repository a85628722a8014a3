//! Cuts a schema to its bound, the deepest parts first (sheet 6.10).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{bytes, children, children_mut};
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
pub(super) fn fit(schema: Value) -> Option<(Value, bool)> {
    if fits(&schema) {
        return Some((schema, false));
    }
    let mut defs = BTreeMap::new();
    let deepest = depths(&schema, &mut defs);
    // Cut at level `low` fits, cut at level `high` does not.
    let (mut low, mut high) = (1, deepest + 1);
    let mut best = cut(&schema, &defs, low);
    if !fits(&best) {
        return None;
    }
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        let tried = cut(&schema, &defs, middle);
        if fits(&tried) {
            (low, best) = (middle, tried);
        } else {
            high = middle;
        }
    }
    Some((best, true))
}

fn fits(schema: &Value) -> bool {
    let (mut nodes, mut levels) = (0, 0);
    measure(schema, 1, &mut nodes, &mut levels);
    nodes <= NODES && levels <= LEVELS && bytes(schema) <= BYTES
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

/// The level of each definition: the least one it is referred to from. Gives the deepest level of all.
fn depths(schema: &Value, found: &mut BTreeMap<String, usize>) -> usize {
    let empty = Map::new();
    let defs = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    let mut deepest = 0;
    let mut open = BTreeSet::new();
    let mut bare = schema.clone();
    if let Some(map) = bare.as_object_mut() {
        map.remove("$defs");
    }
    walk(&bare, 0, &mut deepest, &mut open);
    while let Some((level, name)) = open.pop_first() {
        if found.contains_key(&name) {
            continue;
        }
        if let Some(body) = defs.get(&name) {
            walk(body, level, &mut deepest, &mut open);
        }
        found.insert(name, level);
    }
    deepest
}

fn walk(schema: &Value, level: usize, deepest: &mut usize, open: &mut BTreeSet<(usize, String)>) {
    *deepest = (*deepest).max(level);
    let Some(map) = schema.as_object() else { return };
    if let Some(name) = definition(map) {
        open.insert((level, name.to_owned()));
    }
    children(map, &mut |child, _| walk(child, level + 1, deepest, open));
}

fn definition(map: &Map<String, Value>) -> Option<&str> {
    map.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

/// The schema with everything below `level` replaced by its type and a word.
fn cut(schema: &Value, depths: &BTreeMap<String, usize>, level: usize) -> Value {
    let mut root = schema.clone();
    let defs = root.as_object_mut().and_then(|map| map.remove("$defs"));
    cut_at(&mut root, 0, level, depths);
    let mut kept = Map::new();
    if let Some(Value::Object(defs)) = defs {
        for (name, mut body) in defs {
            if let Some(depth) = depths.get(&name).filter(|depth| **depth <= level) {
                cut_at(&mut body, *depth, level, depths);
                kept.insert(name, body);
            }
        }
    }
    if !kept.is_empty()
        && let Some(map) = root.as_object_mut()
    {
        map.insert("$defs".to_owned(), kept.into());
    }
    root
}

fn cut_at(schema: &mut Value, at: usize, level: usize, depths: &BTreeMap<String, usize>) {
    let Some(map) = schema.as_object_mut() else { return };
    let leads_away = definition(map).is_some_and(|name| depths.get(name).is_none_or(|depth| *depth > level));
    let mut has_parts = leads_away;
    children(map, &mut |_, _| has_parts = true);
    if leads_away || (at > level && (has_parts || bytes(&Value::Object(map.clone())) > HEAVY)) {
        *schema = stub(map);
        return;
    }
    children_mut(map, &mut |child, _| cut_at(child, at + 1, level, depths));
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
