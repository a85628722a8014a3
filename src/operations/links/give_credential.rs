//! `give_credential`: the person gives the value a connection needs; it goes to the secrets store and into no answer.

use std::collections::BTreeMap;

use base64::Engine;
use schemars::JsonSchema;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{connected, opened, same_value, tried, usable, wrong_way};
use crate::config::CredentialKind;
use crate::connections::catalogue::{Kind, ValueIn, Way};
use crate::connections::{Record, Status, View};
use crate::error::{Problem, Reason, Result};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The most bytes of a value.
const MOST: usize = 8_192;

/// The operation.
pub struct GiveCredential;

/// Its fields. Never `Debug`: they hold the credential.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The link.
    link: String,
    /// The value, where one is asked for.
    #[schemars(with = "Option<String>")]
    value: Option<Zeroizing<String>>,
    /// The values by their names, where several are asked for.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    values: Option<BTreeMap<String, Zeroizing<String>>>,
}

impl Operation for GiveCredential {
    const DECLARATION: Declaration = Declaration {
        id: "give_credential",
        name: "give_credential",
        title: "Give a connection its credential",
        description: "The person gives the credential of a link's connection, which approves it. The value is checked with the \
            service, kept in the secrets store, and shown by nothing afterwards.",
        scope: Scope::Link,
        method: Method::Post,
        path: "/{link}/credential",
        success: 200,
        needs: Needs::Session,
        effect: Effect::SETS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = View;

    async fn run(context: Context, input: Input) -> Result<View> {
        let found = opened(&context, &input.link).await?;
        let record = &found.record;
        if record.status != Status::Connected {
            usable(&context, &found)?;
        }
        let Some(credential) = record.credential.as_ref().filter(|one| one.kind == CredentialKind::Secret) else {
            return Err(wrong_way("This connection takes no credential: approve it on the page instead."));
        };
        if record.status == Status::Connected {
            let value = one_value(&context, record, &input)?;
            same_value(&context, record, &value).await?;
            return Ok(crate::operations::connections::view(&context, record).await);
        }
        let value = one_value(&context, record, &input)?;
        check(&value, credential.place.unwrap_or(ValueIn::Header))?;
        let placed = context.app.connections.trial(credential, &value);
        let account = tried(&context, &input.link, record, placed.as_ref()).await?;
        connected(&context, record, Some(&value), account).await
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("{} is connected.", quoted(&view.title))
    }
}

/// The one value that is kept: as given, or made of several the way the provider wants it.
fn one_value(context: &Context, record: &Record, input: &Input) -> Result<Zeroizing<String>> {
    let provider = record.provider.as_deref().and_then(|name| context.app.connections.catalogue().get(name));
    let way = provider.and_then(|provider| provider.way(Kind::Secret));
    match way.filter(|way| !way.fields.is_empty()) {
        Some(way) => joined(way, input),
        None => {
            if input.values.is_some() {
                return Err(Problem::invalid("/values", "is not asked for; give value"));
            }
            let given = input.value.as_ref().ok_or_else(|| Problem::invalid("/value", "is required and missing"))?;
            let value = trimmed("/value", given)?;
            if let Some(format) = way.and_then(|way| way.format.as_ref())
                && !regex::Regex::new(format).is_ok_and(|format| format.is_match(&value))
            {
                return Err(Problem::invalid("/value", "does not have the form this service's credentials have"));
            }
            Ok(value)
        }
    }
}

fn joined(way: &Way, input: &Input) -> Result<Zeroizing<String>> {
    let empty = BTreeMap::new();
    let values = input.values.as_ref().unwrap_or(&empty);
    let mut parts = Vec::new();
    for field in &way.fields {
        let pointer = format!("/values/{}", field.name);
        let given = values.get(&field.name).ok_or_else(|| Problem::invalid(&pointer, "is required and missing"))?;
        parts.push(trimmed(&pointer, given)?);
    }
    if let Some(other) = values.keys().find(|name| !way.fields.iter().any(|field| field.name == **name)) {
        return Err(Problem::invalid(format!("/values/{other}"), "is not asked for"));
    }
    let text = Zeroizing::new(parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join(":"));
    Ok(match way.encode {
        Some(_) => Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(text.as_bytes())),
        None => text,
    })
}

fn trimmed(pointer: &str, given: &str) -> Result<Zeroizing<String>> {
    let value = given.trim();
    if value.is_empty() {
        return Err(Problem::invalid(pointer, "must not be empty"));
    }
    if value.len() > MOST {
        return Err(Problem::new(Reason::ContentTooLarge, "The credential is over 8 KiB."));
    }
    Ok(Zeroizing::new(value.to_owned()))
}

/// What may stand in a header or a cookie (RFC 9110, section 5.5; RFC 6265, section 4.1.1).
fn check(value: &str, place: ValueIn) -> Result<()> {
    let fits = value.bytes().all(|byte| match place {
        ValueIn::Header => byte == b' ' || byte.is_ascii_graphic(),
        ValueIn::Cookie => byte.is_ascii_graphic() && !b"\",;\\".contains(&byte),
        ValueIn::Query => !byte.is_ascii_control(),
    });
    if fits {
        return Ok(());
    }
    Err(Problem::invalid("/value", "must be visible characters on one line, as the service gave it"))
}
