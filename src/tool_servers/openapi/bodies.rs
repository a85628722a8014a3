//! The body of an operation: which of its types is taken, its schema, and how it is written (sheet 6.5).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::document::{Because, Fault, text_of};
use super::schema::Shapes;
use super::source::Source;
use super::tool::{BodyForm, BodyPlan, Encoding, Place, Style};

/// The body of an operation as a property and as a plan.
pub(super) struct Asked {
    pub(super) schema: Value,
    pub(super) plan: BodyPlan,
}

/// The part of a media type before its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a type is JSON.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == "application/json" || essence.ends_with("+json") || essence == "text/json"
}

/// The place of a type in the order of preference.
fn rank(media_type: &str) -> usize {
    let essence = essence(media_type);
    match essence.as_str() {
        "application/json" => 0,
        _ if is_json(&essence) => 1,
        "application/*" | "*/*" => 2,
        "application/x-www-form-urlencoded" => 3,
        "multipart/form-data" => 4,
        "application/octet-stream" | "application/pdf" | "application/zip" => 5,
        _ if ["image/", "audio/", "video/"].iter().any(|start| essence.starts_with(start)) => 6,
        _ => 7,
    }
}

/// Reads the body of an operation; nothing where it has none.
pub(super) fn read(
    source: &Source,
    operation: &Value,
    shapes: &mut Shapes<'_>,
    notes: &mut BTreeSet<String>,
) -> Result<Option<Asked>, Fault> {
    let Some(body) = operation.get("requestBody") else {
        return Ok(None);
    };
    let body = source.follow(body)?;
    let required = body.get("required") == Some(&Value::Bool(true));
    let empty = Map::new();
    let content = body.get("content").and_then(Value::as_object).unwrap_or(&empty);
    let mut types: Vec<&String> = content.keys().filter(|kind| kind.parse::<Essence>().is_ok()).collect();
    types.sort_by_key(|kind| (rank(kind), kind.as_str()));
    let Some((kind, others)) = types.split_first() else {
        notes.insert("The body has no type that can be sent; none is sent.".to_owned());
        return Ok(None);
    };
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|kind| super::prose::one_line(kind, 60)).collect();
        notes.insert(super::prose::cut(&format!("The body could also be {}.", others.join(", ")), 300).to_owned());
    }
    let media = &content[*kind];
    let shaped = media.get("schema").map_or(json!({}), |schema| shapes.shape(schema));
    if is_impossible(&shaped, shapes) && required {
        return Err((Because::ImpossibleInput, "No value fits the required body.".to_owned()));
    }
    let (mut schema, form) = formed(source, kind, media, shaped, shapes);
    if let (Some(words), Some(map)) = (text_of(body, "description"), schema.as_object_mut()) {
        let words = super::prose::cut(words, 1024);
        map.entry("description").or_insert_with(|| words.into());
    }
    let essence = essence(kind);
    let media_type = match rank(kind) {
        2 => "application/json".to_owned(),
        5 | 6 if essence.ends_with("/*") => "application/octet-stream".to_owned(),
        7 if essence.ends_with("/*") => "text/plain".to_owned(),
        _ => essence,
    };
    let plan = BodyPlan { required, media_type, form };
    Ok(Some(Asked { schema, plan }))
}

fn is_impossible(shaped: &Value, shapes: &mut Shapes<'_>) -> bool {
    let opened = shapes.opened(shaped);
    let required = opened.get("required").and_then(Value::as_array);
    opened == Value::Bool(false)
        || required.into_iter().flatten().filter_map(Value::as_str).any(|name| {
            let property = opened.get("properties").and_then(|properties| properties.get(name));
            property == Some(&Value::Bool(false))
        })
}

/// The schema that is shown and the form that is sent, by the type's place in the order.
fn formed(source: &Source, kind: &str, media: &Value, shaped: Value, shapes: &mut Shapes<'_>) -> (Value, BodyForm) {
    match rank(kind) {
        0..=2 => (open(shaped), BodyForm::Json),
        3 => (object(shaped, shapes), BodyForm::Urlencoded(encodings(source, media))),
        4 => {
            let mut schema = object(shaped, shapes);
            let files = mark_files(&mut schema, media, shapes);
            let encodings = encodings(source, media);
            (schema, BodyForm::Multipart { encodings, files })
        }
        5 | 6 => {
            let schema = json!({
                "type": "object",
                "description": format!("The bytes, as {}.", essence(kind)),
                "properties": {
                    "media_type": { "type": "string" },
                    "base64": { "type": "string", "contentEncoding": "base64" }
                },
                "required": ["base64"],
                "additionalProperties": false
            });
            (schema, BodyForm::Bytes)
        }
        _ => {
            let words = shapes.opened(&shaped);
            let words = text_of(&words, "description").unwrap_or_default();
            let description = format!("{words} Text, sent as {}.", essence(kind));
            (json!({ "type": "string", "description": description.trim() }), BodyForm::Text)
        }
    }
}

