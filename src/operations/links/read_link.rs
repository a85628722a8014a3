//! `read_link`: what a link is about, for the page it opens (`connections.md` 9.4). Reading changes nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::config::{CredentialKind, ServerType};
use crate::connections::catalogue::{Kind, Provider};
use crate::connections::links::{Opened, gone};
use crate::connections::{Record, Status, consent};
use crate::error::Result;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct ReadLink;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The link.
    pub link: String,
}

/// What the page shows. Everything but `state`, `adder` and `signed_in_as` is absent for somebody else.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// `ready`, `started`, `provider_error`, `connected`, `expired`, `cancelled`, `removed`, `other_person` or `not_allowed`.
    pub state: &'static str,
    /// The token that commands carry in `x-playmaker-csrf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csrf: Option<String>,
    /// What is to be connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<Shown>,
    /// What the person does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<ShownWay>,
    /// The org it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    /// Whose agent added it.
    pub adder: String,
    /// Who looks at the page.
    pub signed_in_as: String,
    /// When it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_at: Option<String>,
    /// When the link ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The attempt under way or the last that failed, or null.
    pub attempt: Option<Attempt>,
    /// `connect`.
    pub purpose: &'static str,
    /// Where the page goes afterwards: nowhere.
    pub return_to: Option<String>,
}

/// What is to be connected.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    /// The connection's id.
    pub id: String,
    /// What functions write before the slash.
    pub name: String,
    /// The provider's title, or the name.
    pub title: String,
    /// `mcp` or `openapi`.
    #[serde(rename = "type")]
    pub kind: ServerType,
    /// The server's host in ASCII form.
    pub host: String,
    /// The server's address, of which the page shows the port too.
    #[serde(skip)]
    pub address: String,
    /// The provider, or null.
    pub provider: Option<String>,
    /// The provider's picture, or null.
    pub icon: Option<String>,
    /// Names of the playbooks that may use it; null: every one.
    pub playbooks: Option<Vec<String>>,
    /// Tools that may be used; null: every one.
    pub allowed: Option<Vec<String>>,
    /// The account it is connected as, where known.
    pub account: Option<String>,
}

/// What the person does.
#[derive(Serialize, JsonSchema)]
pub struct ShownWay {
    /// The credential's kind, or null.
    pub kind: Option<CredentialKind>,
    /// What the way is called.
    pub title: String,
    /// Where the credential is had, or null.
    pub help: Option<String>,
    /// The variable a reference names.
    pub variable: Option<String>,
    /// What the person gives.
    pub fields: Vec<ShownField>,
    /// What a consent asks for; empty outside OAuth.
    pub scopes: Vec<ShownScope>,
}

/// Something a consent asks for.
#[derive(Serialize, JsonSchema)]
pub struct ShownScope {
    /// The scope, as the provider names it.
    pub scope: String,
    /// What it lets the connection do, in plain words.
    pub words: String,
}

/// A value the person gives.
#[derive(Serialize, JsonSchema)]
pub struct ShownField {
    /// Its name among `values`; `value` where there is one alone.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// Whether it is typed unseen.
    pub secret: bool,
}

/// An attempt under way, or one that failed.
#[derive(Serialize, JsonSchema)]
pub struct Attempt {
    /// The code and the words of what went wrong; null while the person is away.
    pub last_error: Option<LastError>,
    /// When the person left for the provider's page, while they are away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
}

/// What went wrong.
#[derive(Serialize, JsonSchema)]
pub struct LastError {
    /// The code of the audit.
    pub code: String,
    /// The same in words.
    pub words: String,
}

