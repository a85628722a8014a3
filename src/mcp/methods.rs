//! The methods of the protocol: which are known to whom, and what each answers (`mcp.md` 3.5 and 3.6).

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::agreement::{Agreement, META_CAPABILITIES};
use super::message::Message;
use super::revision::{Era, Revision};
use super::rpc::RpcError;
use super::service::{CallRequest, CallResult, Capabilities, Content, InputRequired, Json, PromptMessages, Service};
use super::wire;

/// How long lists that may change with a caller's rights stay fresh, in milliseconds.
const LISTS_FRESH_MS: u32 = 60_000;
/// How long the guides stay fresh, in milliseconds.
const GUIDES_FRESH_MS: u32 = 300_000;
/// The most characters of a client's name that are kept for logs.
const MAX_CLIENT_NAME: usize = 100;

/// A method some revision has and this server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Initialize,
    Discover,
    Ping,
    ListTools,
    CallTool,
    ListResources,
    ListResourceTemplates,
    ReadResource,
    ListPrompts,
    GetPrompt,
}

impl Method {
    /// The method of that name, if the era has it and the service offers its kind.
    pub(super) fn known(name: &str, era: Era, offered: Capabilities) -> Option<Self> {
        let (method, served) = match name {
            "initialize" => (Self::Initialize, era == Era::Legacy),
            "server/discover" => (Self::Discover, era == Era::Modern),
            "ping" => (Self::Ping, era == Era::Legacy),
            "tools/list" => (Self::ListTools, true),
            "tools/call" => (Self::CallTool, true),
            "resources/list" => (Self::ListResources, offered.resources),
            "resources/templates/list" => (Self::ListResourceTemplates, offered.resources),
            "resources/read" => (Self::ReadResource, offered.resources),
            "prompts/list" => (Self::ListPrompts, offered.prompts),
            "prompts/get" => (Self::GetPrompt, offered.prompts),
            _ => return None,
        };
        served.then_some(method)
    }
}

/// Handles one request and writes its event.
pub(super) async fn answer<S: Service>(service: &S, method: Method, agreement: Agreement, message: Message) -> Bytes {
    let Message { id, mut params, .. } = message;
    let id = id.unwrap_or_default();
    match handle(service, method, agreement, &mut params).await {
        Ok(reply) => wire::result_event(&id, &reply),
        Err(error) => wire::error_event(&id, &error),
    }
}

async fn handle<S: Service>(
    service: &S,
    method: Method,
    agreement: Agreement,
    params: &mut Map<String, Value>,
) -> Result<Reply, RpcError> {
    let request = call_request(agreement, params)?;
    let reply = |content: Answer| Reply { era: agreement.era, content };
    Ok(reply(match method {
        Method::Initialize => initialize(service, agreement.revision, params).await?,
        Method::Discover => discover(service).await?,
        Method::Ping => Answer::Empty,
        Method::ListTools => list("tools", LISTS_FRESH_MS, params, service.tools()).await?,
        Method::ListResources => list("resources", GUIDES_FRESH_MS, params, service.resources()).await?,
        Method::ListResourceTemplates => {
            list("resourceTemplates", GUIDES_FRESH_MS, params, service.resource_templates()).await?
        }
        Method::ListPrompts => list("prompts", LISTS_FRESH_MS, params, service.prompts()).await?,
        Method::CallTool => {
            let (name, arguments) = (text(params, "name")?, arguments(params)?);
            Answer::Called(service.call(&name, arguments, &request).await?)
        }
        Method::GetPrompt => {
            let (name, arguments) = (text(params, "name")?, arguments(params)?);
            Answer::Prompted(service.get_prompt(&name, arguments, &request).await?)
        }
        Method::ReadResource => {
            let uri = text(params, "uri")?;
            match service.read_resource(&uri, &request).await? {
                Some(contents) => Answer::List("contents", GUIDES_FRESH_MS, contents),
                None => return Err(RpcError::unknown_resource(&uri, agreement.era)),
            }
        }
    }))
}

