//! `get_guide`: one of the guides, whole.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::error::{Problem, Result};
use crate::guides;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct GetGuide;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The guide's name.
    #[schemars(schema_with = "names")]
    guide: String,
}

/// The names of the guides there are.
fn names(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = guides::ALL.iter().map(|guide| guide.name).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The guide's name.
    guide: &'static str,
    /// Its title.
    title: &'static str,
    /// What it is written in.
    media_type: &'static str,
    /// The whole of it.
    text: &'static str,
}

impl Operation for GetGuide {
    const DECLARATION: Declaration = Declaration {
        id: "get_guide",
        name: "get_guide",
        title: "Read a guide",
        description: "Returns one of the guides of this server, whole, as Markdown. Read terminology first, for what the \
            words mean and how to put things to the person, and the guide of a format before you write a document in it.",
        scope: Scope::Server,
        method: Method::Get,
        path: "/guides/{guide}",
        success: 200,
        needs: Needs::Caller,
        effect: Effect::READS,
        tool: Tool::Everywhere,
    };
    type Input = Input;
    type Output = Output;

    async fn run(_: Context, input: Input) -> Result<Output> {
        let guide = guides::find(&input.guide).ok_or_else(|| Problem::invalid("/guide", "is the name of no guide"))?;
        Ok(Output { guide: guide.name, title: guide.title, media_type: guides::MEDIA_TYPE, text: guide.text })
    }

    fn markdown(output: &Output) -> Option<&'static str> {
        Some(output.text)
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("This is the guide {}; its text follows.", quoted(output.title))
    }
}