impl Operation for ReadLink {
    const DECLARATION: Declaration = Declaration {
        id: "read_link",
        name: "read_link",
        title: "Read what a link is about",
        description: "Reads what an approval link is about, for the page it opens, as the person who opened it may see it.",
        scope: Scope::Link,
        method: Method::Get,
        path: "/{link}",
        success: 200,
        needs: Needs::Session,
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let connections = &context.app.connections;
        let found = connections.open_link(context.org(), &input.link, context.now_ms()).await?.ok_or_else(gone)?;
        let mine = found.link.person == context.caller.id();
        if !mine {
            super::told(&context, &input.link, &found).await?;
            super::inside(&context)?;
            return Ok(Output::of("other_person", &context, &found.record));
        }
        super::still_may(&context)?;
        let last = last_attempt(&context, &input.link, &found.record).await?;
        let trip = last.as_ref().map(|attempt| Trip::of(attempt, context.now_ms()));
        let mut output = Output::of(state(&context, &found, trip), &context, &found.record);
        let provider = found.record.provider.as_deref().and_then(|name| connections.catalogue().get(name));
        output.csrf.clone_from(&context.csrf);
        output.connection = Some(shown(&context, &found.record).await?);
        output.way = Some(way(provider, &found.record));
        output.org = Some(context.org().to_owned());
        output.added_at = Some(clock::iso(found.record.added_at));
        output.expires_at = Some(clock::iso(found.link.expires_at));
        output.attempt = match (output.state, trip, found.link.last_error.as_deref()) {
            ("started", ..) => {
                Some(Attempt { last_error: None, started_at: last.map(|attempt| clock::iso(attempt.started_at_ms())) })
            }
            (_, Some(Trip::Lapsed), _) => Some(failed("state_unknown", &found.record.title, &[])),
            (_, _, Some(code)) => {
                let missing = last.map(|attempt| attempt.missing()).unwrap_or_default();
                Some(failed(code, &found.record.title, &missing))
            }
            _ => None,
        };
        Ok(output)
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("The link is {}.", output.state.replace('_', " "))
    }
}

impl Output {
    fn of(state: &'static str, context: &Context, record: &Record) -> Self {
        Self {
            state,
            csrf: None,
            connection: None,
            way: None,
            org: None,
            adder: record.added_by.name.clone(),
            signed_in_as: context.caller.name().to_owned(),
            added_at: None,
            expires_at: None,
            attempt: None,
            purpose: "connect",
            return_to: None,
        }
    }
}

/// How the last trip from a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trip {
    /// The person may still come back.
    UnderWay,
    /// They never did.
    Lapsed,
    /// It is over, one way or another.
    Ended,
}

impl Trip {
    fn of(attempt: &consent::Attempt, now_ms: i64) -> Self {
        match (attempt.is_under_way(now_ms), attempt.has_ended()) {
            (true, _) => Self::UnderWay,
            (false, false) => Self::Lapsed,
            (false, true) => Self::Ended,
        }
    }
}

/// The last trip from the link of a connection whose person signs in at a provider.
async fn last_attempt(context: &Context, link: &str, record: &Record) -> Result<Option<consent::Attempt>> {
    let signs_in = record.credential.as_ref().is_some_and(|one| one.kind == CredentialKind::Authorization);
    if signs_in { context.app.connections.last_attempt(context.org(), link).await } else { Ok(None) }
}

fn state(context: &Context, found: &Opened, trip: Option<Trip>) -> &'static str {
    let allowed = context.app.connections.still_allowed(&found.record).is_ok();
    match found.record.status {
        Status::Connected => "connected",
        Status::Removed if found.link.state == "cancelled" => "cancelled",
        Status::Removed => "removed",
        // Who left in time has ten minutes of their own, whatever is left of the link's (decision D29).
        Status::Pending if trip == Some(Trip::UnderWay) && allowed => "started",
        Status::Pending if found.link.state != "open" => "expired",
        Status::Pending if !allowed => "not_allowed",
        Status::Pending if found.link.last_error.is_some() || trip == Some(Trip::Lapsed) => "provider_error",
        Status::Pending => "ready",
    }
}

async fn shown(context: &Context, record: &Record) -> Result<Shown> {
    let mut playbooks = None;
    if let Some(ids) = &record.entry.playbooks {
        let mut names = Vec::new();
        for id in ids {
            let found = crate::playbooks::find(&context.app.ledger, context.org(), id).await?;
            names.push(found.map_or_else(|| id.clone(), |playbook| playbook.name));
        }
        playbooks = Some(names);
    }
    Ok(Shown {
        id: record.id.clone(),
        name: record.name.clone(),
        title: record.title.clone(),
        kind: record.kind,
        host: record.host(),
        address: record.entry.url.clone().unwrap_or_default(),
        provider: record.provider.clone(),
        icon: None,
        playbooks,
        allowed: record.entry.allowed.clone(),
        account: record.account.clone(),
    })
}

