//! Schemas of a document, brought to JSON Schema 2020-12 (sheet 6.8).
//!
//! Each referenced schema is shaped once a document, by itself: its own references stay as pointers into the
//! document. [`Shapes::assemble`] then puts a tool's schema together. Whatever is not known to compile is dropped
//! while shaping, so the result compiles by construction.

mod assemble;
mod combine;
mod cycles;
mod keywords;
mod positions;
mod simplify;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::source::{Found, Source};

pub(super) use assemble::Assembled;
pub(super) use positions::{children, children_mut};

/// The most schema levels shaped by nesting alone.
const LEVELS: usize = 100;
/// The longest description of a property, in bytes.
const DESCRIPTION: usize = 1024;

/// Which way a schema is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// What is sent: members only the service writes are taken out.
    Request,
    /// What comes back.
    Response,
}

/// The shaped schemas of a document in one direction.
pub(super) struct Shapes<'a> {
    source: &'a Source,
    direction: Direction,
    bodies: BTreeMap<String, Rc<Shape>>,
    under_way: BTreeSet<String>,
    reach: BTreeMap<String, Rc<BTreeSet<String>>>,
    patterns: BTreeMap<String, bool>,
    notes: BTreeSet<String>,
}

/// One shaped schema, by itself.
struct Shape {
    value: Value,
    /// The pointers it refers to, and how often.
    refs: BTreeMap<String, usize>,
    /// Those of them that apply to the same value as the schema itself.
    in_place: BTreeSet<String>,
    bytes: usize,
    levels: usize,
    notes: BTreeSet<String>,
}

impl Shape {
    fn new(value: Value, notes: BTreeSet<String>) -> Self {
        let mut refs = BTreeMap::new();
        let mut in_place = BTreeSet::new();
        let levels = positions::survey(&value, true, &mut |pointer, here| {
            *refs.entry(pointer.to_owned()).or_default() += 1;
            if here {
                in_place.insert(pointer.to_owned());
            }
        });
        Self { bytes: weight(&value), value, refs, in_place, levels, notes }
    }
}

/// The size as compact JSON.
pub(super) fn bytes(value: &Value) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// About the size as compact JSON, without writing it: the size itself is at most six times as much, where every
/// character is escaped.
fn weight(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.iter().map(|(name, inner)| name.len() + 4 + weight(inner)).sum::<usize>() + 1,
        Value::Array(list) => list.iter().map(|inner| 1 + weight(inner)).sum::<usize>() + 1,
        Value::String(text) => text.len() + 2,
        _ => 4,
    }
}

impl<'a> Shapes<'a> {
    pub(super) fn new(source: &'a Source, direction: Direction) -> Self {
        Self {
            source,
            direction,
            bodies: BTreeMap::new(),
            under_way: BTreeSet::new(),
            reach: BTreeMap::new(),
            patterns: BTreeMap::new(),
            notes: BTreeSet::new(),
        }
    }

