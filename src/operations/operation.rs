//! What an operation is: one declaration, served as an HTTP route, as an MCP tool and in the OpenAPI document.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::schema::InputSchema;
use crate::app::App;
use crate::error::{Problem, Result};
use crate::identity::{Caller, Permission, Who};

/// Where an operation's route hangs, and with it what it works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The server: `/v1`.
    Server,
    /// One org: `/v1/orgs/{org}`.
    Org,
    /// One playbook: `/v1/orgs/{org}/playbooks/{playbook}`.
    Playbook,
    /// An approval link, for Studio's page alone: `/v1/links`.
    Link,
}

impl Scope {
    /// The path its routes begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Server => "/v1",
            Self::Org => "/v1/orgs/{org}",
            Self::Playbook => "/v1/orgs/{org}/playbooks/{playbook}",
            Self::Link => "/v1/links",
        }
    }
}

/// The method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes or does.
    Post,
    /// Sets.
    Put,
    /// Ends.
    Delete,
}

impl Method {
    /// Its name on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// Which permissions a caller needs.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    /// Any valid caller.
    Caller,
    /// One of these.
    Any(&'static [Permission]),
    /// A person who signed in, whatever their role; no key and no local developer. The operation itself tells what of
    /// it they may.
    Person,
    /// The Studio session of the person a link was made for.
    Session,
}

/// Whether what an operation does may be beyond undoing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destructive {
    /// It never is.
    No,
    /// It always may be.
    Yes,
    /// While any tool server is configured or people may add connections.
    WhileToolsMayChange,
}

/// How careful a caller has to be.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    /// It only reads.
    pub reads: bool,
    /// It may not be undone.
    pub destructive: Destructive,
    /// Again is the same.
    pub idempotent: bool,
    /// It reaches outside the server.
    pub open_world: bool,
}

impl Effect {
    /// Reads, here.
    pub const READS: Self = Self { reads: true, destructive: Destructive::No, idempotent: true, open_world: false };
    /// Reads, and asks others for it.
    pub const READS_OUTSIDE: Self = Self { open_world: true, ..Self::READS };
    /// Makes something new each time.
    pub const MAKES: Self = Self { reads: false, destructive: Destructive::No, idempotent: false, open_world: false };
    /// Sets something; again is the same.
    pub const SETS: Self = Self { idempotent: true, ..Self::MAKES };
    /// Ends something for good; again is the same.
    pub const ENDS: Self = Self { destructive: Destructive::Yes, ..Self::SETS };
    /// Calls a tool, which may change something outside.
    pub const CALLS: Self =
        Self { reads: false, destructive: Destructive::WhileToolsMayChange, idempotent: false, open_world: true };
}

/// The MCP endpoints that offer an operation as a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// None: HTTP alone.
    No,
    /// `/mcp` and the org endpoint.
    Org,
    /// `/mcp`, with a `playbook` argument, and the playbook endpoint, without.
    Playbook,
    /// The playbook endpoint alone.
    OnlyPlaybook,
    /// Every endpoint.
    Everywhere,
}

/// An MCP endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `/mcp`.
    Own,
    /// `/orgs/{org}/mcp`.
    Org,
    /// `/orgs/{org}/playbooks/{playbook}/mcp`.
    Playbook,
}

impl Tool {
    /// Whether `endpoint` offers it.
    pub const fn at(self, endpoint: Endpoint) -> bool {
        match self {
            Self::No => false,
            Self::Org => matches!(endpoint, Endpoint::Own | Endpoint::Org),
            Self::Playbook => matches!(endpoint, Endpoint::Own | Endpoint::Playbook),
            Self::OnlyPlaybook => matches!(endpoint, Endpoint::Playbook),
            Self::Everywhere => true,
        }
    }
}

/// Everything fixed about an operation.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// Its id in the OpenAPI document; the name where one operation has one route.
    pub id: &'static str,
    /// Its name, and that of its tool.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it does and when to use it, 40 to 1,000 characters.
    pub description: &'static str,
    /// Where its route hangs.
    pub scope: Scope,
    /// The method of its route.
    pub method: Method,
    /// The rest of its path, with `{field}` for a field of the input.
    pub path: &'static str,
    /// The status of its success.
    pub success: u16,
    /// Who may.
    pub needs: Needs,
    /// How careful to be.
    pub effect: Effect,
    /// Which endpoints offer it.
    pub tool: Tool,
}

impl Declaration {
    /// The whole path of its route.
    pub fn route(&self) -> String {
        format!("{}{}", self.scope.prefix(), self.path)
    }

    /// Whether it changes something inside a playbook, so that a retired one refuses it.
    pub const fn is_command(&self) -> bool {
        !self.effect.reads
    }
}

/// What an operation runs with: the program and its checked caller.
#[derive(Clone)]
pub struct Context {
    /// Everything long-lived.
    pub app: Arc<App>,
    /// The checked caller.
    pub caller: Arc<Caller>,
    /// The playbook of a playbook's operation, checked to exist and to be within the caller's reach; else empty.
    pub playbook: String,
    /// Whether the answer goes over MCP, where the output travels twice and large fields are cut.
    pub over_mcp: bool,
    /// The token that commands of the caller's page carry; none where the request comes from no page.
    pub csrf: Option<String>,
    /// What the caller's browser holds of the trip it comes back from, where it does.
    pub held: Option<Zeroizing<String>>,
}

impl Context {
    /// The org every read and write names.
    pub fn org(&self) -> &str {
        &self.caller.org
    }

    /// The present, in milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        self.app.clock.now_ms()
    }
}

