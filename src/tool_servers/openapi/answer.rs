//! What an answer means (sheet 6.11). 401 and 429 are dealt with before this is asked.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use url::Url;

use super::bodies::{essence, is_json};
use super::tool::Tool;
use crate::digest::sha256_hex;

/// The most bytes given as base64.
const BASE64: usize = 32 << 10;
/// The most bytes of words about a failure.
const WORDS: usize = 1024;
/// Headers that are shown, besides those that begin as [`SHOWN_STARTS`].
const SHOWN: [&str; 9] = [
    "link",
    "location",
    "etag",
    "last-modified",
    "retry-after",
    "x-total-count",
    "x-next-page",
    "x-next-cursor",
    "x-request-id",
];
const SHOWN_STARTS: [&str; 2] = ["ratelimit", "x-ratelimit-"];

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The service did what was asked.
    Result,
    /// The service refused what was asked.
    ToolError,
    /// The service failed.
    ServerFailure,
}

/// An answer as models and programs read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How the call ended.
    pub kind: Kind,
    /// What a model reads.
    pub text: String,
    /// What programs read.
    pub answer: Option<Value>,
    /// The headers that are shown, in the order of the answer.
    pub headers_shown: Vec<(String, String)>,
}

/// The most bytes of the line about headers that a model reads.
const LINE: usize = 1024;

impl Outcome {
    /// The last line a model reads: where the next page or the new thing is, if a header says so.
    pub fn line(&self) -> Option<String> {
        let told = ["link", "location", "x-next-page", "x-next-cursor"];
        let told = self.headers_shown.iter().filter(|(name, _)| told.contains(&name.as_str()));
        let words: Vec<String> = told.map(|(name, value)| format!("{name}: {value}")).collect();
        (!words.is_empty()).then(|| super::prose::cut(&words.join("; "), LINE).to_owned())
    }
}

impl Tool {
    /// Reads an answer. `body` is decompressed and whole.
    pub fn answer(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Outcome {
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (kind, text, answer) = match status {
            200..=299 => {
                let (text, answer) = self.success(status, media_type, body);
                (Kind::Result, text, answer)
            }
            300..=399 => (Kind::ToolError, redirected(status, headers), None),
            400..=499 => {
                let (text, answer) = refused(status, media_type, body);
                (Kind::ToolError, text, answer)
            }
            _ => {
                let (text, _) = refused(status, media_type, body);
                (Kind::ServerFailure, super::prose::cut(&text, WORDS).to_owned(), None)
            }
        };
        Outcome { kind, text, answer, headers_shown: shown(headers) }
    }

    fn success(&self, status: u16, media_type: &str, body: &[u8]) -> (String, Option<Value>) {
        let essence = essence(media_type);
        if body.is_empty() {
            return (format!("The service answered {}.", status_words(status, "without content")), None);
        }
        if is_lines(&essence) {
            let text = decoded(media_type, body);
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let list: Vec<Value> = lines.map(|line| read_or_text(line.to_owned())).collect();
            return (text, Some(list.into()));
        }
        if essence == "text/event-stream" {
            let events = events(&decoded(media_type, body));
            return (events.join("\n"), Some(events.into_iter().map(read_or_text).collect()));
        }
        let may_be_json = is_json(&essence) || is_text(&essence) || essence.is_empty();
        if let Some(value) = may_be_json.then(|| serde_json::from_slice::<Value>(body).ok()).flatten() {
            let value = match &self.reduction {
                Some(reduction) => reduction.apply(value),
                None => value,
            };
            return (value.to_string(), Some(value));
        }
        if is_json(&essence) || is_text(&essence) || (essence.is_empty() && std::str::from_utf8(body).is_ok()) {
            let text = decoded(media_type, body);
            return (text.clone(), Some(text.into()));
        }
        bytes(&essence, body)
    }
}

fn read_or_text(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn bytes(essence: &str, body: &[u8]) -> (String, Option<Value>) {
    let media_type = if essence.is_empty() { "application/octet-stream" } else { essence };
    let mut answer = json!({
        "media_type": media_type,
        "bytes": body.len(),
        "sha256": sha256_hex(body),
    });
    if body.len() <= BASE64 {
        answer["base64"] = STANDARD.encode(body).into();
    }
    (format!("[{media_type}, {} bytes]", grouped(body.len())), Some(answer))
}

/// A number with a comma between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn status_words(status: u16, ending: &str) -> String {
    format!("{status} {ending}").trim().to_owned()
}

/// `404 Not Found`, or the number alone where it has no name.
fn named(status: u16) -> String {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    status_words(status, reason.unwrap_or_default())
}

fn refused(status: u16, media_type: &str, body: &[u8]) -> (String, Option<Value>) {
    let essence = essence(media_type);
    let words = format!("The service answered {}.", named(status));
    if body.is_empty() {
        return (words, None);
    }
    let may_be_json = is_json(&essence) || is_text(&essence) || essence.is_empty();
    match may_be_json.then(|| serde_json::from_slice::<Value>(body).ok()).flatten() {
        Some(value) => (format!("{words}\n\n{value}"), Some(value)),
        None if may_be_json => (format!("{words}\n\n{}", decoded(media_type, body)), None),
        None => (words, None),
    }
}

fn redirected(status: u16, headers: &HeaderMap) -> String {
    let words = format!("The service answered {}, which is not followed.", named(status));
    let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let path = location.and_then(|location| match Url::parse(location) {
        Ok(url) => Some(url.path().to_owned()),
        Err(_) => location.split(['?', '#']).next().map(str::to_owned),
    });
    match path.filter(|path| path.starts_with('/')) {
        Some(path) => format!("{words} It points to the path {}.", super::prose::one_line(&path, 500)),
        None => words,
    }
}

fn is_lines(essence: &str) -> bool {
    matches!(
        essence,
        "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines"
            | "application/json-lines"
            | "application/json-seq"
            | "application/stream+json"
    )
}

fn is_text(essence: &str) -> bool {
    essence.starts_with("text/")
        || essence.ends_with("+xml")
        || matches!(
            essence,
            "application/xml"
                | "application/x-www-form-urlencoded"
                | "application/javascript"
                | "application/yaml"
                | "application/x-yaml"
                | "application/graphql-response"
        )
}

/// A text by its charset, else UTF-8, bad bytes replaced and control characters but line breaks and tabs removed.
fn decoded(media_type: &str, body: &[u8]) -> String {
    let label = media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    let encoding = label.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    let (text, _, _) = encoding.unwrap_or(encoding_rs::UTF_8).decode(body);
    let mut text = text.into_owned();
    text.retain(|character| !character.is_control() || matches!(character, '\n' | '\r' | '\t'));
    text
}

/// The data of each event of a stream, as the HTML standard reads it.
fn events(text: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in text.lines().chain(std::iter::once("")) {
        if line.is_empty() {
            if !data.is_empty() {
                events.push(std::mem::take(&mut data).join("\n"));
            }
        } else if let Some(rest) = line.strip_prefix("data:") {
            data.push(rest.strip_prefix(' ').unwrap_or(rest));
        }
    }
    events
}

fn shown(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_shown = |name: &str| SHOWN.contains(&name) || SHOWN_STARTS.iter().any(|start| name.starts_with(start));
    headers
        .iter()
        .filter(|(name, _)| is_shown(name.as_str()))
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect()
}