    /// The notes taken since the last time.
    pub(super) fn take_notes(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.notes)
    }

    /// Shapes a schema; references in it stay pointers into the document.
    pub(super) fn shape(&mut self, schema: &Value) -> Value {
        self.shape_at(schema, 0)
    }

    /// The shaped schema behind a bare reference; any other is given back.
    pub(super) fn opened(&mut self, shaped: &Value) -> Value {
        match shaped.get("$ref").and_then(Value::as_str) {
            Some(pointer) => self.body(pointer).map_or(json!({}), |body| body.value.clone()),
            None => shaped.clone(),
        }
    }

    fn shape_at(&mut self, schema: &Value, level: usize) -> Value {
        if level > LEVELS {
            return self.nothing("A schema nested too deeply was left open.");
        }
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(map) => match map.get("$ref") {
                Some(Value::String(reference)) => self.reference(reference, map, level),
                _ => self.object(map, level),
            },
            _ => self.nothing("A schema that is not an object was left open."),
        }
    }

    fn nothing(&mut self, note: &str) -> Value {
        self.notes.insert(note.to_owned());
        json!({})
    }

    fn object(&mut self, map: &Map<String, Value>, level: usize) -> Value {
        let mut out = Map::new();
        self.keywords(map, &mut out, level);
        self.combinations(map, &mut out, level);
        if let Some(pointer) = map.get("$dynamicRef").and_then(Value::as_str) {
            if let Some(pointer) = self.source.find_dynamic(pointer) {
                out.insert("$ref".to_owned(), pointer.into());
            } else {
                self.notes.insert("A dynamic reference to nothing was left open.".to_owned());
            }
        }
        let nullable = self.source.is_3_0 && map.get("nullable") == Some(&Value::Bool(true));
        if nullable { combine::nullable(out) } else { Value::Object(out) }
    }

    fn reference(&mut self, reference: &str, map: &Map<String, Value>, level: usize) -> Value {
        let target = match self.source.find(reference) {
            Found::Here(value, pointer) => self.settle(value, pointer),
            Found::Remote => {
                let shown = super::prose::one_line(reference, 100);
                return self.nothing(&format!("The schema {shown:?} is outside the document and was left open."));
            }
            Found::Missing => None,
        };
        let Some(pointer) = target else {
            let shown = super::prose::one_line(reference, 100);
            return self.nothing(&format!("The reference {shown:?} leads to nothing and was left open."));
        };
        if !self.source.is_3_0 {
            let mut siblings = map.clone();
            siblings.remove("$ref");
            let mut out = match self.object(&siblings, level) {
                Value::Object(out) => out,
                _ => Map::new(),
            };
            out.insert("$ref".to_owned(), pointer.into());
            return Value::Object(out);
        }
        let mut out = Map::new();
        out.insert("$ref".to_owned(), pointer.into());
        if map.get("nullable") == Some(&Value::Bool(true)) {
            out = Map::from_iter([("anyOf".to_owned(), json!([out, { "type": "null" }]))]);
        }
        if let Some(Value::String(words)) = map.get("description") {
            out.insert("description".to_owned(), super::prose::cut(words, DESCRIPTION).into());
        }
        Value::Object(out)
    }

    /// The pointer at the end of a chain of bare references, or nothing where the chain closes.
    fn settle(&self, value: &Value, pointer: String) -> Option<String> {
        let (mut value, mut pointer) = (value, pointer);
        for _ in 0..32 {
            let next = match value {
                Value::Object(map) if self.source.is_3_0 || map.len() == 1 => map.get("$ref").and_then(Value::as_str),
                _ => None,
            };
            let Some(next) = next else { return Some(pointer) };
            match self.source.find(next) {
                Found::Here(found, at) => (value, pointer) = (found, at),
                Found::Remote | Found::Missing => return Some(pointer),
            }
        }
        None
    }

    /// The schema at a pointer, shaped once; nothing while it is being shaped, which only a schema made of itself meets.
    fn body(&mut self, pointer: &str) -> Option<Rc<Shape>> {
        if let Some(body) = self.bodies.get(pointer) {
            return Some(Rc::clone(body));
        }
        let schema = self.source.root.pointer(pointer.trim_start_matches('#'))?;
        if self.under_way.len() > LEVELS || !self.under_way.insert(pointer.to_owned()) {
            return None;
        }
        let outer = self.take_notes();
        let value = self.shape_at(schema, 0);
        let notes = std::mem::replace(&mut self.notes, outer);
        self.under_way.remove(pointer);
        let body = Rc::new(Shape::new(value, notes));
        self.bodies.insert(pointer.to_owned(), Rc::clone(&body));
        Some(body)
    }

    /// Whether the service alone writes this property.
    fn is_read_only(&self, schema: &Value) -> bool {
        if schema.get("readOnly") == Some(&Value::Bool(true)) {
            return true;
        }
        match self.source.follow(schema) {
            Ok(target) => target.get("readOnly") == Some(&Value::Bool(true)),
            Err(_) => false,
        }
    }
}
