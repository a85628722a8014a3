//! `finish`: the person is back from the provider; the code they bring becomes the connection's tokens
//! (`connections.md` 9.3).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use super::still_may;
use crate::connections::catalogue::Kind;
use crate::connections::consent::{Arrival, Brought, Consented, Failed};
use crate::connections::links::gone;
use crate::connections::oauth::Tokens;
use crate::connections::{Kept, Record, Status, View};
use crate::error::{Problem, Reason, Result};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::tool_servers::probe::{Account, Probe};

/// The operation.
pub struct Finish;

/// Its fields, as the provider's page sent them back. Never `Debug`: they hold the code.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What names the trip.
    #[schemars(with = "String")]
    state: Zeroizing<String>,
    /// The code that becomes tokens.
    #[schemars(with = "Option<String>")]
    code: Option<Zeroizing<String>>,
    /// Who answers.
    iss: Option<String>,
    /// The error in place of a code.
    error: Option<String>,
    /// Other parameters that came back; those the provider's file names are looked at.
    #[expect(dead_code, reason = "no provider's file names any yet")]
    params: Option<BTreeMap<String, String>>,
}

/// What the trip came to.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The connection.
    pub connection: View,
    /// The link it was approved with, whose page shows how things stand.
    pub link: String,
}

impl Operation for Finish {
    const DECLARATION: Declaration = Declaration {
        id: "finish",
        name: "finish",
        title: "Come back from the service's own page",
        description: "Ends the person's sign-in at the service of a connection with what its page sent back, and connects it. \
            What was sent back is taken once.",
        scope: Scope::Link,
        method: Method::Post,
        path: "/finish",
        success: 200,
        needs: Needs::Session,
        effect: Effect::MAKES,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let connections = &context.app.connections;
        let left = connections.left(context.org(), &input.state).await?;
        let mine = left.filter(|left| left.person == context.caller.id());
        if let Some(left) = &mine {
            still_may(&context)?;
            connections.still_allowed(&left.record)?;
        }
        let (actor, now) = (context.caller.actor(), context.now_ms());
        let Some(arrival) = connections.arrive(context.org(), &input.state, &actor, now).await? else {
            let link = mine.as_ref().and_then(|left| left.link.as_deref());
            return Err(refusal(&Failed::StateUnknown, link.map(String::as_str)));
        };
        let brought = Brought {
            person: context.caller.id().to_owned(),
            browser: context.held.clone(),
            code: input.code,
            issuer: input.iss,
            error: input.error,
        };
        // What was begun is finished also for a browser that left: a code is good for one exchange.
        let finishing = async move { finished(&context, &arrival, &brought).await };
        tokio::spawn(finishing).await.map_err(Problem::internal)?
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} is connected.", quoted(&output.connection.title))
    }
}

async fn finished(context: &Context, arrival: &Arrival, brought: &Brought) -> Result<Output> {
    let connections = &context.app.connections;
    let code = match connections.check(arrival, brought) {
        Ok(code) => code,
        Err(failed) => return Err(failed_with(context, arrival, failed).await),
    };
    if arrival.record.status != Status::Pending {
        connections.fail(&arrival.attempt, context.caller.actor(), &Failed::StateUnknown, context.now_ms()).await?;
        return Err(gone());
    }
    let tokens = match connections.exchange(arrival, code).await {
        Ok(tokens) => tokens,
        Err(failed) => return Err(failed_with(context, arrival, failed).await),
    };
    let settled = settled(context, arrival, &tokens).await;
    if settled.is_err() {
        connections.give_back(arrival, &tokens).await;
    }
    settled
}

