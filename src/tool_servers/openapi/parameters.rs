//! Parameters of an operation: which are asked for, under which property, and how they are written (sheet 6.4).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::document::{Because, Fault, Placement, text_of};
use super::naming::{clean, short_hash};
use super::schema::Shapes;
use super::security::{CredentialPlace, is_place};
use super::source::Source;
use super::tool::{Parameter, Place, Style};
use crate::egress::header_forbidden;

/// The longest property name.
const LONGEST: usize = 64;
/// Whether a header is never taken from an argument: those nobody gives, and those that follow from the operation.
pub(super) fn is_left_out(header: &str) -> bool {
    header_forbidden(header) || ["accept", "content-type"].iter().any(|ours| header.eq_ignore_ascii_case(ours))
}

/// The names between braces of a path, in order.
pub(super) fn placeholders(path: &str) -> Result<Vec<&str>, Fault> {
    let bad = |words: &str| (Because::BadPath, words.to_owned());
    if !path.starts_with('/') {
        return Err(bad("The path does not begin with a slash."));
    }
    if path.split('/').any(|segment| matches!(segment, "." | "..")) || path.contains(['\\', '\r', '\n', '\0']) {
        return Err(bad("The path has a segment that is never sent."));
    }
    let mut names = Vec::new();
    let mut rest = path;
    while let Some(start) = rest.find(['{', '}']) {
        let after = &rest[start + 1..];
        let end = after.find(['{', '}']).filter(|end| after[*end..].starts_with('}'));
        let (true, Some(end)) = (rest[start..].starts_with('{'), end) else {
            return Err(bad("The path has unbalanced braces."));
        };
        let name = &after[..end];
        if name.is_empty() || names.contains(&name) {
            return Err(bad("The path has an unnamed placeholder, or one twice."));
        }
        names.push(name);
        rest = &after[end + 1..];
    }
    Ok(names)
}

/// The properties made of parameters.
pub(super) struct Properties {
    pub(super) properties: Map<String, Value>,
    pub(super) required: Vec<String>,
    pub(super) parameters: Vec<Parameter>,
}

/// What the parameters of a document are read with.
pub(super) struct Reading<'a> {
    pub(super) source: &'a Source,
    pub(super) place: &'a Placement,
    pub(super) credentials: &'a [CredentialPlace],
}

struct Read<'a> {
    name: &'a str,
    place: Place,
    required: bool,
    value: &'a Value,
}

impl<'a> Reading<'a> {
    /// Reads the parameters of an operation and of its path item.
    pub(super) fn properties(
        &self,
        (operation, path_item): (&'a Value, &'a Value),
        placeholders: &[&'a str],
        has_body: bool,
        shapes: &mut Shapes<'_>,
        notes: &mut BTreeSet<String>,
    ) -> Result<Properties, Fault> {
        let mut list = self.merged(operation, path_item, placeholders, notes)?;
        list.sort_by_key(|one| one.place);
        let mut made = Properties { properties: Map::new(), required: Vec::new(), parameters: Vec::new() };
        let mut taken: BTreeSet<String> = BTreeSet::new();
        if has_body {
            taken.insert("body".to_owned());
        }
        for one in &list {
            let property = property_name(one.name, one.place, &taken);
            taken.insert(property.clone());
            self.add(one, property, shapes, &mut made)?;
        }
        for name in placeholders {
            if !list.iter().any(|one| one.place == Place::Path && one.name == *name) {
                let property = property_name(name, Place::Path, &taken);
                taken.insert(property.clone());
                made.properties.insert(property.clone(), json!({ "type": "string" }));
                made.required.push(property.clone());
                made.parameters.push(plain(property, (*name).to_owned(), Place::Path));
            }
        }
        Ok(made)
    }

    /// The parameters asked for; those of the operation win over those of the path item.
    fn merged(
        &self,
        operation: &'a Value,
        path_item: &'a Value,
        placeholders: &[&str],
        notes: &mut BTreeSet<String>,
    ) -> Result<Vec<Read<'a>>, Fault> {
        let mut list: Vec<Read<'a>> = Vec::new();
        for holder in [path_item, operation] {
            let values = holder.get("parameters").and_then(Value::as_array);
            for value in values.into_iter().flatten() {
                let value = self.source.follow(value)?;
                match read(value) {
                    Ok(one) => match list.iter_mut().find(|had| had.name == one.name && had.place == one.place) {
                        Some(had) => *had = one,
                        None => list.push(one),
                    },
                    Err(fault) if value.get("required") == Some(&Value::Bool(true)) => return Err(fault),
                    Err((_, words)) => {
                        notes.insert(format!("An optional parameter was left out. {words}"));
                    }
                }
            }
        }
        let mut kept = Vec::new();
        for one in list {
            if self.is_asked(&one, placeholders, notes)? {
                kept.push(one);
            }
        }
        Ok(kept)
    }

