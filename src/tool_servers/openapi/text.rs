//! The text of a document as one JSON value, under its bounds: JSON first, then YAML 1.2.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::document::{Bounds, Refusal};

/// The most doubled keys named.
const WARNINGS: usize = 20;

/// Reads the text. The objects come out sorted, so that nothing after this can depend on the order of members.
pub(super) fn read(text: &str, bounds: &Bounds) -> Result<(Value, Vec<String>), Refusal> {
    if text.len() > bounds.bytes {
        return Err(Refusal::new(format!("The document has {} bytes; at most {} are read.", text.len(), bounds.bytes)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut root, warnings) = if text.trim_start().starts_with(['{', '[']) {
        match json(text, bounds) {
            Ok(read) => read,
            Err(Fault::Over(refusal)) => return Err(refusal),
            // Deeper than the JSON reader goes, or YAML in flow style: the YAML reader takes both.
            Err(Fault::Form(words)) => match yaml(text, bounds) {
                Ok(read) => read,
                Err(Fault::Over(refusal)) => return Err(refusal),
                Err(Fault::Form(_)) => return Err(Refusal::new(format!("The document is not JSON: {words}."))),
            },
        }
    } else {
        yaml(text, bounds).map_err(|fault| match fault {
            Fault::Over(refusal) => refusal,
            Fault::Form(words) => Refusal::new(format!("The document is neither JSON nor YAML: {words}.")),
        })?
    };
    root.sort_all_objects();
    Ok((root, warnings))
}

enum Fault {
    /// Over a bound: no other form is tried.
    Over(Refusal),
    /// Not of this form.
    Form(String),
}

fn json(text: &str, bounds: &Bounds) -> Result<(Value, Vec<String>), Fault> {
    let count = Count::new(bounds);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value =
        Seed { count: &count, level: 0 }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    count.finish(value.map_err(|error| format!("line {}, column {}", error.line(), error.column())))
}

fn yaml(text: &str, bounds: &Bounds) -> Result<(Value, Vec<String>), Fault> {
    let count = Count::new(bounds);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: bounds.nodes,
            max_events: bounds.nodes.saturating_mul(3),
            max_depth: bounds.levels + 1,
            max_aliases: bounds.aliases,
            max_anchors: bounds.nodes,
            max_merge_keys: bounds.nodes,
            max_documents: 1,
            max_total_scalar_bytes: bounds.expanded_bytes,
            max_total_comment_bytes: bounds.bytes,
            max_recorded_anchor_events: bounds.nodes.saturating_mul(3),
            simple_key_max_lookahead: 8192,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: bounds.nodes.saturating_mul(3),
            max_replay_stack_depth: 64,
        },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
        null_as_string: true,
        underscored_numbers_as_strings: true,
        leading_zero_numbers_as_strings: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
        Seed { count: &count, level: 0 }.deserialize(reader)
    });
    count.finish(value.map_err(|error| match (error.location(), &error) {
        (_, serde_saphyr::Error::Budget { .. }) => "it is over a bound of its size".to_owned(),
        (Some(location), serde_saphyr::Error::UnsupportedTag { .. }) => {
            format!("a tag in line {} is not taken", location.line())
        }
        (Some(location), _) => format!("line {}, column {}", location.line(), location.column()),
        (None, _) => "it cannot be read".to_owned(),
    }))
}

/// What was counted while reading.
struct Count<'a> {
    bounds: &'a Bounds,
    nodes: Cell<usize>,
    bytes: Cell<usize>,
    over: Cell<Option<&'static str>>,
    doubled: RefCell<Vec<String>>,
}

impl<'a> Count<'a> {
    fn new(bounds: &'a Bounds) -> Self {
        Self {
            bounds,
            nodes: Cell::new(0),
            bytes: Cell::new(0),
            over: Cell::new(None),
            doubled: RefCell::new(Vec::new()),
        }
    }

    fn node<E: Error>(&self, level: usize) -> Result<(), E> {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > self.bounds.nodes {
            return Err(self.breach("more values than are read"));
        }
        if level > self.bounds.levels {
            return Err(self.breach("more levels than are read"));
        }
        Ok(())
    }

    fn text<E: Error>(&self, length: usize) -> Result<(), E> {
        self.bytes.set(self.bytes.get() + length);
        if self.bytes.get() > self.bounds.expanded_bytes {
            return Err(self.breach("more text than is read, once its aliases are put in place"));
        }
        Ok(())
    }

    fn breach<E: Error>(&self, words: &'static str) -> E {
        self.over.set(Some(words));
        E::custom(words)
    }

    fn finish(self, value: Result<Value, String>) -> Result<(Value, Vec<String>), Fault> {
        match (value, self.over.get()) {
            (Ok(value), _) => Ok((value, self.doubled.into_inner())),
            (Err(_), Some(words)) => Err(Fault::Over(Refusal::new(format!("The document has {words}.")))),
            (Err(words), None) => Err(Fault::Form(words)),
        }
    }
}

/// Reads one value at a level, counting.
#[derive(Clone, Copy)]
struct Seed<'a> {
    count: &'a Count<'a>,
    level: usize,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count.node(self.level)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        Ok(Number::from_i128(value).map_or(Value::Null, Value::Number))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        Ok(Number::from_u128(value).map_or(Value::Null, Value::Number))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.count.text(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.count.text(value.len())?;
        Ok(Value::String(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = Seed { level: self.level + 1, ..self };
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = Seed { level: self.level + 1, ..self };
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.count.text(key.len())?;
            let value = members.next_value_seed(inner)?;
            if map.contains_key(&key) {
                let mut doubled = self.count.doubled.borrow_mut();
                if doubled.len() < WARNINGS {
                    doubled.push(format!("The key {key:?} is given twice; the last one counts."));
                }
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
