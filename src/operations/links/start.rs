//! `start`: the person leaves for the provider of a connection, to sign in there and allow it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{opened, usable, wrong_way};
use crate::clock;
use crate::config::CredentialKind;
use crate::connections::consent::AWAY_MS;
use crate::error::Result;
use crate::operations::{BrowserSecret, Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct Start;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The link.
    pub link: String,
}

/// Where the person goes. What their browser keeps meanwhile is in no body.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The provider's page.
    pub authorize_url: String,
    /// When they must be back.
    pub expires_at: String,
    /// What the browser holds until then.
    #[serde(skip)]
    pub held: BrowserSecret,
}

impl Operation for Start {
    const DECLARATION: Declaration = Declaration {
        id: "start",
        name: "start",
        title: "Leave for the service's own page",
        description: "Begins the person's sign-in at the service of a link's connection, and answers the page they go to. \
            Starting again ends the sign-in that was begun before.",
        scope: Scope::Link,
        method: Method::Post,
        path: "/{link}/start",
        success: 200,
        needs: Needs::Session,
        effect: Effect::MAKES,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let found = opened(&context, &input.link).await?;
        usable(&context, &found)?;
        let kind = found.record.credential.as_ref().map(|credential| credential.kind);
        if kind != Some(CredentialKind::Authorization) {
            return Err(wrong_way("Nobody signs in anywhere for this connection: approve it on the page instead."));
        }
        let actor = context.caller.actor();
        let departure = context.app.connections.leave(&found, &input.link, actor, context.now_ms()).await?;
        Ok(Output {
            authorize_url: departure.address.to_string(),
            expires_at: clock::iso(departure.expires_at_ms),
            held: BrowserSecret {
                of: departure.state,
                value: Zeroizing::new(departure.browser.to_string()),
                for_s: AWAY_MS / 1_000,
            },
        })
    }

    fn summary(_: &Context, _: &Output) -> String {
        "The person can sign in at the service now.".to_owned()
    }

    fn browser_keeps(output: &mut Output) -> Option<BrowserSecret> {
        Some(std::mem::take(&mut output.held))
    }
}