    fn is_asked(&self, one: &Read<'_>, placeholders: &[&str], notes: &mut BTreeSet<String>) -> Result<bool, Fault> {
        let shown = super::prose::one_line(one.name, 80);
        if one.place == Place::Path {
            let stands = placeholders.contains(&one.name);
            if !stands {
                notes.insert(format!("The path has no place for the parameter {shown:?}; it was left out."));
            }
            return Ok(stands);
        }
        let is = |place: Place, name: &str| is_place(one.place, one.name, place, name);
        if self.place.credential.as_ref().is_some_and(|(place, name)| is(*place, name)) {
            return Ok(false);
        }
        let is_key = self.credentials.iter().any(|key| is(key.place, &key.name)) || is(Place::Header, "Authorization");
        if is_key && one.required {
            let words = format!("The required parameter {shown:?} could only be a credential.");
            return Err((Because::CredentialParameter, words));
        }
        let is_ours = one.place == Place::Header && is_left_out(one.name);
        Ok(!is_key && !is_ours)
    }

    fn add(
        &self,
        one: &Read<'_>,
        property: String,
        shapes: &mut Shapes<'_>,
        made: &mut Properties,
    ) -> Result<(), Fault> {
        let content = one.value.get("content").and_then(Value::as_object).and_then(|map| map.iter().next());
        let (schema, as_json) = match content {
            Some((kind, content)) => (content.get("schema"), super::bodies::is_json(kind)),
            None => (one.value.get("schema"), false),
        };
        let mut shaped = schema.map_or(json!({}), |schema| shapes.shape(schema));
        if shaped == Value::Bool(false) {
            if one.required {
                let words = format!("No value fits the parameter {:?}.", super::prose::one_line(one.name, 80));
                return Err((Because::ImpossibleInput, words));
            }
            return Ok(());
        }
        if one.value.get("allowEmptyValue") == Some(&Value::Bool(true)) && shaped["type"] != "string" {
            shaped = json!({ "anyOf": [shaped, { "const": "" }] });
        }
        describe(&mut shaped, one.value);
        // The caller fills this header in where it is left out.
        let is_filled = one.place == Place::Header && one.name.eq_ignore_ascii_case("Idempotency-Key");
        if one.required && !is_filled {
            made.required.push(property.clone());
        }
        made.properties.insert(property.clone(), shaped);
        let style = Style::of(one.place, text_of(one.value, "style"));
        let explode = one.value.get("explode").and_then(Value::as_bool);
        made.parameters.push(Parameter {
            required: one.required && !is_filled,
            style,
            explode: explode.unwrap_or(style == Style::Form && one.place == Place::Query),
            allow_reserved: one.place == Place::Query && one.value.get("allowReserved") == Some(&Value::Bool(true)),
            as_json,
            ..plain(property, one.name.to_owned(), one.place)
        });
        Ok(())
    }
}

fn read(value: &Value) -> Result<Read<'_>, Fault> {
    let bad = |words: &str| (Because::BadParameter, words.to_owned());
    let name = text_of(value, "name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| bad("A parameter has no name."))?;
    let place = text_of(value, "in").and_then(Place::of);
    let shown = super::prose::one_line(name, 80);
    let place = place.ok_or_else(|| bad(&format!("The parameter {shown:?} has no known place.")))?;
    if value.get("schema").is_none() && !value.get("content").is_some_and(Value::is_object) {
        return Err(bad(&format!("The parameter {shown:?} has neither a schema nor content.")));
    }
    if place == Place::Header && http::HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Err(bad(&format!("{shown:?} is not the name of a header.")));
    }
    Ok(Read { name, place, required: place == Place::Path || value.get("required") == Some(&Value::Bool(true)), value })
}

fn describe(shaped: &mut Value, parameter: &Value) {
    if *shaped == Value::Bool(true) {
        *shaped = json!({});
    }
    let Some(map) = shaped.as_object_mut() else { return };
    if let Some(words) = text_of(parameter, "description").filter(|words| !words.is_empty()) {
        map.insert("description".to_owned(), super::prose::cut(words, 1024).into());
    }
    if parameter.get("deprecated") == Some(&Value::Bool(true)) {
        map.insert("deprecated".to_owned(), true.into());
    }
    if let Some(example) = parameter.get("example").filter(|example| super::schema::bytes(example) <= 1024) {
        map.entry("examples").or_insert_with(|| json!([example]));
    }
}

/// A parameter in the default style of its place.
pub(super) fn plain(property: String, name: String, place: Place) -> Parameter {
    Parameter {
        property,
        name,
        place,
        required: place == Place::Path,
        style: Style::of(place, None),
        explode: place == Place::Query,
        allow_reserved: false,
        as_json: false,
    }
}

/// The property of a parameter: its name, cleaned where some models would refuse it, and apart from those taken.
fn property_name(name: &str, place: Place, taken: &BTreeSet<String>) -> String {
    let is_fit = |name: &str| {
        (1..=LONGEST).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    };
    let cleaned = if is_fit(name) { name.to_owned() } else { clean(name) };
    let prefixed = format!("{}_{cleaned}", place.word());
    for candidate in [cleaned, prefixed.clone()] {
        if is_fit(&candidate) && !taken.contains(&candidate) {
            return candidate;
        }
    }
    let hash = short_hash(&format!("{} {name}", place.word()));
    format!("{}_{hash}", super::prose::cut(&prefixed, LONGEST - 9))
}
