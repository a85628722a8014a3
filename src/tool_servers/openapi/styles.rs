//! How parameters are written into path, query, headers and cookies (sheet 6.5, RFC 6570).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::tool::{Parameter, Place, Style};

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// As [`RESERVED`] without the reserved characters a query may hold. `&` and `+` stay encoded: they would end the
/// value or change it.
const ALLOWED: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');
/// What a header value may not hold as it is.
const INVISIBLE: &AsciiSet = &percent_encoding::CONTROLS.add(0x7f);

/// Percent-encodes everything but unreserved characters.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn encode_for(parameter: &Parameter, text: &str) -> String {
    match parameter.place {
        Place::Header => utf8_percent_encode(text, INVISIBLE).to_string(),
        _ if parameter.allow_reserved => utf8_percent_encode(text, ALLOWED).to_string(),
        _ => encode(text),
    }
}

/// A value as plain text: numbers as JSON writes them, anything nested as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A value as one text: lists joined, objects as pairs. Nothing where there is nothing to write.
fn joined(parameter: &Parameter, value: &Value, separator: &str, explode: bool) -> Option<String> {
    let encode = |text: &str| encode_for(parameter, text);
    match value {
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| encode(&plain(item))).collect();
            Some(items.join(separator))
        }
        Value::Object(members) if members.is_empty() => None,
        Value::Object(members) => {
            let between = if explode { "=" } else { separator };
            let pairs =
                members.iter().map(|(name, value)| format!("{}{between}{}", encode(name), encode(&plain(value))));
            Some(pairs.collect::<Vec<_>>().join(separator))
        }
        scalar => Some(encode(&plain(scalar))),
    }
}

/// A value for a place in the path.
pub(super) fn in_path(parameter: &Parameter, value: &Value) -> Option<String> {
    let name = encode(&parameter.name);
    match parameter.style {
        Style::Label => {
            let separator = if parameter.explode { "." } else { "," };
            let separator = if value.is_array() { "." } else { separator };
            joined(parameter, value, separator, parameter.explode).map(|text| format!(".{text}"))
        }
        Style::Matrix => {
            let one = |name: &str, text: String| {
                if text.is_empty() { format!(";{name}") } else { format!(";{name}={text}") }
            };
            match value {
                Value::Array(items) if parameter.explode => {
                    let items = items.iter().map(|item| one(&name, encode(&plain(item))));
                    Some(items.collect())
                }
                Value::Object(members) if parameter.explode => {
                    let members = members.iter().map(|(key, value)| one(&encode(key), encode(&plain(value))));
                    Some(members.collect())
                }
                _ => joined(parameter, value, ",", false).map(|text| one(&name, text)),
            }
        }
        _ => joined(parameter, value, ",", parameter.explode),
    }
}

/// A value as pairs of the query, already encoded.
pub(super) fn in_query(parameter: &Parameter, value: &Value) -> Vec<String> {
    let name = encode(&parameter.name);
    let pair = |name: &str, text: &str| format!("{name}={text}");
    match (parameter.style, value) {
        (Style::Deep, Value::Object(_) | Value::Array(_)) => {
            let mut pairs = Vec::new();
            deep(parameter, &name, value, 0, &mut pairs);
            pairs
        }
        (Style::Spaces, _) if !parameter.explode => delimited(parameter, &name, value, "%20"),
        (Style::Pipes, _) if !parameter.explode => delimited(parameter, &name, value, "%7C"),
        (_, Value::Array(items)) if parameter.explode => {
            items.iter().map(|item| pair(&name, &encode_for(parameter, &plain(item)))).collect()
        }
        (_, Value::Object(members)) if parameter.explode => {
            members.iter().map(|(key, value)| pair(&encode(key), &encode_for(parameter, &plain(value)))).collect()
        }
        _ => delimited(parameter, &name, value, ","),
    }
}

fn delimited(parameter: &Parameter, name: &str, value: &Value, separator: &str) -> Vec<String> {
    let text = joined(parameter, value, separator, false);
    text.map(|text| format!("{name}={text}")).into_iter().collect()
}

fn deep(parameter: &Parameter, name: &str, value: &Value, level: usize, pairs: &mut Vec<String>) {
    match value {
        Value::Object(members) if level < 16 => {
            for (key, value) in members {
                deep(parameter, &format!("{name}[{}]", encode(key)), value, level + 1, pairs);
            }
        }
        Value::Array(items) if level < 16 => {
            for item in items {
                deep(parameter, &format!("{name}[]"), item, level + 1, pairs);
            }
        }
        scalar => pairs.push(format!("{name}={}", encode_for(parameter, &plain(scalar)))),
    }
}

/// A header's value, or a cookie's pair.
pub(super) fn in_header(parameter: &Parameter, value: &Value) -> Option<String> {
    joined(parameter, value, ",", parameter.explode && parameter.place == Place::Header)
}