fn call_request(agreement: Agreement, params: &mut Map<String, Value>) -> Result<CallRequest, RpcError> {
    let modern = agreement.era == Era::Modern;
    let mut meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    let mut meta_text = |name: &str| match meta.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (trace_parent, trace_state) = (meta_text("traceparent"), meta_text("tracestate"));
    let client = meta.get("io.modelcontextprotocol/clientInfo");
    let client_name = client.and_then(|client| client.get("name")).and_then(Value::as_str);
    let client_name = client_name.map(|name| name.chars().take(MAX_CLIENT_NAME).collect());
    let client_capabilities = match meta.remove(META_CAPABILITIES) {
        Some(Value::Object(capabilities)) if modern => capabilities,
        _ => Map::new(),
    };
    let (responses, state) = (params.remove("inputResponses"), params.remove("requestState"));
    let input_responses = match responses.filter(|_| modern) {
        None => None,
        Some(Value::Object(responses)) => Some(responses),
        Some(_) => return Err(RpcError::invalid_params("params.inputResponses must be an object.")),
    };
    let request_state = match state.filter(|_| modern) {
        None => None,
        Some(Value::String(state)) => Some(state),
        Some(_) => return Err(RpcError::invalid_params("params.requestState must be text.")),
    };
    Ok(CallRequest {
        era: agreement.era,
        revision: agreement.revision,
        client_capabilities,
        client_name,
        input_responses,
        request_state,
        trace_parent,
        trace_state,
    })
}

fn text(params: &mut Map<String, Value>, member: &str) -> Result<String, RpcError> {
    match params.remove(member) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(RpcError::invalid_params(format!("params.{member} must be text."))),
    }
}

fn arguments(params: &mut Map<String, Value>) -> Result<Map<String, Value>, RpcError> {
    match params.remove("arguments") {
        None => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(RpcError::invalid_params("params.arguments must be an object.")),
    }
}

async fn initialize<S: Service>(
    service: &S,
    revision: Revision,
    params: &mut Map<String, Value>,
) -> Result<Answer, RpcError> {
    text(params, "protocolVersion")?;
    Ok(Answer::Whole(json!({
        "protocolVersion": revision.text(),
        "capabilities": service.capabilities(),
        "serverInfo": service.server(),
        "instructions": service.instructions().await?,
    })))
}

async fn discover<S: Service>(service: &S) -> Result<Answer, RpcError> {
    Ok(Answer::Whole(json!({
        "supportedVersions": Revision::NEWEST_FIRST.map(Revision::text),
        "capabilities": service.capabilities(),
        "instructions": service.instructions().await?,
        "_meta": { "io.modelcontextprotocol/serverInfo": service.server() },
    })))
}

async fn list(
    member: &'static str,
    fresh_ms: u32,
    params: &Map<String, Value>,
    items: impl Future<Output = Result<Vec<Json>, RpcError>>,
) -> Result<Answer, RpcError> {
    if params.contains_key("cursor") {
        let words = "There is no such cursor: the list is one page. Send no cursor.";
        return Err(RpcError::invalid_params(words));
    }
    Ok(Answer::List(member, fresh_ms, items.await?))
}

/// What a method found.
enum Answer {
    Empty,
    /// The handshake of either era.
    Whole(Value),
    /// Values under one member, fresh for so many milliseconds.
    List(&'static str, u32, Vec<Json>),
    Called(CallResult),
    Prompted(PromptMessages),
}

/// A result as its era writes it: a modern one says what it is and how long it stays fresh.
struct Reply {
    era: Era,
    content: Answer,
}

/// The members a result may have; those without a value are left out.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(flatten)]
    whole: Option<&'a Value>,
    #[serde(flatten)]
    list: Option<std::collections::BTreeMap<&'static str, &'a [Json]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<&'a [Json]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a [Content]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
}

impl<'a> Members<'a> {
    fn asking(mut self, input: Option<&'a InputRequired>, era: Era) -> Self {
        if let Some(input) = input.filter(|_| era == Era::Modern) {
            self.result_type = Some("input_required");
            self.input_requests = Some(&input.requests);
            self.request_state = input.state.as_deref();
        }
        self
    }
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let modern = self.era == Era::Modern;
        let fresh = |ttl_ms: u32| Members {
            result_type: modern.then_some("complete"),
            ttl_ms: modern.then_some(ttl_ms),
            cache_scope: modern.then_some("private"),
            ..Members::default()
        };
        let plain = || Members { result_type: modern.then_some("complete"), ..Members::default() };
        let members = match &self.content {
            Answer::Empty => plain(),
            Answer::Whole(whole) => Members { whole: Some(whole), ..fresh(LISTS_FRESH_MS) },
            Answer::List(member, ttl_ms, items) => {
                Members { list: Some([(*member, items.as_slice())].into()), ..fresh(*ttl_ms) }
            }
            Answer::Called(called) => Members {
                content: Some(&called.content),
                structured_content: called.structured.as_ref(),
                is_error: called.is_error.then_some(true),
                ..plain()
            }
            .asking(called.input.as_ref(), self.era),
            Answer::Prompted(prompted) => {
                Members { description: prompted.description.as_deref(), messages: Some(&prompted.messages), ..plain() }
                    .asking(prompted.input.as_ref(), self.era)
            }
        };
        members.serialize(serializer)
    }
}
