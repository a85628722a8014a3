//! The product as a [`Service`]: the operations an endpoint offers its caller, as tools.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::instructions::instructions;
use super::service::Watch;
use super::{CallRequest, CallResult, Capabilities, Content, InputRequired, Json, RpcError, ServerInfo, Service};
use crate::app::App;
use crate::error::{Issue, Problem, Reason};
use crate::guides;
use crate::identity::Caller;
use crate::operations::schema::pattern_words;
use crate::operations::{Brought, Context, Destructive, Endpoint, Entry, Offer, Scope, admission, noted};
use crate::playbooks::{self, Playbook};

/// One endpoint, for one request of its checked caller.
pub struct Agent {
    /// Everything long-lived.
    pub app: Arc<App>,
    /// The checked caller.
    pub caller: Arc<Caller>,
    /// Which endpoint.
    pub endpoint: Endpoint,
    /// The playbook of a playbook endpoint, checked to exist and to be within reach.
    pub playbook: Option<Playbook>,
    /// The request's id, for the log.
    pub request_id: Arc<str>,
}

impl Agent {
    fn offer(&self) -> Offer<'_> {
        Offer { app: &self.app, caller: &self.caller }
    }

    /// The operations this caller may call here, in order.
    fn listed(&self) -> impl Iterator<Item = &Entry> {
        let offer = self.offer();
        let at = move |entry: &&Entry| entry.declaration.tool.at(self.endpoint) && entry.offered(&offer);
        self.app.operations.iter().filter(at)
    }

    /// The operation of that tool, if this caller may call it here.
    fn offered(&self, tool: &str) -> Option<&Entry> {
        self.app.operations.tool(self.endpoint, tool).filter(|entry| entry.offered(&self.offer()))
    }

    fn tool(&self, entry: &Entry) -> Value {
        let declaration = entry.declaration;
        let effect = declaration.effect;
        json!({
            "name": declaration.name,
            "title": declaration.title,
            "description": entry.describe(&self.offer()),
            "inputSchema": self.input_schema(entry),
            "annotations": {
                "title": declaration.title,
                "readOnlyHint": effect.reads,
                "destructiveHint": self.destructive(effect.destructive),
                "idempotentHint": effect.idempotent,
                "openWorldHint": effect.open_world,
            },
        })
    }

    fn destructive(&self, destructive: Destructive) -> bool {
        match destructive {
            Destructive::No => false,
            Destructive::Yes => true,
            Destructive::WhileToolsMayChange => self.app.tools_may_change(),
        }
    }

    /// On `/mcp` a playbook's operation takes the playbook as its first argument.
    fn input_schema(&self, entry: &Entry) -> Value {
        if !self.names_playbook(entry) {
            return entry.input.schema.clone();
        }
        let mut schema = entry.input.schema.clone();
        let mut properties = Map::new();
        properties.insert(
            "playbook".into(),
            json!({ "type": "string", "pattern": playbooks::ID_PATTERN, "description": "The id of the playbook to work in." }),
        );
        if let Some(Value::Object(rest)) = schema.get_mut("properties").map(Value::take) {
            properties.extend(rest);
        }
        schema["properties"] = properties.into();
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.insert(0, "playbook".into());
        }
        schema
    }

    fn names_playbook(&self, entry: &Entry) -> bool {
        self.endpoint == Endpoint::Own && entry.declaration.scope == Scope::Playbook
    }

    /// Runs the operation; `None` for a call that comes again with a state nobody gave it.
    async fn run(
        &self,
        entry: &Entry,
        mut arguments: Map<String, Value>,
        request: &CallRequest,
    ) -> Result<Option<CallResult>, Problem> {
        let mut context = admission::context(self.app.clone(), self.caller.clone(), true);
        if entry.declaration.scope == Scope::Playbook {
            let playbook = match &self.playbook {
                Some(playbook) => playbook.id.clone(),
                None => named(&mut arguments).map_err(|issue| with_others(issue, entry, &arguments))?,
            };
            admission::playbook(entry, &mut context, &playbook).await?;
        }
        admission::org_playbook(entry, &context, &arguments)?;
        let arguments = Value::Object(arguments);
        let (answer, question) = match &request.request_state {
            Some(state) => {
                let responses = request.input_responses.clone().map(Value::Object);
                let brought = Brought { arguments, responses, state: state.clone() };
                let Some(answer) = entry.run_again(context, brought).await? else { return Ok(None) };
                (answer, None)
            }
            None if opens_pages(request) => entry.run_asking(context, arguments).await?,
            None => (entry.run(context, arguments).await?, None),
        };
        let input = question.map(|question| {
            Json::of(&question.requests).map(|requests| InputRequired { requests, state: Some(question.state) })
        });
        let input = input.transpose().map_err(|_| Problem::internal("a question could not be written"))?;
        let output = Json::written(answer.output);
        Ok(Some(CallResult {
            content: vec![Content::Text(answer.summary), Content::Written(output.clone())],
            structured: Some(output),
            input,
            ..CallResult::default()
        }))
    }
}