/// `true` as the object that can carry a description.
fn open(shaped: Value) -> Value {
    if shaped == Value::Bool(true) { json!({}) } else { shaped }
}

/// The schema of a form: opened, so that its members can be seen.
fn object(shaped: Value, shapes: &mut Shapes<'_>) -> Value {
    let mut opened = open(shapes.opened(&shaped));
    if let Some(map) = opened.as_object_mut() {
        map.entry("type").or_insert_with(|| "object".into());
    }
    opened
}

/// Puts the shape of a file in the place of binary members; gives their names.
fn mark_files(schema: &mut Value, media: &Value, shapes: &mut Shapes<'_>) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return files;
    };
    for (name, property) in properties.iter_mut() {
        let kind = media.pointer(&format!("/encoding/{}/contentType", super::source::escape(name)));
        let kind = kind.and_then(Value::as_str).map(essence);
        let is_bytes = kind.is_some_and(|kind| matches!(rank(&kind), 5 | 6));
        let opened = shapes.opened(property);
        let described = text_of(&opened, "description").map(str::to_owned);
        let item = opened.get("items").map(|items| shapes.opened(items));
        if is_binary(&opened) || (is_bytes && opened["type"] != "array" && opened["type"] != "object") {
            *property = file(described);
        } else if item.is_some_and(|item| is_binary(&item)) {
            *property = json!({ "type": "array", "items": file(None) });
            if let (Some(words), Some(map)) = (described, property.as_object_mut()) {
                map.insert("description".to_owned(), words.into());
            }
        } else {
            continue;
        }
        files.insert(name.clone());
    }
    files
}

fn is_binary(schema: &Value) -> bool {
    let kind = text_of(schema, "contentMediaType").map(essence);
    schema["format"] == "binary"
        || (kind.is_some_and(|kind| matches!(rank(&kind), 5 | 6)) && schema["contentEncoding"].is_null())
}

fn file(description: Option<String>) -> Value {
    json!({
        "type": "object",
        "description": description.unwrap_or_else(|| "A file: its text, or its bytes as base64.".to_owned()),
        "properties": {
            "filename": { "type": "string" },
            "media_type": { "type": "string" },
            "text": { "type": "string" },
            "base64": { "type": "string", "contentEncoding": "base64" }
        },
        "oneOf": [{ "required": ["text"] }, { "required": ["base64"] }],
        "additionalProperties": false
    })
}

fn encodings(source: &Source, media: &Value) -> BTreeMap<String, Encoding> {
    let map = media.get("encoding").and_then(Value::as_object);
    let encoding = |value: &Value| Encoding {
        content_type: text_of(value, "contentType")
            .map(|kinds| kinds.split(',').next().unwrap_or_default().trim().to_owned())
            .filter(|kind| !kind.contains('*') && kind.parse::<Essence>().is_ok()),
        style: text_of(value, "style").map(|word| Style::of(Place::Query, Some(word))),
        explode: value.get("explode").and_then(Value::as_bool),
        allow_reserved: value.get("allowReserved") == Some(&Value::Bool(true)),
        headers: headers(source, value),
    };
    map.into_iter().flatten().map(|(name, value)| (name.clone(), encoding(value))).collect()
}

/// Headers of a part that have one certain value: a default, or the only one listed.
fn headers(source: &Source, encoding: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, header) in encoding.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let Some(schema) = source.follow(header).ok().and_then(|header| header.get("schema")) else {
            continue;
        };
        let only = schema.get("enum").and_then(Value::as_array).filter(|values| values.len() == 1);
        let value = schema.get("default").or_else(|| schema.get("const")).or_else(|| only?.first());
        let value = value.and_then(Value::as_str).filter(|value| !value.chars().any(char::is_control));
        let is_ours = name.eq_ignore_ascii_case("content-type") || name.eq_ignore_ascii_case("content-disposition");
        if let Some(value) = value.filter(|_| !is_ours && http::HeaderName::from_bytes(name.as_bytes()).is_ok()) {
            found.push((name.clone(), value.to_owned()));
        }
    }
    found
}

/// A media type or range that is well formed.
struct Essence;

impl std::str::FromStr for Essence {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let essence = essence(text);
        let is_token = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+*".contains(c))
        };
        match essence.split_once('/') {
            Some((kind, sub)) if is_token(kind) && is_token(sub) => Ok(Self),
            _ => Err(()),
        }
    }
}
