//! Where schemas stand inside a schema. `$defs` is not among them: it stands at the root of a finished schema alone.

use serde_json::{Map, Value};

/// Members whose value is a schema; the second says whether it applies to the same value.
const ONE: [(&str, bool); 10] = [
    ("additionalProperties", false),
    ("contains", false),
    ("else", true),
    ("if", true),
    ("items", false),
    ("not", true),
    ("propertyNames", false),
    ("then", true),
    ("unevaluatedItems", false),
    ("unevaluatedProperties", false),
];
/// Members whose value is a list of schemas.
const LIST: [(&str, bool); 4] = [("allOf", true), ("anyOf", true), ("oneOf", true), ("prefixItems", false)];
/// Members whose value is a map to schemas.
const MAP: [(&str, bool); 3] = [("dependentSchemas", true), ("patternProperties", false), ("properties", false)];

/// Whether a member's value is or holds schemas.
pub(super) fn holds_schemas(member: &str) -> bool {
    [ONE.as_slice(), &LIST, &MAP].iter().any(|members| members.iter().any(|(name, _)| *name == member))
}

/// Visits the schemas right inside a schema, and whether each applies to the same value.
pub(in super::super) fn children<'a>(schema: &'a Map<String, Value>, visit: &mut dyn FnMut(&'a Value, bool)) {
    for (member, value) in schema {
        if let Some((_, here)) = ONE.iter().find(|(name, _)| name == member) {
            visit(value, *here);
        } else if let (Some((_, here)), Value::Array(list)) = (LIST.iter().find(|(name, _)| name == member), value) {
            list.iter().for_each(|one| visit(one, *here));
        } else if let (Some((_, here)), Value::Object(map)) = (MAP.iter().find(|(name, _)| name == member), value) {
            map.values().for_each(|one| visit(one, *here));
        }
    }
}

/// As [`children`], to change them.
pub(in super::super) fn children_mut(schema: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value, bool)) {
    for (member, value) in schema.iter_mut() {
        if let Some((_, here)) = ONE.iter().find(|(name, _)| name == member) {
            visit(value, *here);
        } else if let Some((_, here)) = LIST.iter().find(|(name, _)| name == member) {
            value.as_array_mut().into_iter().flatten().for_each(|one| visit(one, *here));
        } else if let Some((_, here)) = MAP.iter().find(|(name, _)| name == member) {
            let map = value.as_object_mut().into_iter().flat_map(Map::values_mut);
            map.for_each(|one| visit(one, *here));
        }
    }
}

/// Visits every `$ref` with whether it applies to the value of the outermost schema; gives the levels of schemas.
pub(super) fn survey(schema: &Value, in_place: bool, visit: &mut dyn FnMut(&str, bool)) -> usize {
    let Some(map) = schema.as_object() else { return 1 };
    if let Some(Value::String(pointer)) = map.get("$ref") {
        visit(pointer, in_place);
    }
    let mut levels = 0;
    children(map, &mut |child, here| levels = levels.max(survey(child, in_place && here, visit)));
    levels + 1
}
