//! `create_key`: makes a key and tells its text, this once.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, View, WithText, allowance, instant, manager};
use crate::config::UsagePeriod;
use crate::error::{Problem, Result};
use crate::identity::Permission;
use crate::identity::keys::{DEFAULT_LIFE_MS, Draft, NAME_PATTERN};
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool, admission};

/// The operation.
pub struct CreateKey;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What people call it, unique among the org's keys that work: 1 to 32 of a-z 0-9 -.
    #[schemars(regex(pattern = NAME_PATTERN))]
    name: String,
    /// What it may do; no more than its maker.
    #[schemars(length(min = 1, max = 4))]
    permissions: Vec<Permission>,
    /// Where it may do it; everywhere its maker may when left out.
    playbooks: Option<Reach>,
    /// When it stops working, as an ISO 8601 instant with its offset, or never; in 90 days when left out.
    #[schemars(length(max = 40))]
    expires_at: Option<String>,
    /// How many calls of tools it has in a period.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    usage_limit: Option<u32>,
    /// What the limit counts over; its whole life when left out.
    usage_period: Option<UsagePeriod>,
    /// Whether it is the maker's own key, which never does more than they may now; as of whoever does not manage the org.
    personal: Option<bool>,
}

impl Operation for CreateKey {
    const DECLARATION: Declaration = Declaration {
        id: "create_key",
        name: "create_key",
        title: "Make a key",
        description: "Makes an API key of the org and tells its text this once; only a digest is kept. A key holds no more than \
            its maker. Who does not manage the org makes personal keys, which never exceed what the person may do. Needs a \
            sign-in of the last ten minutes.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/keys",
        success: 201,
        needs: Needs::Person,
        effect: Effect::MAKES,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = WithText;

    async fn run(context: Context, mut input: Input) -> Result<WithText> {
        admission::recent_sign_in(&context)?;
        input.permissions.sort_unstable();
        input.permissions.dedup();
        let by = manager(&context);
        let personal = input.personal.unwrap_or(!by.every);
        let draft = Draft {
            name: input.name,
            permissions: input.permissions,
            playbooks: input.playbooks.map_or_else(|| by.playbooks.clone(), |reach| reach.0),
            person: by.person.clone().filter(|_| personal),
            expires_at_ms: end(&context, input.expires_at.as_deref())?,
            usage_limit: allowance(input.usage_limit, input.usage_period)?,
        };
        let made = context.app.identity.create_key(context.org(), draft, by).await?;
        Ok(WithText { key: made.text.expose().to_owned(), view: View::of(&made.key, context.now_ms()) })
    }

    fn summary(_: &Context, output: &WithText) -> String {
        format!("The key {} is made. Its text is shown this once.", quoted(&output.view.name))
    }
}

/// When the key is to end, within what the operator allows.
fn end(context: &Context, given: Option<&str>) -> Result<Option<i64>> {
    let (now, most) = (context.now_ms(), context.app.settings.key_max_age_ms);
    let too_long = || {
        let hours = most.unwrap_or_default() / 3_600_000;
        let most = if hours % 24 == 0 { format!("{} days", hours / 24) } else { format!("{hours} hours") };
        Problem::invalid("/expires_at", format!("must be within {most} from now, as whoever runs the server has it"))
    };
    match given {
        None => Ok(Some(now + most.map_or(DEFAULT_LIFE_MS, |most| most.min(DEFAULT_LIFE_MS)))),
        Some("never") => most.map_or(Ok(None), |_| Err(too_long())),
        Some(text) => {
            let end = instant("/expires_at", text)?;
            if end <= now {
                return Err(Problem::invalid("/expires_at", "must be still to come"));
            }
            if most.is_some_and(|most| end > now + most) { Err(too_long()) } else { Ok(Some(end)) }
        }
    }
}