/// Whether the client says in this very request that it can open a page for its person.
fn opens_pages(request: &CallRequest) -> bool {
    let elicitation = request.client_capabilities.get("elicitation");
    elicitation.and_then(|kinds| kinds.get("url")).is_some_and(Value::is_object)
}

/// Takes the playbook out of the arguments of `/mcp`.
fn named(arguments: &mut Map<String, Value>) -> Result<String, Issue> {
    let issue = |detail: String| Err(Issue::new("/playbook", detail));
    match arguments.remove("playbook") {
        None => issue("is required and missing".into()),
        Some(Value::String(id)) if playbooks::is_id(&id) => Ok(id),
        Some(Value::String(_)) => issue(pattern_words(playbooks::ID_PATTERN)),
        Some(_) => issue("must be text".into()),
    }
}

/// The fault of the playbook's name and those of the other arguments, all at once.
fn with_others(issue: Issue, entry: &Entry, arguments: &Map<String, Value>) -> Problem {
    let mut issues = vec![issue];
    if let Err(others) = entry.input.check(&Value::Object(arguments.clone())) {
        issues.extend_from_slice(others.issues());
    }
    Problem::invalid_all(issues)
}

impl Service for Agent {
    fn server(&self) -> ServerInfo {
        ServerInfo { name: "playmaker", title: "Playmaker", version: env!("CARGO_PKG_VERSION") }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn watch(&self) -> Option<Watch> {
        if self.app.access.is_local() {
            return None;
        }
        let (app, caller) = (self.app.clone(), self.caller.clone());
        Some(Box::new(move || {
            let (app, caller) = (app.clone(), caller.clone());
            // A database that does not answer just now ends nobody's stream.
            Box::pin(async move { app.identity.still_good(&caller).await.unwrap_or(true) })
        }))
    }

    async fn instructions(&self) -> Result<String, RpcError> {
        let listed: Vec<&str> = self.listed().map(|entry| entry.declaration.name).collect();
        let playbook = self.playbook.as_ref().map_or("", |playbook| &playbook.name);
        Ok(instructions(&self.caller, self.endpoint, playbook, &listed))
    }

    async fn resources(&self) -> Result<Vec<Json>, RpcError> {
        guides::resources().iter().map(Json::of).collect()
    }

    async fn read_resource(&self, uri: &str, _: &CallRequest) -> Result<Option<Vec<Json>>, RpcError> {
        guides::read(uri).map(|text| Json::of(&text).map(|text| vec![text])).transpose()
    }

    async fn tools(&self) -> Result<Vec<Json>, RpcError> {
        self.listed().map(|entry| Json::of(&self.tool(entry))).collect()
    }

    fn pace(&self, tool: &str) -> Result<(), Problem> {
        self.offered(tool).map_or(Ok(()), |entry| admission::pace(&self.app, entry, &self.caller))
    }

    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        request: &CallRequest,
    ) -> Result<CallResult, RpcError> {
        let Some(entry) = self.offered(name) else {
            if let Some(entry) = self.app.operations.tool(self.endpoint, name) {
                let refused = Problem::forbidden("The tool is not offered to this caller.");
                self.app.refusals.note(&self.caller, entry.declaration.id, &refused);
            }
            return Err(RpcError::unknown_tool(name));
        };
        match self.run(entry, arguments, request).await {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(RpcError::invalid_params("The request state is not valid here. Make the call anew.")),
            // The stop cuts the work too, and either may be noticed first: the caller hears one thing of it.
            Err(problem) if problem.reason() == Reason::Unavailable && self.app.lifecycle.is_stopping() => {
                Err(RpcError::stopping())
            }
            Err(problem) => {
                self.app.refusals.note(&self.caller, entry.declaration.id, &problem);
                CallResult::failure(&noted(problem, &self.request_id))
            }
        }
    }
}

/// The playbook of a playbook endpoint: within the caller's reach, and there.
pub async fn endpoint_playbook(app: &Arc<App>, caller: &Arc<Caller>, id: &str) -> Result<Playbook, Problem> {
    let context: Context = admission::context(app.clone(), caller.clone(), true);
    admission::reach(&context.caller, id)?;
    let found = if playbooks::is_id(id) { playbooks::find(&app.ledger, &caller.org, id).await? } else { None };
    found.ok_or_else(playbooks::unknown)
}
