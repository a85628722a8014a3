//! From the result of `tools/call` to what a model reads and what programs read (the sheet's section 5).

use serde_json::{Map, Value, json};
use url::Url;

use super::message::{ADDRESS_REQUIRED, INVALID_PARAMS, RpcError};
use super::trouble::{cut, without_controls};

/// What a tool answered. Nothing in it is scrubbed yet: sizes and digests are those of the whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// What a model reads.
    pub text: String,
    /// What programs read, where there is something.
    pub answer: Option<Value>,
    /// Whether the tool itself says that it failed.
    pub is_error: bool,
    /// The whole result, for the record.
    pub raw: Value,
    /// The id of the JSON-RPC request.
    pub jsonrpc_id: Option<u64>,
    /// The server's own id of the request, where the entry says where to find it.
    pub server_request_id: Option<String>,
}

/// What follows from one answer to `tools/call`.
pub(super) enum Next {
    /// The call is over.
    Done(Called),
    /// The same request goes again with this state (2026-07-28).
    Repeat(Value),
    /// The server failed; its words.
    Failed(String),
}

const ASKS_TOO_MUCH: &str = "The tool asks for something Playmaker does not give, such as an answer from a person, so the \
                             call ended without a result.";

/// The words where a service refuses with the rights that were given (403 with `insufficient_scope`).
pub(super) const RIGHTS_REFUSED: &str = "The service refuses this with the rights it was given.";

/// Reads the answer to `tools/call`.
pub(super) fn read(outcome: Result<Value, RpcError>) -> Next {
    match outcome {
        Ok(result) => read_result(result),
        Err(error) if error.code == ADDRESS_REQUIRED => Next::Done(tool_error(ASKS_TOO_MUCH, error.to_value())),
        Err(error) if error.code == INVALID_PARAMS => Next::Done(tool_error(&error.message, error.to_value())),
        Err(error) => Next::Failed(error.message),
    }
}

/// A tool error in our words or the server's.
pub(super) fn tool_error(words: &str, raw: Value) -> Called {
    let mut called = of_result(&json!({ "content": [{ "type": "text", "text": words }] }));
    called.is_error = true;
    called.raw = raw;
    called
}

/// The call asks for the same request too often.
pub(super) fn repeated_too_often() -> Called {
    tool_error(ASKS_TOO_MUCH, Value::Null)
}

fn read_result(result: Value) -> Next {
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Next::Done(
            Called { is_error: result.get("isError") == Some(&Value::Bool(true)), ..of_result(&result) }
                .with_raw(result),
        ),
        Some("input_required") => {
            let asks = match result.get("inputRequests") {
                None | Some(Value::Null) => false,
                Some(Value::Object(requests)) => !requests.is_empty(),
                Some(_) => true,
            };
            match result.get("requestState") {
                Some(state @ Value::String(_)) if !asks => Next::Repeat(state.clone()),
                _ => Next::Done(tool_error(ASKS_TOO_MUCH, result)),
            }
        }
        Some(_) => Next::Done(tool_error(ASKS_TOO_MUCH, result)),
    }
}

impl Called {
    fn with_raw(mut self, raw: Value) -> Self {
        self.raw = raw;
        self
    }
}

fn of_result(result: &Value) -> Called {
    let blocks: Vec<&Map<String, Value>> =
        result.get("content").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect();
    let structured = result.get("structuredContent");
    let mut parts = Vec::new();
    let mut has_text = false;
    for block in &blocks {
        let (part, is_text) = part_of(block);
        has_text |= is_text;
        parts.push(part);
    }
    if let Some(structured) = structured.filter(|_| !has_text) {
        parts.push(structured.to_string());
    }
    if parts.is_empty() {
        parts.push("The tool answered without content.".to_owned());
    }
    let first_text = blocks.iter().find(|block| member(block, "type") == "text").map(|block| member(block, "text"));
    Called {
        text: without_controls(&parts.join("\n\n")),
        answer: structured.cloned().or_else(|| first_text.map(read_text)),
        is_error: false,
        raw: Value::Null,
        jsonrpc_id: None,
        server_request_id: None,
    }
}

/// A text read as JSON, else as itself.
fn read_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(without_controls(text)))
}