/// Tokens that do what the connection is for stand from here on; any others are given back by the caller.
async fn settled(context: &Context, arrival: &Arrival, tokens: &Tokens) -> Result<Output> {
    let connections = &context.app.connections;
    let scopes = arrival.scopes(tokens);
    if !scopes.missing.is_empty() {
        return Err(failed_with(context, arrival, Failed::ScopeMissing(scopes.missing)).await);
    }
    let account = match verified(context, &arrival.record, tokens).await {
        Ok(account) => account,
        Err(problem) => {
            let actor = context.caller.actor();
            connections.fail(&arrival.attempt, actor, &Failed::VerificationFailed, context.now_ms()).await?;
            return Err(problem.with("link", Value::from(arrival.link.as_str())));
        }
    };
    let digest = |id: &String| connections.account_digest(arrival.record.provider.as_deref().unwrap_or_default(), id);
    let account_digest = account.as_ref().and_then(|account| account.id.as_ref()).map(digest).transpose()?;
    let consented = Consented { tokens, scopes: &scopes, account_digest, attempt: Some(&arrival.attempt) };
    let label = account.map(|account| account.label);
    let (actor, now) = (context.caller.actor(), context.now_ms());
    let kept = Kept::Tokens(&consented);
    let connected = connections.connect(context.org(), &arrival.record, actor, now, kept, label).await;
    let (record, won) = match connected {
        Ok(connected) => connected,
        Err(problem) => {
            tracing::error!(%problem, connection.id = arrival.record.id, "tokens could not be put into the store");
            return Err(failed_with(context, arrival, Failed::StoreUnavailable).await);
        }
    };
    if !won {
        return Err(gone());
    }
    let connection = crate::operations::connections::view(context, &record).await;
    Ok(Output { connection, link: arrival.link.to_string() })
}

/// The server takes the tokens; then whose they are, where the provider says.
async fn verified(context: &Context, record: &Record, tokens: &Tokens) -> Result<Option<Account>> {
    let placed = context.app.connections.bearer(record, Kind::Authorization, &tokens.access_token);
    let tool_servers = &context.app.tool_servers;
    match tool_servers.probe(record, Some(placed.clone())).await {
        Ok(_) => Ok(tool_servers.identity(record, Some(&placed)).await),
        Err(Probe::Refused) => Err(refusal(&Failed::VerificationFailed, None)),
        Err(Probe::Unreachable(_)) => {
            let words = format!("{} did not answer, so nothing is connected. Start again in a moment.", record.title);
            Err(Problem::unavailable(words))
        }
        Err(Probe::NotAllowed) => {
            Err(Problem::new(Reason::Unavailable, "Whoever runs the server does not allow this address.")
                .kind("tool_not_offered")
                .because("connection_not_allowed"))
        }
    }
}

/// Ends the trip and tells why; the page of the link tells it too.
async fn failed_with(context: &Context, arrival: &Arrival, failed: Failed) -> Problem {
    let connections = &context.app.connections;
    let told = connections.fail(&arrival.attempt, context.caller.actor(), &failed, context.now_ms()).await;
    match told {
        Err(problem) => problem,
        Ok(()) if failed == Failed::OtherPerson => refusal(&failed, None),
        Ok(()) => refusal(&failed, Some(&arrival.link)),
    }
}

/// The refusal of what somebody brought back; never a word of the provider.
fn refusal(failed: &Failed, link: Option<&str>) -> Problem {
    let bad = |words: &'static str| Problem::new(Reason::BadRequest, words);
    let problem = match failed {
        Failed::StateUnknown => {
            bad("This sign-in is over: it was used already, or took longer than ten minutes. Start again.")
        }
        Failed::OtherBrowser => {
            bad("This sign-in began in another browser. Go back there, or start again in this one.")
        }
        Failed::OtherPerson => bad("This sign-in was begun by somebody else, so it cannot be ended here."),
        Failed::IssuerMismatch => {
            bad("What came back is not from the service that was asked. Nothing was sent to it. Start again.")
        }
        Failed::Declined => {
            Problem::invalid("/error", "says that you did not allow it at the service. Nothing is connected")
        }
        Failed::ProviderError => Problem::invalid("/error", "says that the service could not do it. Start again"),
        Failed::ExchangeFailed => Problem::invalid("/code", "was not taken by the service. Start again"),
        Failed::ProviderUnreachable => {
            Problem::unavailable("The service did not answer, so nothing is connected. Start again in a moment.")
        }
        Failed::StoreUnavailable => Problem::unavailable(
            "What the service gave could not be kept, so nothing is connected. Start again in a moment.",
        ),
        Failed::ScopeMissing(scopes) => {
            let words =
                format!("allows less than is needed; missing: {}. Start again and allow them", scopes.join(", "));
            Problem::invalid("/code", words)
        }
        Failed::VerificationFailed => {
            Problem::invalid("/code", "brought a sign-in that the service then did not take. Start again")
        }
    };
    match link {
        Some(link) => problem.with("link", Value::from(link)),
        None => problem,
    }
}
