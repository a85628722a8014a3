//! The tools and the prompt that ask the client first (revision 2026-07-28).

use aws_lc_rs::hmac;
use playmaker::mcp::{CallRequest, CallResult, Content, InputRequired, Json, PromptMessages, RpcError};
use serde_json::{Map, Value, json};

/// A question: its key, its method, its parameters, and the member an answer must have.
struct Question {
    key: &'static str,
    method: &'static str,
    params: Value,
    answer: &'static str,
}

fn form(key: &'static str, message: &str, member: &str, kind: &str) -> Question {
    Question {
        key,
        method: "elicitation/create",
        params: json!({
            "message": message,
            "requestedSchema": { "type": "object", "properties": { member: { "type": kind } }, "required": [member] },
        }),
        answer: "action",
    }
}

fn sampling(key: &'static str, text: &str) -> Question {
    Question {
        key,
        method: "sampling/createMessage",
        params: json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
            "maxTokens": 100,
        }),
        answer: "content",
    }
}

fn roots() -> Question {
    Question { key: "client_roots", method: "roots/list", params: json!({}), answer: "roots" }
}

/// Whether the client says it can answer the question.
fn can_answer(question: &Question, capabilities: &Map<String, Value>) -> bool {
    let capability = question.method.split('/').next().unwrap_or_default();
    capabilities.contains_key(capability)
}

fn seal(step: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"known to this fixture alone");
    let tag: String = hmac::sign(&key, step.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{step}.{tag}")
}

fn asked(questions: &[Question], state: Option<&str>) -> Result<InputRequired, RpcError> {
    let requests: Map<String, Value> = questions
        .iter()
        .map(|question| {
            let request = json!({ "method": question.method, "params": question.params });
            (question.key.to_owned(), request)
        })
        .collect();
    Ok(InputRequired { requests: Json::of(&requests)?, state: state.map(seal) })
}

fn answered(questions: &[Question], request: &CallRequest) -> bool {
    let answer = |key: &str| request.input_responses.as_ref().and_then(|responses| responses.get(key));
    questions.iter().all(|question| answer(question.key).is_some_and(|answer| answer.get(question.answer).is_some()))
}

/// What is still to be asked, if anything.
fn next(name: &str, request: &CallRequest) -> Result<Option<InputRequired>, RpcError> {
    let confirm = || form("confirm", "Please confirm", "ok", "boolean");
    let (mut questions, state) = match name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            (vec![form("user_name", "What is your name?", "name", "string")], None)
        }
        "test_input_required_result_prompt" => {
            let message = "What context should the prompt use?";
            (vec![form("user_context", message, "context", "string")], None)
        }
        "test_input_required_result_sampling" => {
            (vec![sampling("capital_question", "What is the capital of France?")], None)
        }
        "test_input_required_result_list_roots" => (vec![roots()], None),
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            (vec![confirm()], Some("confirm"))
        }
        "test_input_required_result_multiple_inputs" => {
            let name = form("user_name", "What is your name?", "name", "string");
            (vec![name, sampling("greeting", "Generate a greeting"), roots()], Some("three"))
        }
        "test_input_required_result_capabilities" => {
            let name = form("user_name", "What is your name?", "name", "string");
            (vec![name, sampling("greeting", "Generate a greeting")], None)
        }
        "test_input_required_result_multi_round" => return two_rounds(request),
        _ => return Err(RpcError::unknown_tool(name)),
    };
    // Only the questions a client says it can answer are put to it.
    questions.retain(|question| can_answer(question, &request.client_capabilities));
    if request.input_responses.is_none() || !answered(&questions, request) {
        return asked(&questions, state).map(Some);
    }
    match (state, request.request_state.as_deref()) {
        (Some(step), given) if given != Some(seal(step).as_str()) => {
            Err(RpcError::invalid_params("The requestState is not one this server gave."))
        }
        _ => Ok(None),
    }
}

fn two_rounds(request: &CallRequest) -> Result<Option<InputRequired>, RpcError> {
    let first = [form("step1", "Step 1: What is your name?", "name", "string")];
    let second = [form("step2", "Step 2: What is your favorite color?", "color", "string")];
    match request.request_state.as_deref() {
        Some(state) if state == seal("first") && answered(&first, request) => asked(&second, Some("second")).map(Some),
        Some(state) if state == seal("second") && answered(&second, request) => Ok(None),
        Some(state) if state != seal("first") && state != seal("second") => {
            Err(RpcError::invalid_params("The requestState is not one this server gave."))
        }
        _ => asked(&first, Some("first")).map(Some),
    }
}

pub fn call(name: &str, request: &CallRequest) -> Result<CallResult, RpcError> {
    let input = next(name, request)?;
    let content = match input {
        Some(_) => Vec::new(),
        None => vec![Content::Text("Thank you: everything asked was answered.".to_owned())],
    };
    Ok(CallResult { content, input, ..CallResult::default() })
}

pub fn prompt(request: &CallRequest) -> Result<PromptMessages, RpcError> {
    let input = next("test_input_required_result_prompt", request)?;
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Use the context given." } });
    Ok(PromptMessages { messages: vec![Json::of(&message)?], input, ..PromptMessages::default() })
}
