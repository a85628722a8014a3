//! JSON Schemas of inputs and outputs, made from the types, and the words for what does not fit them.
//!
//! An input schema is flat enough for every client: no `$ref`, no combinators (`mcp.md` 6.1).

use std::collections::BTreeMap;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::connections::remove_connection;
use super::history::get_event;
use super::tool_servers::execute;
use super::{grants, invitations};
use crate::connections::input;
use crate::error::{Issue, MAX_ISSUES, Problem, Result};
use crate::identity::caller::PERSON_PATTERN;
use crate::identity::keys;
use crate::playbooks;

/// The most characters of a name that a refusal repeats.
const LONGEST_POINTER: usize = 256;

/// Forms that texts of our inputs have, and the words for a text that has another.
const FORMS: [(&str, &str); 13] = [
    (playbooks::ID_PATTERN, "must be 3 to 48 lowercase letters, digits and hyphens, beginning with a letter"),
    (playbooks::NOT_BLANK, "must not be blank"),
    (input::NAME_PATTERN, "must be 1 to 32 lowercase letters, digits and hyphens, beginning with a letter"),
    (input::TOOL_PATTERN, "must be 1 to 128 letters, digits and the signs _ - . alone"),
    (input::TOKEN_PATTERN, "must be letters, digits and the signs !#$%&'*+.^_|~- alone"),
    (remove_connection::ID_PATTERN, "must be the id of a connection, as list_connections shows it"),
    (get_event::ID_PATTERN, "must be the id of an event, as list_playbook_events shows it"),
    (execute::KEY_PATTERN, "must be 1 to 128 visible ASCII characters"),
    (keys::NAME_PATTERN, "must be 1 to 32 lowercase letters, digits and hyphens"),
    (keys::ID_PATTERN, "must be the id of a key, as list_keys shows it"),
    (invitations::ID_PATTERN, "must be the id of an invitation, as list_invitations shows it"),
    (grants::ID_PATTERN, "must be the id of a grant, as list_grants shows it"),
    (PERSON_PATTERN, "must be the caller id of a person, person:user_ and 22 letters and digits"),
];

/// An input's schema and its checker.
pub struct InputSchema {
    /// The schema, as tools show it.
    pub schema: Value,
    checker: jsonschema::Validator,
}

impl InputSchema {
    /// The schema of `T`.
    #[expect(clippy::expect_used, reason = "made from our own types: a fault stops every start, and a test first")]
    pub fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().for_deserialize();
        let mut schema = generate::<T>(settings);
        if let Some(object) = schema.as_object_mut() {
            // The words on the Rust type are for readers of the code.
            object.remove("description");
            object.entry("properties").or_insert_with(|| json!({}));
            object.entry("required").or_insert_with(|| json!([]));
            object.insert("additionalProperties".into(), false.into());
        }
        let checker = jsonschema::draft202012::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .should_validate_formats(true)
            .build(&schema)
            .expect("the input's schema compiles");
        Self { schema, checker }
    }

    /// Checks `input`, telling every fault at once.
    pub fn check(&self, input: &Value) -> Result<()> {
        let mut issues: Vec<Issue> = Vec::new();
        if !self.checker.is_valid(input) {
            // What is of the wrong type or empty fits no list and no form either, which nobody needs to be told.
            let mut enough: BTreeMap<String, String> = BTreeMap::new();
            for error in self.checker.iter_errors(input).take(MAX_ISSUES) {
                issues_of(&error, &mut issues);
                if let (true, Some(issue)) = (says_enough(error.kind()), issues.last()) {
                    enough.insert(issue.pointer.clone(), issue.detail.clone());
                }
            }
            issues.retain(|issue| enough.get(&issue.pointer).is_none_or(|detail| *detail == issue.detail));
        }
        storable(&self.schema, input, "", &mut issues);
        if issues.is_empty() { Ok(()) } else { Err(Problem::invalid_all(issues)) }
    }

    /// The declared type of a field, to read a query's text by.
    pub fn field_type(&self, field: &str) -> Option<&str> {
        self.schema["properties"][field]["type"].as_str()
    }
}

/// A text of a field may not hold NUL, which PostgreSQL cannot keep; both databases refuse it, so that they stay alike.
/// Values of any form, such as a tool's arguments, are kept as JSON and may hold it.
fn storable(schema: &Value, value: &Value, at: &str, issues: &mut Vec<Issue>) {
    match value {
        Value::String(text) if text.contains('\0') => issues.push(Issue::new(at, "must not hold the character NUL")),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                storable(&schema["items"], item, &format!("{at}/{index}"), issues);
            }
        }
        Value::Object(members) => {
            let further = schema.get("additionalProperties").filter(|further| further.is_object());
            for (name, inner) in members {
                let Some(field) = schema["properties"].get(name).or(further) else { continue };
                let at = format!("{at}/{}", shortened(&escape(name)));
                if name.contains('\0') {
                    issues.push(Issue::new(at.as_str(), "must not hold the character NUL in its name"));
                }
                storable(field, inner, &at, issues);
            }
        }
        _ => {}
    }
}

