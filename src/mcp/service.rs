//! What an endpoint offers, as the protocol sees it: the [`Service`] and the values it gives.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::revision::{Era, Revision};
use super::rpc::RpcError;
use crate::error::Problem;

/// Asks whether the caller may still be answered.
pub type Watch = Box<dyn Fn() -> BoxFuture<'static, bool> + Send>;

/// What one endpoint offers one caller. It is made for each request, after its credential was checked.
///
/// A method that fails with an [`RpcError`] fails the request; a tool that cannot do what was asked is no such failure
/// but a [`CallResult`] of [`CallResult::failure`].
pub trait Service: Send + Sync + 'static {
    /// Who the server says it is.
    fn server(&self) -> ServerInfo;

    /// Which of the three kinds of things it offers; the methods of the others are unknown to it.
    fn capabilities(&self) -> Capabilities;

    /// What a connecting agent is told.
    fn instructions(&self) -> impl Future<Output = Result<String, RpcError>> + Send;

    /// The tools this caller may call here, in their order, as `tools/list` writes them.
    fn tools(&self) -> impl Future<Output = Result<Vec<Json>, RpcError>> + Send;

    /// The question that each heartbeat of a stream asks; nothing where a caller cannot stop being one.
    fn watch(&self) -> Option<Watch> {
        None
    }

    /// A capability without which the client cannot call the tool at all, looked at for modern clients alone.
    ///
    /// No tool of the product has one: what they ask of a client they ask only where it is declared.
    fn needed_capability(&self, _tool: &str) -> Option<&'static str> {
        None
    }

    /// Refuses a call that comes too soon after others, before it is handled.
    fn pace(&self, _tool: &str) -> Result<(), Problem> {
        Ok(())
    }

    /// Calls a tool. One that is not among [`Service::tools`] is [`RpcError::unknown_tool`].
    fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        request: &CallRequest,
    ) -> impl Future<Output = Result<CallResult, RpcError>> + Send;

    /// The resources, in their order.
    fn resources(&self) -> impl Future<Output = Result<Vec<Json>, RpcError>> + Send {
        async { Ok(Vec::new()) }
    }

    /// The templates of resources, in their order.
    fn resource_templates(&self) -> impl Future<Output = Result<Vec<Json>, RpcError>> + Send {
        async { Ok(Vec::new()) }
    }

    /// The contents of a resource, or none where there is no such resource.
    fn read_resource(
        &self,
        _uri: &str,
        _request: &CallRequest,
    ) -> impl Future<Output = Result<Option<Vec<Json>>, RpcError>> + Send {
        async { Ok(None) }
    }

    /// The prompts this caller is offered, in their order.
    fn prompts(&self) -> impl Future<Output = Result<Vec<Json>, RpcError>> + Send {
        async { Ok(Vec::new()) }
    }

    /// A prompt filled in. One that is not among [`Service::prompts`] is [`RpcError::unknown_prompt`].
    fn get_prompt(
        &self,
        name: &str,
        _arguments: Map<String, Value>,
        _request: &CallRequest,
    ) -> impl Future<Output = Result<PromptMessages, RpcError>> + Send {
        let unknown = RpcError::unknown_prompt(name);
        async { Err(unknown) }
    }
}

/// Who the server says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// Its name for machines.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// Which kinds of things a service offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// `resources/list` and `resources/read`.
    pub resources: bool,
    /// `prompts/list` and `prompts/get`.
    pub prompts: bool,
}

impl Capabilities {
    /// Tools alone.
    pub const TOOLS: Self = Self { resources: false, prompts: false };
    /// Tools, resources and prompts.
    pub const ALL: Self = Self { resources: true, prompts: true };
}

impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let offered = [("tools", true), ("resources", self.resources), ("prompts", self.prompts)];
        serializer.collect_map(offered.into_iter().filter(|kind| kind.1).map(|kind| (kind.0, Map::new())))
    }
}

/// What a request brings beside what it asks for.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// How the request says what it speaks.
    pub era: Era,
    /// What it speaks.
    pub revision: Revision,
    /// What the client says it can do; empty for a legacy client, which does not say so here.
    pub client_capabilities: Map<String, Value>,
    /// The client's name, cut to 100 characters. For logs: it never decides anything.
    pub client_name: Option<String>,
    /// The answers to what an earlier [`InputRequired`] asked; modern clients only.
    pub input_responses: Option<Map<String, Value>>,
    /// The state an earlier [`InputRequired`] gave; from the client's hand, so it is checked before it is believed.
    pub request_state: Option<String>,
    /// `traceparent` of W3C Trace Context, unchecked.
    pub trace_parent: Option<String>,
    /// `tracestate` of W3C Trace Context, unchecked.
    pub trace_state: Option<String>,
}

/// A JSON value already written out, so that what many requests share is written once.
#[derive(Debug, Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Writes `value` out.
    pub fn of(value: &impl Serialize) -> Result<Self, RpcError> {
        match to_raw_value(value) {
            Ok(raw) => Ok(Self(Arc::from(raw))),
            Err(error) => {
                tracing::error!(error = %error, "a value could not be written as JSON");
                Err(RpcError::internal())
            }
        }
    }

    /// A value written out elsewhere.
    pub fn written(raw: Box<RawValue>) -> Self {
        Self(Arc::from(raw))
    }

    /// The value's text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self.0).serialize(serializer)
    }
}

/// A block of a result's content.
#[derive(Debug, Clone)]
pub enum Content {
    /// Text.
    Text(String),
    /// The text of a value already written out.
    Written(Json),
    /// Any other block, whole.
    Block(Json),
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match self {
            Self::Text(text) => text,
            Self::Written(json) => json.text(),
            Self::Block(json) => return json.serialize(serializer),
        };
        let mut block = serializer.serialize_map(Some(2))?;
        block.serialize_entry("type", "text")?;
        block.serialize_entry("text", text)?;
        block.end()
    }
}

/// What the client is to do before it repeats the request (revision 2026-07-28).
#[derive(Debug, Clone)]
pub struct InputRequired {
    /// Each question under a key of its own.
    pub requests: Json,
    /// What the client gives back with its answers.
    pub state: Option<String>,
}

/// The result of a tool.
#[derive(Debug, Clone, Default)]
pub struct CallResult {
    /// What a model reads.
    pub content: Vec<Content>,
    /// What a program reads.
    pub structured: Option<Json>,
    /// Whether the tool could not do what was asked.
    pub is_error: bool,
    /// What is asked first. A legacy client is not asked: it gets the rest alone.
    pub input: Option<InputRequired>,
}

impl CallResult {
    /// An output (`mcp.md` 10): its summary in words, then the output twice, as text and as structured content.
    pub fn success(summary: impl Into<String>, output: &impl Serialize) -> Result<Self, RpcError> {
        let output = Json::of(output)?;
        Ok(Self {
            content: vec![Content::Text(summary.into()), Content::Written(output.clone())],
            structured: Some(output),
            ..Self::default()
        })
    }

    /// A failure of the operation (`mcp.md` 14): what is wrong in words, then the problem document as text.
    pub fn failure(problem: &Problem) -> Result<Self, RpcError> {
        let document = Json::of(&problem.document())?;
        Ok(Self {
            content: vec![Content::Text(problem.words()), Content::Written(document)],
            is_error: true,
            ..Self::default()
        })
    }
}

/// A prompt filled in.
#[derive(Debug, Clone, Default)]
pub struct PromptMessages {
    /// What the prompt is for.
    pub description: Option<String>,
    /// The messages, in their order.
    pub messages: Vec<Json>,
    /// What is asked first, of modern clients.
    pub input: Option<InputRequired>,
}
