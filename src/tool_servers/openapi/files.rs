//! The body of a request, in each of its forms (sheet 6.5).

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Map, Value};

use super::request::{Body, pointer};
use super::source::escape;
use super::styles;
use super::tool::{BodyForm, BodyPlan, Encoding, Parameter, Place, Style};
use crate::digest::sha256_hex;
use crate::error::Issue;

impl BodyPlan {
    /// Whether an argument belongs to the body.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        match &self.form {
            BodyForm::Members(members) => members.iter().any(|(argument, _)| argument == name),
            _ => name == "body",
        }
    }
}

/// Writes the body; nothing where an optional one is left out.
pub(super) fn write(plan: &BodyPlan, arguments: &Map<String, Value>) -> Result<Option<Body>, Issue> {
    if let BodyForm::Members(members) = &plan.form {
        let mut object = Map::new();
        for (argument, member) in members {
            if let Some(value) = arguments.get(argument).filter(|value| !value.is_null()) {
                object.insert(member.clone(), value.clone());
            }
        }
        let is_sent = plan.required || !object.is_empty();
        return Ok(is_sent.then(|| body(&plan.media_type, Value::Object(object).to_string().into_bytes())));
    }
    let is_json = matches!(plan.form, BodyForm::Json);
    // A null in a JSON body may be meant; an optional body that is null is left out.
    let given = arguments.get("body").filter(|value| !value.is_null() || (is_json && plan.required));
    let Some(value) = given else {
        return if plan.required { Err(Issue::new("/body", "This argument is required.")) } else { Ok(None) };
    };
    let written = match &plan.form {
        BodyForm::Json | BodyForm::Members(_) => body(&plan.media_type, value.to_string().into_bytes()),
        BodyForm::Urlencoded(encodings) => {
            let members = object(value)?;
            body(&plan.media_type, urlencoded(members, encodings).into_bytes())
        }
        BodyForm::Multipart { encodings, files } => multipart(object(value)?, encodings, files)?,
        BodyForm::Bytes => {
            let members = object(value)?;
            let media_type = media_type(members, "/body")?.unwrap_or_else(|| plan.media_type.clone());
            let bytes = members.get("base64").and_then(Value::as_str).and_then(decode);
            let bytes = bytes.ok_or_else(|| Issue::new("/body/base64", "This is not base64."))?;
            body(&media_type, bytes)
        }
        BodyForm::Text => {
            let text = value.as_str().ok_or_else(|| Issue::new("/body", "This must be a text."))?;
            body(&plan.media_type, text.as_bytes().to_vec())
        }
    };
    Ok(Some(written))
}

fn body(media_type: &str, bytes: Vec<u8>) -> Body {
    Body { media_type: media_type.to_owned(), bytes }
}

fn object(value: &Value) -> Result<&Map<String, Value>, Issue> {
    value.as_object().ok_or_else(|| Issue::new("/body", "This must be an object."))
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(&text).or_else(|_| URL_SAFE.decode(&text)).ok()
}

fn media_type(members: &Map<String, Value>, at: &str) -> Result<Option<String>, Issue> {
    match members.get("media_type") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(kind)) if kind.contains('/') && kind.bytes().all(|b| (b' '..=b'~').contains(&b)) => {
            Ok(Some(kind.clone()))
        }
        Some(_) => Err(Issue::new(format!("{at}/media_type"), "This is not a media type.")),
    }
}

fn urlencoded(members: &Map<String, Value>, encodings: &BTreeMap<String, Encoding>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let encoding = encodings.get(name);
        let style = encoding.and_then(|one| one.style);
        let is_json = encoding.and_then(|one| one.content_type.as_deref()).is_some_and(super::bodies::is_json);
        let parameter = Parameter {
            property: String::new(),
            name: name.clone(),
            place: Place::Query,
            required: false,
            style: style.unwrap_or(Style::Form),
            explode: encoding.and_then(|one| one.explode).unwrap_or(style.is_none_or(|style| style == Style::Form)),
            allow_reserved: encoding.is_some_and(|one| one.allow_reserved),
            as_json: is_json,
        };
        if is_json {
            pairs.extend(styles::in_query(&parameter, &Value::from(value.to_string())));
        } else {
            pairs.extend(styles::in_query(&parameter, value));
        }
    }
    pairs.join("&")
}

/// One part of a multipart body, without its delimiters.
struct Part {
    head: String,
    bytes: Vec<u8>,
}

fn multipart(
    members: &Map<String, Value>,
    encodings: &BTreeMap<String, Encoding>,
    files: &BTreeSet<String>,
) -> Result<Body, Issue> {
    let mut parts = Vec::new();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let encoding = encodings.get(name);
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let at = format!("/body/{}/{index}", escape(name));
                    parts.push(part(name, item, encoding, files.contains(name), &at)?);
                }
            }
            one => {
                let at = format!("/body{}", pointer(name));
                parts.push(part(name, one, encoding, files.contains(name), &at)?);
            }
        }
    }
    // The boundary comes from the content, so the same call gives the same bytes and none of them can foresee it.
    let mut all = Vec::new();
    for part in &parts {
        all.extend_from_slice(part.head.as_bytes());
        all.extend_from_slice(&part.bytes);
    }
    let boundary = format!("part-{}", &sha256_hex(&all)[..40]);
    let mut bytes = Vec::with_capacity(all.len() + parts.len() * 64);
    for part in parts {
        bytes.extend_from_slice(format!("--{boundary}\r\n{}\r\n", part.head).as_bytes());
        bytes.extend_from_slice(&part.bytes);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(body(&format!("multipart/form-data; boundary={boundary}"), bytes))
}

fn part(name: &str, value: &Value, encoding: Option<&Encoding>, is_file: bool, at: &str) -> Result<Part, Issue> {
    let mut kind = encoding.and_then(|one| one.content_type.clone());
    let mut filename = None;
    let bytes = match value {
        Value::Object(members) if is_file => {
            kind = media_type(members, at)?.or(kind).or(Some("application/octet-stream".to_owned()));
            let named = members.get("filename").and_then(Value::as_str);
            filename = Some(named.unwrap_or("file").to_owned());
            match (members.get("text"), members.get("base64").and_then(Value::as_str)) {
                (Some(Value::String(text)), _) => text.as_bytes().to_vec(),
                (_, Some(text)) => {
                    decode(text).ok_or_else(|| Issue::new(format!("{at}/base64"), "This is not base64."))?
                }
                _ => return Err(Issue::new(at, "A file needs `text` or `base64`.")),
            }
        }
        Value::Object(_) | Value::Array(_) => {
            kind = kind.or(Some("application/json".to_owned()));
            value.to_string().into_bytes()
        }
        one => styles::plain(one).into_bytes(),
    };
    let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
    if let Some(filename) = filename {
        head.push_str(&format!("; filename=\"{}\"", quoted(&filename)));
    }
    head.push_str("\r\n");
    if let Some(kind) = kind {
        head.push_str(&format!("Content-Type: {kind}\r\n"));
    }
    for (header, value) in encoding.iter().flat_map(|one| &one.headers) {
        head.push_str(&format!("{header}: {value}\r\n"));
    }
    Ok(Part { head, bytes })
}

/// A name for `Content-Disposition`, escaped as browsers do (the HTML standard's multipart encoding).
fn quoted(name: &str) -> String {
    let mut escaped = String::new();
    for character in name.chars() {
        match character {
            '"' => escaped.push_str("%22"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            other => escaped.push(other),
        }
    }
    escaped
}
