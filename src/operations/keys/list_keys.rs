//! `list_keys`: the org's keys, those of the configuration first, then newest first; without administration, one's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{View, manager};
use crate::error::Result;
use crate::identity::caller::{PERSON, PERSON_PATTERN};
use crate::identity::keys::Status;
use crate::operations::words::{count, quoted};
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};
use crate::store::page::{Cursor, Limit, Subject};

/// Rows read at a time while a page is filled.
const READ: usize = 100;
/// The most such reads for one page, so that a filter that leaves all out costs no more; the page is then short.
const READS: usize = 10;

/// The operation.
pub struct ListKeys;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only those of this status.
    status: Option<Status>,
    /// Only this person's own.
    #[schemars(regex(pattern = PERSON_PATTERN))]
    person: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cursor: Cursor,
}

/// A page of them.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The keys, those of the configuration first, then newest first.
    pub keys: Vec<View>,
    /// Whether there are more.
    pub has_more: bool,
    /// The cursor of the next page, or null.
    pub next_cursor: Option<String>,
}

/// The last row seen: of the configuration its id; of the database when it was made, and its id.
type Position = (Option<i64>, String);

impl Operation for ListKeys {
    const DECLARATION: Declaration = Declaration {
        id: "list_keys",
        name: "list_keys",
        title: "List keys",
        description: "Lists the org's API keys, each with what it may do, when it ends and when it was last used, never with \
            its text. Who does not manage the org sees their own personal keys.",
        scope: Scope::Org,
        method: Method::Get,
        path: "/keys",
        success: 200,
        needs: Needs::Person,
        effect: Effect::READS,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let by = manager(&context);
        let own = by.person.as_deref().filter(|_| !by.every);
        let asked = input.person.as_deref().and_then(|person| person.strip_prefix(PERSON));
        let parts =
            [context.org(), own.unwrap_or_default(), asked.unwrap_or_default(), input.status.map_or("", Status::word)];
        let subject = Subject::of("keys", &parts);
        let mut at: Option<Position> = input.cursor.read(&subject)?;
        if matches!((own, asked), (Some(own), Some(asked)) if own != asked) {
            return Ok(Output { keys: Vec::new(), has_more: false, next_cursor: None });
        }
        let fits = |view: &View| input.status.is_none_or(|status| view.status == status);
        let (now, rows) = (context.now_ms(), input.limit.rows());
        let mut found: Vec<(Position, View)> = Vec::new();
        if by.every && asked.is_none() && at.as_ref().is_none_or(|(made, _)| made.is_none()) {
            let after = at.take().map(|(_, id)| id).unwrap_or_default();
            let configured = context.app.identity.configured_keys(context.org()).filter(|key| key.id > after);
            let views = configured.map(|key| ((None, key.id.clone()), View::configured(key, now)));
            found.extend(views.filter(|(_, view)| fits(view)));
        }
        let mut more = true;
        for _ in 0..READS {
            if !more || found.len() > rows {
                break;
            }
            let before = at.take().and_then(|(made, id)| made.map(|made| (made, id)));
            let read = context.app.identity.keys_after(context.org(), own.or(asked), before, READ as i64).await?;
            more = read.len() == READ;
            at = read.last().map(|key| (Some(key.created_at_ms), key.id.clone()));
            let views = read.iter().map(|key| ((Some(key.created_at_ms), key.id.clone()), View::of(key, now)));
            found.extend(views.filter(|(_, view)| fits(view)));
        }
        let cut = found.len() > rows;
        found.truncate(rows);
        let last = if cut { found.last().map(|(position, _)| position.clone()) } else { at.filter(|_| more) };
        let next_cursor = last.map(|position| subject.cursor(&position)).transpose()?;
        let keys = found.into_iter().map(|(_, view)| view).collect();
        Ok(Output { keys, has_more: next_cursor.is_some(), next_cursor })
    }

    fn summary(_: &Context, output: &Output) -> String {
        let names: Vec<String> = output.keys.iter().map(|key| quoted(&key.name)).collect();
        format!("{} on this page: {}.", count(names.len(), "key"), crate::operations::words::joined_most(&names, 10))
    }
}
