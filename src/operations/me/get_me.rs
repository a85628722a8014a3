//! `get_me`: whom a credential acts as, and what it may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::iso;
use crate::config::{UsageLimit, UsagePeriod};
use crate::error::Result;
use crate::identity::caller::PERSON;
use crate::identity::keys::usage::resets_at;
use crate::identity::{Caller, Permission, Permissions, Role, Who, orgs};
use crate::operations::keys::Reach;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct GetMe;

/// It has no field.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// What a caller is.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The caller id: `person:user_…`, a key's id, or `local`.
    id: String,
    /// `person`, `key` or `local`.
    kind: &'static str,
    /// The name for people to read.
    name: String,
    /// The org it acts in; null for a person in a browser outside any.
    org: Option<String>,
    /// A person's role in that org, or null.
    role: Option<Role>,
    /// What the credential was given, before the role narrows it.
    scopes: Vec<Permission>,
    /// What it may do now.
    permissions: Vec<Permission>,
    /// `*`, or the ids of the playbooks it reaches.
    playbooks: Reach,
    /// The person whose own a key is, or null.
    person: Option<String>,
    /// What a key with a limit has used of it, or null.
    usage: Option<Usage>,
    /// The orgs a person belongs to, the one last used first; null for anybody else.
    orgs: Option<Vec<Belongs>>,
}

/// A key's use of its allowance.
#[derive(Serialize, JsonSchema)]
pub struct Usage {
    /// Calls it has.
    limit: u32,
    /// Calls it made.
    used: i64,
    /// Counted over.
    period: UsagePeriod,
    /// When the count begins anew; null for the whole life of a key.
    resets_at: Option<String>,
}

/// An org of a person.
#[derive(Serialize, JsonSchema)]
pub struct Belongs {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// Whether it takes commands.
    status: orgs::Status,
    /// The person's role there.
    role: Role,
}

impl Operation for GetMe {
    const DECLARATION: Declaration = Declaration {
        id: "get_me",
        name: "get_me",
        title: "Who am I",
        description: "Tells whom this credential acts as, in which org, and what it may do there. A person also learns the \
            orgs they belong to.",
        scope: Scope::Server,
        method: Method::Get,
        path: "/me",
        success: 200,
        needs: Needs::Caller,
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, _: Input) -> Result<Output> {
        let caller = &context.caller;
        let (mut given, mut usage, mut person) = (caller.permissions, None, None);
        match &caller.who {
            Who::Local { .. } => {}
            Who::Person(signed_in) => given = signed_in.granted,
            Who::Key { id, person: own, .. } => {
                person = own.as_ref().map(|own| format!("{PERSON}{own}"));
                if let Some(key) = context.app.identity.key(&caller.org, id).await? {
                    given = Permissions::of(&key.permissions);
                    let now = context.now_ms();
                    usage = key.usage_limit.map(|UsageLimit { calls, period }| Usage {
                        limit: calls,
                        used: key.used(now),
                        period,
                        resets_at: resets_at(period, now).map(iso),
                    });
                }
            }
        }
        Ok(Output {
            id: caller.id().to_owned(),
            kind: caller.kind(),
            name: caller.name().to_owned(),
            org: Some(caller.org.clone()).filter(|org| !org.is_empty()),
            role: caller.role(),
            scopes: given.each().collect(),
            permissions: caller.permissions.each().collect(),
            playbooks: Reach(caller.playbooks.clone()),
            person,
            usage,
            orgs: belongs(&context, caller).await?,
        })
    }

    fn summary(_: &Context, output: &Output) -> String {
        let org = output.org.as_ref().map(|org| format!(" in the org {}", quoted(org))).unwrap_or_default();
        format!("This is {} ({}){org}.", quoted(&output.name), output.id)
    }
}

/// The orgs of a person; one that is gone is left out.
async fn belongs(context: &Context, caller: &Caller) -> Result<Option<Vec<Belongs>>> {
    let Some(person) = caller.person() else { return Ok(None) };
    let identity = &context.app.identity;
    let mut found = Vec::new();
    for membership in identity.memberships_of(person).await? {
        match identity.org(&membership.org).await? {
            Some(org) if org.status != orgs::Status::Deleted => {
                found.push(Belongs { id: org.id, name: org.name, status: org.status, role: membership.role });
            }
            _ => {}
        }
    }
    Ok(Some(found))
}
