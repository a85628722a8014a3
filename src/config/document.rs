//! What was written, as a tree whose every value knows its line and column; made from YAML or JSON alike.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer};
use serde_saphyr::Spanned;

/// A line and a column, both from 1; zero where nothing is known, as inside a variable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

/// One value and where it was written.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) shape: Shape,
}

/// What a value is.
#[derive(Clone)]
pub(super) enum Shape {
    Null,
    Flag(bool),
    Whole(i64),
    Fraction(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// The key of a map's member.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) place: Place,
}

/// Not YAML, or not JSON: where, and what was expected there.
pub(super) struct Malformed {
    pub(super) place: Place,
    pub(super) expected: &'static str,
}

impl Node {
    /// A value that was made of a variable's text, and so has no place of its own.
    pub(super) fn placeless(shape: Shape) -> Self {
        Self { place: Place::default(), shape }
    }

    /// The member `key` of a map, or the item `key` of a list.
    pub(super) fn member(&self, key: &str) -> Option<(Place, &Node)> {
        match &self.shape {
            Shape::Map(members) => {
                members.iter().find(|(name, _)| name.text == key).map(|(name, node)| (name.place, node))
            }
            Shape::List(items) => items.get(key.parse::<usize>().ok()?).map(|node| (node.place, node)),
            _ => None,
        }
    }
}

/// Reads YAML. A text without any value is null.
pub(super) fn yaml(text: &str) -> Result<Node, Malformed> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    };
    let only_comments = text.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "---"
    });
    if only_comments {
        return Ok(Node::placeless(Shape::Null));
    }
    match serde_saphyr::from_str_with_options::<YamlNode>(text, options) {
        Ok(node) => Ok(node.into()),
        Err(error) => {
            let place = error.location().map(place_of).unwrap_or_default();
            let expected = match error.without_snippet() {
                serde_saphyr::Error::DuplicateMappingKey { .. } => "each key once",
                _ => "well-formed YAML, one document",
            };
            Err(Malformed { place, expected })
        }
    }
}

/// Reads JSON.
pub(super) fn json(text: &str) -> Result<Node, Malformed> {
    serde_json::from_str::<JsonNode>(text).map(Node::from).map_err(|error| {
        let place = Place { line: error.line().max(1) as u64, column: error.column().max(1) as u64 };
        let expected = if error.is_data() { "each key once" } else { "JSON" };
        Malformed { place, expected }
    })
}

fn place_of(location: serde_saphyr::Location) -> Place {
    Place { line: location.line(), column: location.column() }
}

/// A value of a YAML text.
struct YamlNode(Spanned<ShapeOf<Spanned<String>, YamlNode>>);

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl From<YamlNode> for Node {
    fn from(node: YamlNode) -> Self {
        Self { place: place_of(node.0.referenced), shape: node.0.value.0 }
    }
}

impl From<Spanned<String>> for Key {
    fn from(key: Spanned<String>) -> Self {
        Self { place: place_of(key.referenced), text: key.value }
    }
}

/// A value of a JSON text.
struct JsonNode(ShapeOf<String, JsonNode>);

impl<'de> Deserialize<'de> for JsonNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ShapeOf::deserialize(deserializer).map(Self)
    }
}

impl From<JsonNode> for Node {
    fn from(node: JsonNode) -> Self {
        Self::placeless(node.0.0)
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self { text, place: Place::default() }
    }
}

/// A shape read with keys and values of a format.
struct ShapeOf<K, V>(Shape, PhantomData<(K, V)>);

impl<'de, K, V> Deserialize<'de> for ShapeOf<K, V>
where
    K: Deserialize<'de> + Into<Key>,
    V: Deserialize<'de> + Into<Node>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor::<K, V>(PhantomData)).map(|shape| Self(shape, PhantomData))
    }
}

struct ShapeVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K, V> de::Visitor<'de> for ShapeVisitor<K, V>
where
    K: Deserialize<'de> + Into<Key>,
    V: Deserialize<'de> + Into<Node>,
{
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Shape, E> {
        Ok(Shape::Flag(flag))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Shape, E> {
        Ok(Shape::Whole(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Shape, E> {
        // No setting is that large, so losing digits changes no answer.
        Ok(i64::try_from(number).map_or(Shape::Fraction(f64::INFINITY), Shape::Whole))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Shape, E> {
        Ok(Shape::Fraction(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Shape, E> {
        Ok(Shape::Text(text.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<V>()? {
            list.push(item.into());
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut members: A) -> Result<Shape, A::Error> {
        let mut map: Vec<(Key, Node)> = Vec::new();
        while let Some(key) = members.next_key::<K>()? {
            let key: Key = key.into();
            if map.iter().any(|(other, _)| other.text == key.text) {
                return Err(de::Error::custom("a key twice"));
            }
            map.push((key, members.next_value::<V>()?.into()));
        }
        Ok(Shape::Map(map))
    }
}
