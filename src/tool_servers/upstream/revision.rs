//! Which revision of MCP a server speaks, judged from how it answers `server/discover` and `initialize`.

use serde_json::{Map, Value, json};

use super::CallContext;
use super::message::{RpcError, UNSUPPORTED_REVISION};

/// The revisions spoken, newest first; the first is the modern one.
const REVISIONS: [&str; 6] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/// The modern revision, asked for first.
const MODERN: &str = REVISIONS[0];
/// The revision `initialize` asks for.
const NEWEST_LEGACY: &str = REVISIONS[1];

/// How the revisions differ for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// 2026-07-28: each request is complete in itself.
    Modern,
    /// The five older ones: `initialize` first, then perhaps a session.
    Legacy,
}

/// A revision both sides speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Revision(&'static str);

impl Revision {
    /// The one every probe is put in.
    pub(super) const PROBE: Self = Self(MODERN);

    /// Its name, a date.
    pub(super) const fn name(self) -> &'static str {
        self.0
    }

    /// Its era.
    pub(super) fn era(self) -> Era {
        if self.0 == MODERN { Era::Modern } else { Era::Legacy }
    }

    /// Whether requests over HTTP name it in `MCP-Protocol-Version`; the header came with 2025-06-18.
    pub(super) fn has_header(self) -> bool {
        self.0 >= "2025-06-18"
    }

    /// The newest of `offered` that is spoken here.
    fn newest_of(offered: &[&str]) -> Option<Self> {
        REVISIONS.into_iter().find(|revision| offered.contains(revision)).map(Self)
    }

    /// The `_meta` of a request (2026-07-28 wants the first three in each; the others are ours in every revision).
    pub(super) fn meta(self, context: Option<&CallContext>) -> Map<String, Value> {
        let mut meta = Map::new();
        if self.era() == Era::Modern {
            meta.insert("io.modelcontextprotocol/protocolVersion".into(), self.0.into());
            meta.insert("io.modelcontextprotocol/clientInfo".into(), client_info());
            meta.insert("io.modelcontextprotocol/clientCapabilities".into(), json!({}));
        }
        let Some(context) = context else {
            return meta;
        };
        meta.insert("playmaker/call_id".into(), context.call_id.as_str().into());
        let optional = [("playmaker/run_id", &context.run_id), ("traceparent", &context.traceparent)];
        for (key, value) in optional {
            if let Some(value) = value {
                meta.insert(key.into(), value.as_str().into());
            }
        }
        meta
    }
}

/// What follows from an answer to a probe.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server is modern.
    Modern(Revision),
    /// The server is older: `initialize` comes next.
    Initialize,
    /// The server is modern, but nothing can be agreed; words for a person.
    Failing(String),
}

/// Judges the answer to `server/discover` (the sheet's steps 2 to 5).
pub(super) fn of_discovery(outcome: &Result<Value, RpcError>) -> Verdict {
    let list = match outcome {
        Ok(result) => result.get("supportedVersions"),
        Err(error) if error.code == UNSUPPORTED_REVISION => Some(error.data.get("supported").unwrap_or(&Value::Null)),
        Err(error) if error.speaks_modern() => {
            return Verdict::Failing(format!("The server refuses how it is asked: {}", error.message));
        }
        Err(_) => None,
    };
    let Some(list) = list else {
        return Verdict::Initialize;
    };
    let offered: Vec<&str> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match Revision::newest_of(&offered) {
        Some(revision) if revision.era() == Era::Modern => Verdict::Modern(revision),
        Some(_) => Verdict::Initialize,
        None => Verdict::Failing(format!(
            "No revision of MCP is spoken by both: the server offers {}, Playmaker speaks {}.",
            if offered.is_empty() { "none".to_owned() } else { offered.join(", ") },
            REVISIONS.join(", "),
        )),
    }
}

/// The parameters of `initialize`: no capability is declared.
pub(super) fn initialize_params() -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("protocolVersion".into(), NEWEST_LEGACY.into());
    params.insert("capabilities".into(), json!({}));
    params.insert("clientInfo".into(), client_info());
    params
}

/// The revision the answer to `initialize` names, or words for a person.
pub(super) fn of_initialize(result: &Value) -> Result<Revision, String> {
    let Some(named) = result.get("protocolVersion").and_then(Value::as_str) else {
        return Err("The server does not speak MCP: its answer to initialize names no revision.".into());
    };
    Revision::newest_of(&[named]).ok_or_else(|| {
        format!(
            "No revision of MCP is spoken by both: the server offers {named}, Playmaker speaks {}.",
            REVISIONS.join(", ")
        )
    })
}

fn client_info() -> Value {
    json!({ "name": "playmaker", "version": env!("CARGO_PKG_VERSION") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: i64, message: &str, data: Value) -> Result<Value, RpcError> {
        Err(RpcError { code, message: message.into(), data })
    }

    #[test]
    fn a_discovery_that_names_the_modern_revision_is_agreed_at_once() {
        let outcome = Ok(json!({ "supportedVersions": ["2025-11-25", "2026-07-28", "2027-01-01"] }));
        assert_eq!(of_discovery(&outcome), Verdict::Modern(Revision::PROBE));
    }

    #[test]
    fn an_older_server_is_initialized() {
        for outcome in [
            refused(-32601, "Method not found", Value::Null),
            refused(-32602, "Invalid request parameters", Value::Null),
            refused(-32000, "Bad Request: Server not initialized", Value::Null),
            refused(-32022, "no", json!({ "supported": ["2025-11-25"] })),
            Ok(json!({ "anything": true })),
        ] {
            assert_eq!(of_discovery(&outcome), Verdict::Initialize, "{outcome:?}");
        }
    }

    #[test]
    fn a_modern_server_that_agrees_to_nothing_is_failing_with_both_lists() {
        let Verdict::Failing(words) = of_discovery(&refused(-32022, "no", json!({ "supported": ["2027-01-01"] })))
        else {
            panic!("nothing is common");
        };
        assert!(words.contains("2027-01-01") && words.contains("2025-11-25"), "{words}");
        for code in [-32020, -32021] {
            assert!(matches!(of_discovery(&refused(code, "no", Value::Null)), Verdict::Failing(_)));
        }
        let about_meta = refused(-32602, "missing _meta key", Value::Null);
        assert!(matches!(of_discovery(&about_meta), Verdict::Failing(_)));
    }

    #[test]
    fn any_of_the_six_revisions_may_answer_initialize() {
        for revision in REVISIONS {
            let agreed = of_initialize(&json!({ "protocolVersion": revision }));
            assert_eq!(agreed.map(Revision::name), Ok(revision));
        }
        assert!(of_initialize(&json!({ "protocolVersion": "1999-01-01" })).is_err());
    }
}
