//! Puts the schema of one tool together: what is used once stands in place, the rest under `$defs`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::{Shape, Shapes, children_mut, simplify};
use crate::tool_servers::openapi::naming::{clean, short_hash};

/// Once this much is collected, in bytes, nothing further is followed: it would be cut again.
const ENOUGH: usize = 64 << 10;
/// The most that one more step of references may bring.
const MOST: usize = 256 << 10;
/// The most schema levels reached by putting schemas in place.
const LEVELS: usize = 24;

/// The finished schema of a tool.
pub(in super::super) struct Assembled {
    pub(in super::super) schema: Value,
    pub(in super::super) notes: BTreeSet<String>,
    /// Parts of it were left out for its size.
    pub(in super::super) simplified: bool,
}

/// What is known while references are rewritten.
struct Plan {
    included: BTreeMap<String, Rc<Shape>>,
    counts: BTreeMap<String, usize>,
    names: BTreeMap<String, String>,
    /// Those that lead back to themselves.
    cyclic: BTreeSet<String>,
    /// Those to be put under `$defs`.
    needed: BTreeSet<String>,
    reach: BTreeMap<String, Rc<BTreeSet<String>>>,
    simplified: bool,
    looped: bool,
}

impl Shapes<'_> {
    /// Puts a shaped schema together; nothing when it cannot be cut to its bound.
    pub(in super::super) fn assemble(&mut self, root: Value) -> Option<Assembled> {
        let mut plan = self.plan(&root);
        let mut schema = root;
        plan.rewrite(&mut schema, "", true, 0);
        let mut defs = Map::new();
        let mut done = BTreeSet::new();
        while let Some(pointer) = plan.needed.difference(&done).next().cloned() {
            if let Some(body) = plan.included.get(&pointer).cloned() {
                let mut value = body.value.clone();
                plan.rewrite(&mut value, &pointer, true, 0);
                defs.insert(plan.names[&pointer].clone(), value);
            }
            done.insert(pointer);
        }
        let mut notes: BTreeSet<String> = plan.included.values().flat_map(|body| body.notes.clone()).collect();
        if plan.looped {
            notes.insert("A schema made of itself was left open.".to_owned());
        }
        if !defs.is_empty()
            && let Some(map) = schema.as_object_mut()
        {
            map.insert("$defs".to_owned(), defs.into());
        }
        let fitted = simplify::fit(schema)?;
        let simplified = plan.simplified || fitted.1;
        let mut schema = fitted.0;
        schema.sort_all_objects();
        Some(Assembled { schema, notes, simplified })
    }

    /// Collects what is referred to, step by step, and names it.
    fn plan(&mut self, root: &Value) -> Plan {
        let start = Shape::new(root.clone(), BTreeSet::new());
        let mut plan = Plan {
            included: BTreeMap::new(),
            counts: start.refs.clone(),
            names: BTreeMap::new(),
            cyclic: BTreeSet::new(),
            needed: BTreeSet::new(),
            reach: BTreeMap::new(),
            simplified: false,
            looped: false,
        };
        let mut total = start.bytes;
        let mut step: BTreeSet<String> = start.refs.keys().cloned().collect();
        while !step.is_empty() {
            let bodies: Vec<(String, Rc<Shape>)> =
                step.iter().filter_map(|pointer| Some((pointer.clone(), self.body(pointer)?))).collect();
            let more: usize = bodies.iter().map(|(_, body)| body.bytes).sum();
            if total > ENOUGH || total + more > MOST {
                plan.simplified = true;
                break;
            }
            total += more;
            step = BTreeSet::new();
            for (pointer, body) in bodies {
                for (target, count) in &body.refs {
                    *plan.counts.entry(target.clone()).or_default() += count;
                    step.insert(target.clone());
                }
                plan.included.insert(pointer, body);
            }
            step.retain(|pointer| !plan.included.contains_key(pointer));
        }
        for pointer in plan.included.keys().cloned().collect::<Vec<_>>() {
            let reach = self.reach(&pointer);
            plan.reach.insert(pointer, reach);
        }
        plan.name();
        plan.cyclic = super::cycles::cyclic(&plan.included);
        plan
    }

    /// The schemas that apply to the same value as the one at `pointer`.
    fn reach(&mut self, pointer: &str) -> Rc<BTreeSet<String>> {
        if let Some(reach) = self.reach.get(pointer) {
            return Rc::clone(reach);
        }
        let mut reach = BTreeSet::new();
        let mut open = vec![pointer.to_owned()];
        while let Some(next) = open.pop() {
            for target in self.body(&next).iter().flat_map(|body| &body.in_place) {
                if reach.insert(target.clone()) {
                    open.push(target.clone());
                }
            }
        }
        let reach = Rc::new(reach);
        self.reach.insert(pointer.to_owned(), Rc::clone(&reach));
        reach
    }
}

impl Plan {
    /// The last segment of each pointer, with a hash where two are equal.
    fn name(&mut self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for pointer in self.included.keys() {
            *counts.entry(last(pointer)).or_default() += 1;
        }
        for pointer in self.included.keys() {
            let name = last(pointer);
            let name = if counts[&name] > 1 { format!("{name}_{}", short_hash(pointer)) } else { name };
            self.names.insert(pointer.clone(), name);
        }
    }

    /// Rewrites the references of a schema that stands in the body of `inside`; `here` while it applies to the same
    /// value as that body.
    fn rewrite(&mut self, schema: &mut Value, inside: &str, here: bool, level: usize) {
        let Some(map) = schema.as_object_mut() else { return };
        children_mut(map, &mut |child, same| self.rewrite(child, inside, here && same, level + 1));
        let Some(Value::String(pointer)) = map.remove("$ref") else {
            return;
        };
        let Some(body) = self.included.get(&pointer).cloned() else {
            map.entry("description").or_insert_with(|| "(simplified)".into());
            self.simplified = true;
            return;
        };
        let closes = pointer == inside || self.reach.get(&pointer).is_some_and(|reach| reach.contains(inside));
        if here && closes {
            self.looped = true;
            return;
        }
        let is_shared = self.counts.get(&pointer) != Some(&1) || self.cyclic.contains(&pointer);
        if is_shared || level + body.levels > LEVELS {
            map.insert("$ref".to_owned(), format!("#/$defs/{}", self.names[&pointer]).into());
            self.needed.insert(pointer);
            return;
        }
        let mut value = body.value.clone();
        self.rewrite(&mut value, &pointer, true, level);
        place(map, value, schema_is_bare);
    }
}

fn schema_is_bare(map: &Map<String, Value>) -> bool {
    map.keys().all(|member| matches!(member.as_str(), "description" | "title" | "deprecated" | "default" | "examples"))
}

/// Puts a referred schema in the place of its reference, whose own words win.
fn place(map: &mut Map<String, Value>, value: Value, is_bare: fn(&Map<String, Value>) -> bool) {
    match value {
        Value::Object(body) if is_bare(map) => {
            for (member, value) in body {
                map.entry(member).or_insert(value);
            }
        }
        value => {
            let parts = map.entry("allOf").or_insert_with(|| json!([]));
            if let Some(parts) = parts.as_array_mut() {
                parts.push(value);
            }
        }
    }
}

fn last(pointer: &str) -> String {
    let segment = pointer.rsplit('/').next().unwrap_or_default();
    let segment = segment.replace("~1", "/").replace("~0", "~");
    let name = clean(&segment);
    if name.is_empty() { "schema".to_owned() } else { name }
}