fn way(provider: Option<&Provider>, record: &Record) -> ShownWay {
    let kind = record.credential.as_ref().map(|credential| credential.kind);
    let way = provider.and_then(|provider| match kind {
        Some(CredentialKind::Secret) => provider.way(Kind::Secret),
        Some(CredentialKind::Reference) => provider.way(Kind::Reference),
        Some(CredentialKind::Authorization) => provider.way(Kind::Authorization),
        _ => None,
    });
    let title = way.map_or_else(
        || match kind {
            Some(CredentialKind::Secret) => "Credential".to_owned(),
            Some(CredentialKind::Reference) => "A variable of the server".to_owned(),
            Some(CredentialKind::Authorization) => "Sign in".to_owned(),
            _ => "No credential".to_owned(),
        },
        |way| way.title.clone(),
    );
    let fields = match (kind, way) {
        (Some(CredentialKind::Secret), Some(way)) if !way.fields.is_empty() => way
            .fields
            .iter()
            .map(|field| ShownField { name: field.name.clone(), title: field.title.clone(), secret: field.secret })
            .collect(),
        (Some(CredentialKind::Secret), _) => {
            vec![ShownField { name: "value".into(), title: title.clone(), secret: true }]
        }
        _ => Vec::new(),
    };
    let variable = record.credential.as_ref().and_then(|credential| credential.variable.clone());
    let scopes = match (kind, way.and_then(|way| way.scopes.as_ref())) {
        (Some(CredentialKind::Authorization), Some(scopes)) => {
            scopes.default.iter().map(|scope| ShownScope::of(scope)).collect()
        }
        _ => Vec::new(),
    };
    ShownWay { kind, title, help: way.and_then(|way| way.help.clone()), variable, fields, scopes }
}

impl ShownScope {
    fn of(scope: &str) -> Self {
        Self { scope: scope.to_owned(), words: super::scope_words::words(scope) }
    }
}

/// What went wrong and what to do, in our words: never the provider's.
fn failed(code: &str, title: &str, missing: &[String]) -> Attempt {
    let words = match code {
        "credential_refused" => format!("{title} did not take the credential. Check it and try again."),
        "state_unknown" => format!("You came back from {title} too late. Try again; you have ten minutes there."),
        "other_browser" => {
            format!("You came back from {title} in another browser. Try again, in one browser all the way.")
        }
        "other_person" => format!("Somebody else came back from {title}. Nothing of theirs was kept. Try again."),
        "issuer_mismatch" => format!("What came back is not from {title} as it was asked. It was not used. Try again."),
        "declined" => format!("You did not allow it at {title}. Try again, or cancel."),
        "provider_error" => format!("{title} could not do it. Try again in a moment."),
        "exchange_failed" => format!("{title} did not complete the sign-in. Try again."),
        "metadata_mismatch" => {
            format!("What {title} says about signing in does not fit together, so nobody is sent there.")
        }
        "pkce_missing" => format!("Where people sign in to {title} lacks a protection that is insisted on here."),
        "no_client" => {
            format!(
                "Where people sign in to {title} takes no client by itself. Whoever runs the server can register one."
            )
        }
        "provider_unreachable" => format!("{title} did not answer. Try again in a moment."),
        "store_unavailable" => {
            format!("What {title} gave could not be kept, so it was given back. Try again in a moment.")
        }
        "scope_missing" => {
            let missing: Vec<String> =
                missing.iter().map(|scope| format!("{} ({scope})", super::scope_words::words(scope))).collect();
            format!(
                "You allowed less at {title} than is needed. Missing: {}. Try again and allow them.",
                missing.join(", ")
            )
        }
        "verification_failed" => format!("{title} did not take the sign-in it had just given. Try again."),
        _ => format!("{title} could not be reached. Try again in a moment."),
    };
    Attempt { last_error: Some(LastError { code: code.to_owned(), words }), started_at: None }
}