/// The schema of an output.
pub fn output<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// Takes out what the type system adds and no reader needs: titles of types, integer widths, the null of an `Option`.
fn tidy(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.get("title").is_some_and(Value::is_string) {
        object.remove("title");
    }
    if object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
    {
        object.remove("format");
    }
    drop_null(object);
    words_only(object);
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(tidy);
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(keyword) {
            tidy(inner);
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(branches)) = object.get_mut(keyword) {
            branches.iter_mut().for_each(tidy);
        }
    }
}

/// A choice of fixed texts, each with words for readers of the code, becomes a plain list of them.
fn words_only(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get("oneOf") else { return };
    let listed = |branch: &Value| match (branch.get("const"), branch.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(many))) => Some(many.clone()),
        _ => None,
    };
    let texts: Option<Vec<Vec<Value>>> = branches.iter().map(listed).collect();
    if let Some(texts) = texts.map(|texts| texts.concat()).filter(|texts| texts.iter().all(Value::is_string)) {
        object.remove("oneOf");
        object.insert("type".into(), "string".into());
        object.insert("enum".into(), texts.into());
    }
}

fn drop_null(object: &mut Map<String, Value>) {
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(branches)) = object.get_mut("anyOf") else { return };
    branches.retain(|branch| branch["type"] != "null");
    if let [Value::Object(only)] = branches.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (keyword, value) in only {
            object.entry(keyword).or_insert(value);
        }
    }
}

/// The words for what a checker found, wherever it checked.
pub fn issues_of(error: &jsonschema::ValidationError<'_>, issues: &mut Vec<Issue>) {
    let at = shortened(&error.instance_path().to_string());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            issues.push(Issue::new(format!("{at}/{}", escape(name)), "is required and missing"));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                issues.push(Issue::new(format!("{at}/{}", shortened(&escape(name))), "is not a field here"));
            }
        }
        kind => issues.push(Issue::new(at, words(kind))),
    }
}

/// A pointer as it is told: itself, unless somebody chose a name to be repeated at length.
fn shortened(pointer: &str) -> String {
    match pointer.char_indices().nth(LONGEST_POINTER) {
        Some((end, _)) => format!("{}…", &pointer[..end]),
        None => pointer.to_owned(),
    }
}

const fn says_enough(kind: &ValidationErrorKind) -> bool {
    matches!(kind, ValidationErrorKind::Type { .. } | ValidationErrorKind::MinLength { limit: 1 })
}

/// A member's name as a part of a JSON Pointer (RFC 6901, section 3).
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn words(kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Type { kind } => format!("must be {}", types(kind)),
        ValidationErrorKind::Enum { options } => format!("must be one of {}", list(options)),
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::MaxLength { limit } => format!("must have at most {limit} characters"),
        ValidationErrorKind::MinLength { limit: 1 } => "must not be empty".into(),
        ValidationErrorKind::MinLength { limit } => format!("must have at least {limit} characters"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} items"),
        ValidationErrorKind::MinItems { limit } => format!("must have at least {limit} items"),
        ValidationErrorKind::MaxProperties { limit } => format!("must have at most {limit} members"),
        ValidationErrorKind::MinProperties { limit } => format!("must have at least {limit} members"),
        ValidationErrorKind::UniqueItems => "must not hold the same item twice".into(),
        ValidationErrorKind::Format { format } => format_words(format),
        ValidationErrorKind::Pattern { pattern } => pattern_words(pattern),
        ValidationErrorKind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "fits none of the forms it may have".into()
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => "fits more than one of the forms it may have".into(),
        ValidationErrorKind::PropertyNames { .. } => "has a member whose name is not allowed".into(),
        other => format!("does not fit its schema ({})", other.keyword()),
    }
}

/// The words for a text that does not have the form of `pattern`.
pub fn pattern_words(pattern: &str) -> String {
    let known = FORMS.iter().find(|(form, _)| *form == pattern);
    known.map_or_else(|| format!("must match the pattern {pattern}"), |(_, words)| (*words).to_owned())
}

fn format_words(format: &str) -> String {
    match format {
        "uuid" => "must be a UUID".into(),
        "date-time" => "must be an instant in ISO 8601 with its offset, such as 2026-10-01T09:30:00Z".into(),
        other => format!("must have the format {other}"),
    }
}

fn types(kind: &TypeKind) -> String {
    let name = |kind: &str| match kind {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "null",
    };
    match kind {
        TypeKind::Single(only) => name(&only.to_string()).to_owned(),
        TypeKind::Multiple(many) => {
            many.iter().map(|kind| name(&kind.to_string()).to_owned()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn list(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    options
        .iter()
        .map(|option| option.as_str().map_or_else(|| option.to_string(), str::to_owned))
        .collect::<Vec<_>>()
        .join(", ")
}
