//! The tools, resources and prompts that answer at once.

use playmaker::mcp::{CallResult, Content, Json, PromptMessages, RpcError};
use serde_json::{Map, Value, json};

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound of no samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// The tools without arguments, each with what it is for.
const TOOLS: [(&str, &str); 17] = [
    ("test_simple_text", "Answers a text."),
    ("test_image_content", "Answers an image."),
    ("test_audio_content", "Answers a sound."),
    ("test_embedded_resource", "Answers a resource."),
    ("test_multiple_content_types", "Answers a text, an image and a resource."),
    ("test_error_handling", "Fails."),
    ("test_missing_capability", "Needs a client that samples."),
    ("test_logging_tool", "Logs nothing to the client."),
    ("test_streaming_elicitation", "Asks for a name first."),
    ("test_input_required_result_elicitation", "Asks for a name first."),
    ("test_input_required_result_sampling", "Asks a model first."),
    ("test_input_required_result_list_roots", "Asks for the roots first."),
    ("test_input_required_result_request_state", "Asks to confirm, and keeps a state."),
    ("test_input_required_result_multiple_inputs", "Asks three things at once."),
    ("test_input_required_result_multi_round", "Asks twice, one after the other."),
    ("test_input_required_result_tampered_state", "Asks to confirm, and checks its state."),
    ("test_input_required_result_capabilities", "Asks only what the client can answer."),
];

pub fn tools() -> Vec<Value> {
    let mut tools: Vec<Value> = TOOLS
        .iter()
        .map(|(name, description)| {
            let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
            json!({ "name": name, "description": description, "inputSchema": schema })
        })
        .collect();
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Has a schema with many keywords.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            } },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    }));
    tools
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn embedded(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}

/// The tool's result, or none where it is no tool of this file.
pub fn call(name: &str) -> Result<Option<CallResult>, RpcError> {
    let blocks = match name {
        "test_simple_text" => vec![json!({ "type": "text", "text": "This is a simple text response for testing." })],
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })],
        "test_embedded_resource" => {
            vec![embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => vec![
            json!({ "type": "text", "text": "Multiple content types test:" }),
            image(),
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ],
        "test_error_handling" => {
            return Ok(Some(CallResult {
                content: vec![Content::Text("This tool intentionally returns an error for testing".to_owned())],
                is_error: true,
                ..CallResult::default()
            }));
        }
        "json_schema_2020_12_tool" | "test_missing_capability" | "test_logging_tool" => {
            vec![json!({ "type": "text", "text": "Taken." })]
        }
        _ => return Ok(None),
    };
    let content = blocks.iter().map(|block| Json::of(block).map(Content::Block));
    Ok(Some(CallResult { content: content.collect::<Result<_, _>>()?, ..CallResult::default() }))
}

pub fn resources() -> Vec<Value> {
    vec![
        json!({ "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain" }),
        json!({ "uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png" }),
    ]
}

/// The contents of a resource, if there is one.
pub fn resource(uri: &str) -> Option<Value> {
    match uri {
        "test://static-text" => Some(json!({
            "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource.",
        })),
        "test://static-binary" => Some(json!({ "uri": uri, "mimeType": "image/png", "blob": PNG })),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            Some(json!({ "uri": uri, "mimeType": "application/json", "text": text.to_string() }))
        }
    }
}

pub fn prompts() -> Vec<Value> {
    let argument = |name: &str| json!({ "name": name, "description": "A word.", "required": true });
    vec![
        json!({ "name": "test_simple_prompt", "description": "A prompt." }),
        json!({
            "name": "test_prompt_with_arguments",
            "description": "A prompt with two words.",
            "arguments": [argument("arg1"), argument("arg2")],
        }),
        json!({
            "name": "test_prompt_with_embedded_resource",
            "description": "A prompt with a resource.",
            "arguments": [argument("resourceUri")],
        }),
        json!({ "name": "test_prompt_with_image", "description": "A prompt with an image." }),
        json!({ "name": "test_input_required_result_prompt", "description": "A prompt that asks first." }),
    ]
}

/// A prompt filled in.
pub fn prompt(name: &str, arguments: &Map<String, Value>) -> Result<PromptMessages, RpcError> {
    let word = |name: &str| {
        let word = arguments.get(name).and_then(Value::as_str);
        word.ok_or_else(|| RpcError::invalid_params(format!("The argument {name} is missing.")))
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let blocks = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (word("arg1")?, word("arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            embedded(word("resourceUri")?, "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        _ => return Err(RpcError::unknown_prompt(name)),
    };
    let messages = blocks.iter().map(|content| Json::of(&json!({ "role": "user", "content": content })));
    Ok(PromptMessages { messages: messages.collect::<Result<_, _>>()?, ..PromptMessages::default() })
}
