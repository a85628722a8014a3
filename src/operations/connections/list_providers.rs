//! `list_providers`: what a person may connect, for the page that shows it; over HTTP alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connections::catalogue::{Kind, PlaceholderIn, Provider, Type};
use crate::error::Result;
use crate::identity::Permission;
use crate::operations::words::count;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Offer, Operation, Scope, Tool};

/// The operation.
pub struct ListProviders;

/// It has no fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Whether this caller may add a connection.
    may_add: bool,
    /// The providers: featured ones first, then by title.
    providers: Vec<Shown>,
}

/// A provider as the page shows it.
#[derive(Serialize, JsonSchema)]
struct Shown {
    name: String,
    title: String,
    description: String,
    icon: Option<String>,
    #[serde(rename = "type")]
    kind: &'static str,
    host: String,
    ways: Vec<ShownWay>,
    placeholders: Vec<ShownPlaceholder>,
    /// Names of the org's own connections to it.
    connections: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct ShownWay {
    kind: &'static str,
    title: String,
    offered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct ShownPlaceholder {
    name: String,
    title: String,
    description: String,
    #[serde(rename = "in")]
    place: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
}

impl Operation for ListProviders {
    const DECLARATION: Declaration = Declaration {
        id: "list_providers",
        name: "list_providers",
        title: "List providers",
        description: "Lists the services a person may connect by name, each with the ways of giving its credential, which of \
            them are offered here, and the placeholders to fill in.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/providers",
        success: 200,
        needs: Needs::Any(&[Permission::OrgRead]),
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, _: Input) -> Result<Output> {
        let app = &context.app;
        let may_add = super::can_add(&Offer { app, caller: &context.caller });
        let living = app.connections.living(context.org()).await?;
        let providers = app.connections.catalogue().all();
        let providers = providers.into_iter().map(|provider| {
            let of = living.iter().filter(|record| record.provider.as_deref() == Some(&provider.name));
            shown(&context, provider, of.map(|record| record.name.clone()).collect())
        });
        Ok(Output { may_add, providers: providers.collect() })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} can be shown.", count(output.providers.len(), "provider"))
    }
}

fn shown(context: &Context, provider: &Provider, connections: Vec<String>) -> Shown {
    let all = &context.app.connections;
    let rules = all.way_rules();
    let is_set = |variable: &str| all.is_set(variable);
    let ways = provider.ways(&is_set, &rules).map(|(way, offered)| ShownWay {
        kind: way.kind.word(),
        title: way.title.clone(),
        offered,
        help: way.help.clone(),
        scopes: (way.kind == Kind::Authorization)
            .then(|| way.scopes.as_ref().map(|scopes| scopes.default.clone()).unwrap_or_default()),
    });
    let placeholders = provider.placeholders.iter().map(|placeholder| ShownPlaceholder {
        name: placeholder.name.clone(),
        title: placeholder.title.clone(),
        description: placeholder.description.clone(),
        place: match placeholder.place {
            PlaceholderIn::HostLabel => "host_label",
            PlaceholderIn::Host => "host",
            PlaceholderIn::Path => "path",
            PlaceholderIn::Query => "query",
        },
        pattern: placeholder.pattern.clone(),
        example: placeholder.example.clone(),
        default: placeholder.default.clone(),
        options: placeholder.options.clone(),
    });
    Shown {
        name: provider.name.clone(),
        title: provider.title.clone(),
        description: provider.description.clone(),
        icon: None,
        kind: match provider.server.r#type {
            Type::Mcp => "mcp",
            Type::Openapi => "openapi",
        },
        host: provider.host().to_owned(),
        ways: ways.collect(),
        placeholders: placeholders.collect(),
        connections,
    }
}
