//! Reads a Rust value out of a [`Node`] with serde; a fault knows the path to where it is, and never repeats the value.

use std::fmt;

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::document::{Key, Node, Shape};

/// What was expected, and the path below the node that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// From the outermost key inwards.
    pub(super) path: Vec<String>,
    /// What was expected.
    pub(super) expected: String,
    /// Whether the key itself is at fault, and not its value.
    pub(super) key: bool,
}

impl Fault {
    /// A fault of the value that was read itself.
    pub(super) fn new(expected: impl Into<String>) -> Self {
        Self { path: Vec::new(), expected: expected.into(), key: false }
    }

    /// A fault of the value at `path`.
    pub(super) fn at(path: &[&str], expected: impl Into<String>) -> Self {
        Self { path: path.iter().map(|segment| (*segment).to_owned()).collect(), ..Self::new(expected) }
    }

    /// A fault of the key at the end of `path`.
    pub(super) fn at_key(path: &[&str], expected: impl Into<String>) -> Self {
        Self { key: true, ..Self::at(path, expected) }
    }

    /// The same fault seen from one level further out.
    pub(super) fn below(mut self, segment: impl Into<String>) -> Self {
        self.path.insert(0, segment.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(expected: T) -> Self {
        Self::new(expected.to_string())
    }

    fn invalid_type(_value: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(in_words(&expected.to_string()))
    }

    fn invalid_value(_value: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(in_words(&expected.to_string()))
    }

    fn invalid_length(_length: usize, expected: &dyn de::Expected) -> Self {
        Self::new(in_words(&expected.to_string()))
    }

    fn unknown_variant(_word: &str, words: &'static [&'static str]) -> Self {
        Self::new(format!("one of {}", words.join(", ")))
    }

    fn unknown_field(key: &str, keys: &'static [&'static str]) -> Self {
        Self::at_key(&[key], format!("one of {}", keys.join(", ")))
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(format!("a key {key}"))
    }
}

/// serde's words for what it expected, in an operator's.
fn in_words(expected: &str) -> String {
    match expected {
        "a string" => "text (a number or true, false has to be quoted)".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "i64" => "a whole number".to_owned(),
        other => other.to_owned(),
    }
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.shape {
            Shape::Null => visitor.visit_unit(),
            Shape::Flag(flag) => visitor.visit_bool(*flag),
            Shape::Whole(number) => visitor.visit_i64(*number),
            Shape::Fraction(number) => visitor.visit_f64(*number),
            Shape::Text(text) => visitor.visit_borrowed_str(text),
            Shape::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Shape::Map(members) => visitor.visit_map(Members { members, next: 0 }),
        }
    }

    /// Null is not "left out": a key whose value was forgotten must not open what a list would have closed.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.shape {
            Shape::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => Err(Fault::new(format!("one of {}", words.join(", ")))),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else {
            return Ok(None);
        };
        let index = self.next;
        self.next += 1;
        seed.deserialize(item).map(Some).map_err(|fault| fault.below(index.to_string()))
    }
}

struct Members<'de> {
    members: &'de [(Key, Node)],
    next: usize,
}

impl<'de> de::MapAccess<'de> for Members<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((key, _)) = self.members.get(self.next) else {
            return Ok(None);
        };
        seed.deserialize(de::value::BorrowedStrDeserializer::new(&key.text)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let Some((key, value)) = self.members.get(self.next) else {
            return Err(Fault::new("a value"));
        };
        self.next += 1;
        seed.deserialize(value).map_err(|fault| fault.below(key.text.clone()))
    }
}
