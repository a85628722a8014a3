//! The request itself, by the kind of server, and what it answered.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use super::record::Ended;
use super::{Answer, Http, Outcome, Started, Told};
use crate::digest::sha256_hex;
use crate::tool_servers::ToolServers;
use crate::tool_servers::check::Found;
use crate::tool_servers::http_api::HttpAnswer;
use crate::tool_servers::live::Wire;
use crate::tool_servers::openapi::Kind;
use crate::tool_servers::scrub::Scrubber;
use crate::tool_servers::tool::Made;
use crate::tool_servers::upstream::{CallContext, Called, Trouble};

/// For one call, its waits and repetitions included.
const CALLING: Duration = Duration::from_secs(30);
/// The most bytes of a failure's words.
const WORDS: usize = 1_024;

/// What came back, not scrubbed.
pub(super) struct Sent {
    outcome: Outcome,
    text: String,
    answer: Option<Value>,
    bytes: usize,
    sha256: String,
    http: Option<Http>,
    server_request_id: Option<String>,
    retry_after_ms: Option<u64>,
}

impl Found {
    /// Whether its server is a process of this machine.
    pub(super) fn is_process(&self) -> bool {
        self.server.configured().is_some_and(|entry| matches!(entry.target, crate::config::Target::Process(_)))
    }
}

impl ToolServers {
    pub(super) async fn send(&self, found: &Found, started: &Started) -> Result<Sent, Trouble> {
        let arguments = &started.call.arguments;
        match (&found.live.wire, &found.tool.made) {
            (Wire::Mcp(upstream), Made::Mcp(tool)) => {
                let context = CallContext { call_id: started.call_id.clone(), ..CallContext::default() };
                Ok(Sent::of_mcp(upstream.call(tool, arguments, &context).await?))
            }
            (Wire::Http(api), Made::Http(tool)) => {
                let key = idempotency_key(&started.call_id);
                let prepared = tool.request(arguments, Some(&key)).map_err(|issues| {
                    Trouble::failing(issues.first().map_or_else(String::new, |issue| issue.detail.clone()))
                })?;
                // Under a key of its own the service itself takes care that a second one does nothing.
                let keyed = prepared.headers.iter().any(|(name, _)| name == "idempotency-key");
                let repeatable = keyed || found.tool.hints.may_be_repeated();
                let late = || Trouble::timed_out("The tool did not answer within 30 seconds.").after_sending();
                let call = api.call(&*self.needs.clock, tool, &prepared, repeatable);
                Ok(Sent::of_http(timeout(CALLING, call).await.map_err(|_| late())??))
            }
            _ => Err(Trouble::failing("The server became another one meanwhile.")),
        }
    }
}

/// The same for every attempt of one call (RFC 9562, section 5.5).
fn idempotency_key(call_id: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, call_id.as_bytes()).to_string()
}

impl Sent {
    fn of_mcp(called: Called) -> Self {
        let raw = called.raw.to_string();
        Self {
            outcome: if called.is_error { Outcome::ToolError } else { Outcome::Result },
            text: called.text,
            answer: called.answer,
            bytes: raw.len(),
            sha256: sha256_hex(&raw),
            http: None,
            server_request_id: called.server_request_id,
            retry_after_ms: None,
        }
    }

    fn of_http(answer: HttpAnswer) -> Self {
        let retry_after = answer.retry_after.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Self {
            outcome: match answer.outcome.kind {
                Kind::Result => Outcome::Result,
                Kind::ToolError => Outcome::ToolError,
                Kind::ServerFailure => Outcome::ServerFailure,
            },
            text: answer.outcome.text,
            answer: answer.outcome.answer,
            bytes: answer.body.len(),
            sha256: sha256_hex(&answer.body),
            http: Some(Http { status: answer.status, headers: answer.outcome.headers_shown.into_iter().collect() }),
            server_request_id: answer.request_id,
            retry_after_ms: retry_after.filter(|_| answer.status >= 500),
        }
    }

    /// What is recorded and what is told, scrubbed before anything is cut or kept; sizes and digests are of the whole.
    pub(super) fn told(mut self, started: &Started, scrubber: &Scrubber, duration_ms: i64) -> (Ended, Answer) {
        self.text = scrubber.text(&self.text);
        if let Some(answer) = &mut self.answer {
            scrubber.value(answer);
        }
        if let Some(http) = &mut self.http {
            http.headers.values_mut().for_each(|value| *value = scrubber.text(value));
        }
        let server_request_id = self.server_request_id.as_deref().map(|id| scrubber.text(id));
        let mut ended = if self.outcome == Outcome::ServerFailure {
            let status = self.http.as_ref().map_or(0, |http| http.status);
            let words =
                if started.record_content { self.text.clone() } else { format!("The service answered {status}.") };
            Ended::failed("server_failure", &words[..words.floor_char_boundary(WORDS)], duration_ms)
        } else {
            self.answered(started, server_request_id.as_deref(), duration_ms)
        };
        let told = started.answer(Told {
            outcome: self.outcome,
            text: self.text,
            answer: self.answer,
            result_bytes: u64::try_from(self.bytes).ok(),
            duration_ms,
            http: self.http,
            server_request_id,
            retry_after_ms: self.retry_after_ms,
        });
        ended.kept = started.kept(&told);
        (ended, told)
    }

    fn answered(&self, started: &Started, server_request_id: Option<&str>, duration_ms: i64) -> Ended {
        let mut data = json!({
            "call_id": started.call_id,
            "is_error": self.outcome == Outcome::ToolError,
            "result_bytes": self.bytes,
            "result_sha256": self.sha256,
            "content_kept": started.record_content,
            "duration_ms": duration_ms,
        });
        if let Some(http) = &self.http {
            data["status"] = http.status.into();
        }
        if let Some(id) = server_request_id {
            data["server_request_id"] = id.into();
        }
        if started.record_content {
            // The text says the same as the answer, but where a tool gives both.
            match &self.answer {
                Some(answer) => {
                    data["answer"] = answer.clone();
                    let same = answer.as_str() == Some(self.text.as_str())
                        || serde_json::to_string(answer).is_ok_and(|text| text == self.text);
                    if !same {
                        data["result"] = self.text.as_str().into();
                    }
                }
                None => data["result"] = self.text.as_str().into(),
            }
        }
        Ended::answered(data)
    }
}