/// What a caller of one endpoint can see: descriptions may say so.
pub struct Offer<'a> {
    /// Everything long-lived.
    pub app: &'a App,
    /// The caller.
    pub caller: &'a Caller,
}

/// One thing a caller can do.
pub trait Operation: Send + Sync + 'static {
    /// Everything fixed about it.
    const DECLARATION: Declaration;
    /// Whether it answers with [`Lines`].
    const STREAMS: bool = false;
    /// Its fields, from path, query and body as one object; a playbook's operation has no field for the playbook.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// Its output, always an object.
    type Output: Serialize + JsonSchema + Send;

    /// Does it.
    fn run(context: Context, input: Self::Input) -> impl Future<Output = Result<Self::Output>> + Send;

    /// The result in plain words for the person (`mcp.md` 12).
    fn summary(context: &Context, output: &Self::Output) -> String;

    /// The output as Markdown, for HTTP callers that prefer it; few operations have one.
    fn markdown(_output: &Self::Output) -> Option<&'static str> {
        None
    }

    /// What the browser of the answer keeps, for operations of Studio's pages alone.
    fn browser_keeps(_output: &mut Self::Output) -> Option<BrowserSecret> {
        None
    }

    /// The answer as lines, for an operation whose answer has no bound; its output then describes one line.
    fn lines(_output: &mut Self::Output) -> Option<Lines> {
        None
    }

    /// What it does, for this caller.
    fn description(_offer: &Offer<'_>) -> Cow<'static, str> {
        Cow::Borrowed(Self::DECLARATION.description)
    }

    /// Refuses a caller that may never do it here, whatever its permissions; such a caller is not offered it either.
    fn admit(_offer: &Offer<'_>) -> Result<()> {
        Ok(())
    }
}

/// An operation's answer: its output, written once, and its words.
pub struct Answer {
    /// The output as JSON.
    pub output: Box<RawValue>,
    /// The output in words.
    pub summary: String,
    /// The output as Markdown, where there is one.
    pub markdown: Option<&'static str>,
    /// What the answer is in truth, where it comes a line at a time.
    pub lines: Option<Lines>,
    /// What the browser keeps, beside the output.
    pub browser_keeps: Option<BrowserSecret>,
}

/// A secret that the person's browser holds until they are back from a trip. Never printed.
#[derive(Default)]
pub struct BrowserSecret {
    /// The digest of the state the person comes back with; its cookie is named by it.
    pub of: String,
    /// The secret.
    pub value: Zeroizing<String>,
    /// How long it is held, in seconds.
    pub for_s: i64,
}

/// An answer of any length: JSON Lines, as they are read.
pub type Lines = BoxStream<'static, Result<Bytes>>;

type Run = fn(Context, Value) -> BoxFuture<'static, Result<Answer>>;

/// An operation in the list, with its types taken away.
pub struct Entry {
    /// Everything fixed about it.
    pub declaration: &'static Declaration,
    /// Its input, as JSON Schema, with its checker.
    pub input: InputSchema,
    /// Its output, as JSON Schema.
    pub output: Value,
    /// Whether it answers with lines, each of its output.
    pub streams: bool,
    run: Run,
    describe: fn(&Offer<'_>) -> Cow<'static, str>,
    admit: fn(&Offer<'_>) -> Result<()>,
}

impl Entry {
    /// The entry of `O`. Fails when its schema cannot be compiled, which a start must not survive.
    pub fn of<O: Operation>() -> Self {
        Self {
            declaration: &O::DECLARATION,
            input: InputSchema::of::<O::Input>(),
            output: super::schema::output::<O::Output>(),
            streams: O::STREAMS,
            run: |context, input| run::<O>(context, input).boxed(),
            describe: O::description,
            admit: O::admit,
        }
    }

    /// Checks the caller, then `input` against the schema, all faults at once, and runs the operation.
    pub async fn run(&self, context: Context, input: Value) -> Result<Answer> {
        self.check(&context, &input).await?;
        (self.run)(context, input).await
    }

    /// Everything [`Self::run`] checks.
    pub(super) async fn check(&self, context: &Context, input: &Value) -> Result<()> {
        (self.admit)(&Offer { app: &context.app, caller: &context.caller })?;
        super::admission::living(self, context).await?;
        self.input.check(input)
    }

    /// Its description for this caller.
    pub fn describe(&self, offer: &Offer<'_>) -> Cow<'static, str> {
        (self.describe)(offer)
    }

    /// Whether this caller may be offered it: its permissions and whatever else it needs.
    pub fn offered(&self, offer: &Offer<'_>) -> bool {
        self.permitted(offer.caller) && (self.admit)(offer).is_ok()
    }

    /// Whether the caller has the permissions.
    pub fn permitted(&self, caller: &Caller) -> bool {
        match self.declaration.needs {
            Needs::Caller => true,
            Needs::Any(permissions) => permissions.iter().any(|permission| caller.may(*permission)),
            Needs::Person => matches!(caller.who, Who::Person(_)),
            Needs::Session => caller.is_person(),
        }
    }
}

async fn run<O: Operation>(context: Context, input: Value) -> Result<Answer> {
    // The schema took it already: what still fails here is ours to mend, but the caller can act on the words.
    let input = serde_json::from_value(input).map_err(|error| Problem::invalid("", error.to_string()))?;
    let mut output = O::run(context.clone(), input).await?;
    Ok(Answer {
        lines: O::lines(&mut output),
        browser_keeps: O::browser_keeps(&mut output),
        summary: O::summary(&context, &output),
        markdown: O::markdown(&output),
        output: serde_json::value::to_raw_value(&output)?,
    })
}
