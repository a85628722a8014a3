//! `give_credential`: the person gives the value a connection needs; it goes to the secrets store and into no answer.

use std::collections::BTreeMap;

use base64::Engine;
use schemars::JsonSchema;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{connected, opened, same_value, tried, usable, wrong_way};
use crate::config::CredentialKind;
use crate::connections::catalogue::{Kind, ValueIn, Way};
use crate::connections::{Kept, Record, Status, View};
use crate::error::{Issue, Problem, Reason, Result};
use crate::operations::schema::escape;
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
        let value = one_value(&context, record, &input, credential.place.unwrap_or(ValueIn::Header))?;
        if record.status == Status::Connected {
            same_value(&context, record, &value).await?;
            return Ok(crate::operations::connections::view(&context, record).await);
        }
        let placed = context.app.connections.trial(credential, &value);
        let account = tried(&context, &input.link, record, placed.as_ref()).await?;
        connected(&context, record, Kept::Value(&value), account).await
    }

    fn summary(_: &Context, view: &View) -> String {
        format!("{} is connected.", quoted(&view.title))
    }
}

/// The one value that is kept: as given, or made of several the way the provider wants it. Every fault at once.
fn one_value(context: &Context, record: &Record, input: &Input, place: ValueIn) -> Result<Zeroizing<String>> {
    let mut given = input.value.iter().chain(input.values.iter().flat_map(BTreeMap::values));
    if given.any(|value| value.trim().len() > MOST) {
        return Err(Problem::new(Reason::ContentTooLarge, "The credential is over 8 KiB."));
    }
    let provider = record.provider.as_deref().and_then(|name| context.app.connections.catalogue().get(name));
    let way = provider.and_then(|provider| provider.way(Kind::Secret));
    let mut issues = Vec::new();
    let value = match way.filter(|way| !way.fields.is_empty()) {
        Some(way) => joined(way, input, place, &mut issues),
        None => {
            if input.values.is_some() {
                issues.push(Issue::new("/values", "is not asked for; give value"));
            }
            let value = match (&input.value, &input.values) {
                // The words about values say already that value is missing.
                (None, Some(_)) => "",
                (given, _) => part("/value".into(), given.as_ref(), Some(place), &mut issues),
            };
            let format = way.and_then(|way| way.format.as_ref());
            let fits = |format: &String| regex::Regex::new(format).is_ok_and(|format| format.is_match(value));
            if issues.is_empty() && !format.is_none_or(fits) {
                issues.push(Issue::new("/value", "does not have the form this service's credentials have"));
            }
            Zeroizing::new(value.to_owned())
        }
    };
    if issues.is_empty() { Ok(value) } else { Err(Problem::invalid_all(issues)) }
}

fn joined(way: &Way, input: &Input, place: ValueIn, issues: &mut Vec<Issue>) -> Zeroizing<String> {
    let empty = BTreeMap::new();
    let values = input.values.as_ref().unwrap_or(&empty);
    if input.value.is_some() {
        issues.push(Issue::new("/value", "is not asked for; give values"));
    }
    for other in values.keys().filter(|name| !way.fields.iter().any(|field| field.name == **name)) {
        issues.push(Issue::new(at(other), "is not asked for"));
    }
    // What is encoded may hold any character.
    let place = way.encode.is_none().then_some(place);
    let fields = way.fields.iter();
    let parts: Vec<&str> = fields.map(|field| part(at(&field.name), values.get(&field.name), place, issues)).collect();
    let text = Zeroizing::new(parts.join(":"));
    match way.encode {
        Some(_) => Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(text.as_bytes())),
        None => text,
    }
}

fn at(name: &str) -> String {
    format!("/values/{}", escape(name))
}

/// One value without the white space around it; a fault of it goes to `issues`.
fn part<'a>(
    pointer: String,
    given: Option<&'a Zeroizing<String>>,
    place: Option<ValueIn>,
    issues: &mut Vec<Issue>,
) -> &'a str {
    let value = given.map_or("", |given| given.trim());
    let fault = match (given, place) {
        (None, _) => "is required and missing",
        _ if value.is_empty() => "must not be empty",
        (_, Some(place)) if !fits(value, place) => "must be visible characters on one line, as the service gave it",
        _ => return value,
    };
    issues.push(Issue::new(pointer, fault));
    value
}

/// What may stand in a header or a cookie (RFC 9110, section 5.5; RFC 6265, section 4.1.1).
fn fits(value: &str, place: ValueIn) -> bool {
    value.bytes().all(|byte| match place {
        ValueIn::Header => byte == b' ' || byte.is_ascii_graphic(),
        ValueIn::Cookie => byte.is_ascii_graphic() && !b"\",;\\".contains(&byte),
        ValueIn::Query => !byte.is_ascii_control(),
    })
}
