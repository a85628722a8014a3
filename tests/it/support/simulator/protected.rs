//! What stands behind the tokens of the simulated provider: an MCP server with one tool, and who the account is.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::WWW_AUTHENTICATE;
use serde_json::{Value, json};

use super::State;
use super::quirks::{Account, WORDS};
use super::requests::Request;

impl State {
    /// Names the account of the token.
    pub(super) fn userinfo(&self, request: &Request) -> Response {
        match self.holder(request) {
            Ok((account, _)) => Json(json!({ "sub": account.id, "email": account.email })).into_response(),
            Err(refused) => *refused,
        }
    }

    /// An MCP server with the tool `list_notes`, which says whose notes they are.
    pub(super) fn mcp(&self, request: &Request) -> Response {
        let (account, scopes) = match self.holder(request) {
            Ok(holder) => holder,
            Err(refused) => return *refused,
        };
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "simulated", "version": "1" },
            }),
            "tools/list" => json!({ "tools": [{
                "name": "list_notes", "description": "Lists notes.", "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true },
            }] }),
            "tools/call" => {
                let words = format!("Notes of {} with {}.", account.email, scopes.join(" "));
                json!({ "content": [{ "type": "text", "text": words }], "isError": false })
            }
            method => {
                let error = json!({ "code": -32601, "message": format!("Method not found: {method}") });
                return Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response();
            }
        };
        Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
    }

    /// Whose token the request carries, and what it may do.
    fn holder(&self, request: &Request) -> Result<(Account, Vec<String>), Box<Response>> {
        let now = self.now_ms();
        let holder = request.bearer().and_then(|token| self.grants().holder(token, now));
        let challenge = self.quirks().challenge;
        let refuse = |status| {
            let mut response = (status, Json(json!({ "error": WORDS }))).into_response();
            let told = challenge.iter().map(|text| (WWW_AUTHENTICATE, text.parse().unwrap()));
            response.headers_mut().extend(told);
            Box::new(response)
        };
        let holder = holder.ok_or_else(|| refuse(StatusCode::UNAUTHORIZED))?;
        match self.quirks().api_status {
            200 => Ok(holder),
            status => Err(refuse(StatusCode::from_u16(status).unwrap())),
        }
    }
}