/// What a model reads of one block, and whether that is text of the tool.
fn part_of(block: &Map<String, Value>) -> (String, bool) {
    match member(block, "type") {
        "text" => (member(block, "text").to_owned(), true),
        "resource" => {
            let empty = Map::new();
            let resource = block.get("resource").and_then(Value::as_object).unwrap_or(&empty);
            match resource.get("text").and_then(Value::as_str) {
                Some(text) => (text.to_owned(), true),
                None => (placeholder(resource, member(resource, "blob")), false),
            }
        }
        "resource_link" => (link(block), false),
        _ => (placeholder(block, member(block, "data")), false),
    }
}

/// Such as `[image/png, 20,411 bytes]`; `data` is in base64 and not kept.
fn placeholder(block: &Map<String, Value>, data: &str) -> String {
    let kind = match member(block, "mimeType") {
        "" => "application/octet-stream",
        kind => cut(kind, 100),
    };
    let digits = data.trim_end_matches('=').len();
    format!("[{kind}, {} bytes]", grouped(digits * 3 / 4))
}

fn link(block: &Map<String, Value>) -> String {
    let name = cut(member(block, "name"), 200);
    let address = Url::parse(member(block, "uri"))
        .ok()
        .filter(|url| url.scheme() == "https" && url.username().is_empty() && url.password().is_none());
    match address {
        Some(address) => format!("[link: {name}, {address}]"),
        None => format!("[link: {name}]"),
    }
}

fn member<'a>(block: &'a Map<String, Value>, name: &str) -> &'a str {
    block.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A number with its thousands apart, such as `20,411`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(result: Value) -> Called {
        match read(Ok(result)) {
            Next::Done(called) => called,
            _ => panic!("the call is over"),
        }
    }

    #[test]
    fn texts_are_joined_and_the_first_is_read_as_json() {
        let called = done(json!({ "content": [
            { "type": "text", "text": "{\"a\": 1}" },
            { "type": "text", "text": "two\u{1b}[31m" },
        ] }));
        assert_eq!(called.text, "{\"a\": 1}\n\ntwo[31m");
        assert_eq!(called.answer, Some(json!({ "a": 1 })));
        assert!(!called.is_error);
    }

    #[test]
    fn structured_content_is_the_answer_and_the_text_where_there_is_none() {
        let called = done(json!({ "content": [], "structuredContent": [1, 2], "isError": true }));
        assert_eq!((called.text.as_str(), called.answer), ("[1,2]", Some(json!([1, 2]))));
        assert!(called.is_error);
        let called = done(json!({ "content": [{ "type": "text", "text": "one" }], "structuredContent": null }));
        assert_eq!((called.text.as_str(), called.answer), ("one", Some(Value::Null)));
    }

    #[test]
    fn what_is_no_text_becomes_a_placeholder() {
        let data = "A".repeat(27_212) + "AA==";
        let called = done(json!({ "content": [
            { "type": "image", "mimeType": "image/png", "data": data },
            { "type": "resource", "resource": { "uri": "a:b", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "a:b", "mimeType": "application/pdf", "blob": "AAAA" } },
            { "type": "resource_link", "name": "Plan", "uri": "https://example.test/plan" },
            { "type": "resource_link", "name": "Key", "uri": "https://user@example.test/" },
        ] }));
        assert_eq!(
            called.text,
            "[image/png, 20,410 bytes]\n\ninside\n\n[application/pdf, 3 bytes]\n\n\
             [link: Plan, https://example.test/plan]\n\n[link: Key]"
        );
        assert_eq!(called.answer, None);
    }

    #[test]
    fn an_empty_result_says_so() {
        let called = done(json!({}));
        assert_eq!((called.text.as_str(), called.answer), ("The tool answered without content.", None));
    }

    #[test]
    fn a_tool_that_asks_something_back_is_a_tool_error_without_its_address() {
        for result in [
            json!({ "resultType": "input_required", "inputRequests": { "a": { "params": { "url": "https://x.test" } } } }),
            json!({ "resultType": "task", "task": {} }),
        ] {
            let called = done(result);
            assert!(called.is_error && !called.text.contains("x.test"), "{}", called.text);
        }
        let again = read(Ok(json!({ "resultType": "input_required", "requestState": "s" })));
        assert!(matches!(again, Next::Repeat(state) if state == "s"));
    }

    #[test]
    fn refused_arguments_are_a_tool_error_and_other_errors_are_failures() {
        let error = |code| RpcError { code, message: "words".into(), data: Value::Null };
        assert!(matches!(read(Err(error(-32602))), Next::Done(called) if called.is_error && called.text == "words"));
        assert!(matches!(read(Err(error(-32603))), Next::Failed(words) if words == "words"));
    }
}
