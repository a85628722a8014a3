//! An agent of revision 2026-07-28 in its plainest form: one request, one answer. The official clients are in `peers`.

use serde_json::{Value, json};

use super::people::{Answer, Caller};

/// What a tool answered.
#[derive(Debug)]
pub struct Called {
    /// Whether it could not do what was asked.
    pub is_error: bool,
    /// What a model reads first.
    pub words: String,
    /// The output, or the problem document of a failure.
    pub value: Value,
}

impl Called {
    /// The output of a success.
    pub fn done(self) -> Value {
        assert!(!self.is_error, "{}", self.value);
        self.value
    }

    /// The problem document of a refusal.
    pub fn refused(self, reason: &str) -> Value {
        assert!(self.is_error && self.value["reason"] == reason, "{}", self.value);
        self.value
    }
}

impl Caller {
    /// One JSON-RPC request of 2026-07-28 to an endpoint, as the server answered it, from a client that can do nothing else.
    pub async fn ask(&self, endpoint: &str, method: &'static str, params: Value) -> Answer {
        self.ask_as(endpoint, method, params, json!({})).await
    }

    /// The same from a client of these capabilities.
    pub async fn ask_as(&self, endpoint: &str, method: &'static str, mut params: Value, capabilities: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
        });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = self
            .request("POST", endpoint)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
            use base64::Engine;
            let encoded = base64::engine::general_purpose::STANDARD.encode(name);
            request = request.header("mcp-name", format!("=?base64?{encoded}?="));
        }
        Answer::of(request.body(message.to_string())).await
    }

    /// The result of a request that is handled, or the JSON-RPC error.
    pub async fn result(&self, endpoint: &str, method: &'static str, params: Value) -> Result<Value, Value> {
        let answer = self.ask(endpoint, method, params).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("content-type"), "text/event-stream");
        let mut message = answer.message();
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)));
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].take()),
        }
    }

    /// The tools listed at an endpoint.
    pub async fn tools(&self, endpoint: &str) -> Vec<Value> {
        let mut result = self.result(endpoint, "tools/list", json!({})).await.unwrap();
        assert!(result.get("nextCursor").is_none(), "the list is one page");
        match result["tools"].take() {
            Value::Array(tools) => tools,
            other => panic!("{other}"),
        }
    }

    /// The names of the tools listed at an endpoint.
    pub async fn tool_names(&self, endpoint: &str) -> Vec<String> {
        self.tools(endpoint).await.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Calls a tool; a JSON-RPC error is `Err`.
    pub async fn try_call(&self, endpoint: &str, tool: &str, arguments: &Value) -> Result<Called, Value> {
        let result = self.result(endpoint, "tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        let content = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
        let text =
            |index: usize| content.get(index).and_then(|one| one["text"].as_str()).unwrap_or_default().to_owned();
        let is_error = result["isError"] == true;
        let value: Value = serde_json::from_str(&text(1)).unwrap_or_else(|error| panic!("{error}: {result}"));
        if !is_error {
            assert_eq!(result["structuredContent"], value, "the output travels twice");
        }
        Ok(Called { is_error, words: text(0), value })
    }

    /// Calls a tool that is listed.
    pub async fn call(&self, endpoint: &str, tool: &str, arguments: &Value) -> Called {
        self.try_call(endpoint, tool, arguments).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }
}

impl Answer {
    /// The one JSON-RPC message of an answer, whether it came as a stream or as JSON.
    pub fn message(&self) -> Value {
        match self.header("content-type") {
            "text/event-stream" => {
                let mut messages = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
                let message = messages.next().unwrap_or_else(|| panic!("no message: {}", self.text));
                assert_eq!(messages.next(), None, "one message a stream");
                serde_json::from_str(message).unwrap()
            }
            _ => self.json(),
        }
    }
}
