//! `add_connection` asks the person to open its page, and takes the call up again once they were there
//! (`connections.md` 3.6; `mcp.md` 11).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::add_connection::{AddConnection, label};
use crate::clock;
use crate::connections::{Connect, Record, RequestState, Status, View};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::operations::{Asking, Brought, Context, Question};
use crate::store::Wake;

/// What a state is good for.
const METHOD: &str = "tools/call add_connection";
/// How long a state may be given back, in milliseconds.
const LIVES_MS: i64 = 24 * 60 * 60 * 1_000;
/// The key of the one request.
const APPROVE: &str = "approve";
/// The most characters of what the client shows.
const MAX_MESSAGE: usize = 300;

impl Asking for AddConnection {
    fn question(context: &Context, arguments: &Value, view: &View) -> Result<Question> {
        let url = view.connect.as_ref().map_or("", |connect| connect.url.as_str());
        let state = RequestState {
            org: context.org().to_owned(),
            principal: context.caller.id().to_owned(),
            connection: view.id.clone(),
            link: url.rsplit('/').next().unwrap_or_default().to_owned(),
            method: METHOD.to_owned(),
            arguments: digest(arguments),
            ends_at: context.now_ms() + LIVES_MS,
        };
        let params = json!({ "mode": "url", "url": url, "message": message(context, view) });
        Ok(Question {
            requests: json!({ APPROVE: { "method": "elicitation/create", "params": params } }),
            state: context.app.connections.seal_state(&state)?,
        })
    }

    async fn again(context: Context, brought: Brought) -> Result<Option<(View, String)>> {
        let Some(state) = context.app.connections.open_state(&brought.state)? else { return Ok(None) };
        let is_this = state.org == context.org()
            && state.principal == context.caller.id()
            && state.method == METHOD
            && state.arguments == digest(&brought.arguments)
            && context.now_ms() < state.ends_at;
        if !is_this {
            return Ok(None);
        }
        let declined = has_declined(brought.responses.as_ref());
        let patience = if declined { Duration::ZERO } else { context.app.patience };
        let Some(record) = approved(&context, &state.connection, patience).await? else { return Ok(None) };
        let mut view = super::view(&context, &record).await;
        let words = words(&context, &record, &mut view, &state.link, declined);
        Ok(Some((view, words)))
    }
}

/// The connection once it no longer waits for its approval, or as it stands when `patience` is over.
async fn approved(context: &Context, id: &str, patience: Duration) -> Result<Option<Record>> {
    let mut commits = context.app.ledger.store().wake().subscribe();
    let until = Instant::now() + patience;
    loop {
        let Some(record) = context.app.connections.find(context.org(), id).await? else { return Ok(None) };
        let waits = record.living_link(context.now_ms()).is_some();
        if !waits || timeout_at(until, Wake::wait(&mut commits, context.org())).await.is_err() {
            return Ok(Some(record));
        }
    }
}

/// The row of the sheet's table that fits, in words; a link that still lives is shown once more.
fn words(context: &Context, record: &Record, view: &mut View, link: &str, declined: bool) -> String {
    let title = &record.title;
    match record.status {
        Status::Removed => "The connection was cancelled. Nothing is connected.".into(),
        Status::Connected => match &view.detail {
            None => format!("The {title} connection is connected. Nothing is left to open."),
            Some(detail) => detail.clone(),
        },
        Status::Pending => match record.living_link(context.now_ms()) {
            None => "The link has expired. Remove the connection with remove_connection and add it again.".into(),
            Some(end) => {
                let url = format!("{}/connect/{link}", context.app.public_address());
                let first = if declined { "The person declined to open the page. " } else { "" };
                let waits =
                    format!("{first}The {title} connection still waits for approval: [{}]({url}).", label(view));
                view.connect = Some(Connect { url, expires_at: clock::iso(end) });
                waits
            }
        },
    }
}

/// Whether the person said no to opening the page; whatever else a client sends, or nothing, is no such answer.
fn has_declined(responses: Option<&Value>) -> bool {
    let action = responses.and_then(|responses| responses[APPROVE]["action"].as_str());
    matches!(action, Some("decline" | "cancel"))
}

/// SHA-256 of the arguments, whatever the order of their members.
fn digest(arguments: &Value) -> String {
    sha256_hex(ordered(arguments).to_string())
}

fn ordered(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let sorted: std::collections::BTreeMap<&String, Value> =
                members.iter().map(|(name, value)| (name, ordered(value))).collect();
            json!(sorted)
        }
        Value::Array(items) => items.iter().map(ordered).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

/// What the client shows the person before it opens the page: nothing in it can change how it reads.
fn message(context: &Context, view: &View) -> String {
    let text = format!(
        "Open the page to approve the {} connection for the org {}. Sign in as {}. The page works for ten minutes.",
        view.title,
        context.org(),
        context.caller.name(),
    );
    let is_odd = |sign: &char| {
        sign.is_control()
            || matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|sign| !is_odd(sign)).take(MAX_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{digest, has_declined};

    #[test]
    fn the_order_of_members_is_no_other_call() {
        let one = json!({ "name": "desk", "entry": { "url": "https://a.test/", "allowed": ["x", "y"] } });
        let same = json!({ "entry": { "allowed": ["x", "y"], "url": "https://a.test/" }, "name": "desk" });
        assert_eq!(digest(&one), digest(&same));
        let other = json!({ "entry": { "allowed": ["y", "x"], "url": "https://a.test/" }, "name": "desk" });
        assert_ne!(digest(&one), digest(&other), "the order of a list is");
    }

    #[test]
    fn only_a_no_is_a_no() {
        for (responses, declined) in [
            (json!({ "approve": { "action": "decline" } }), true),
            (json!({ "approve": { "action": "cancel" } }), true),
            (json!({ "approve": { "action": "accept" } }), false),
            (json!({ "approve": "decline" }), false),
            (json!({ "other": { "action": "decline" } }), false),
            (json!({}), false),
        ] {
            assert_eq!(has_declined(Some(&responses)), declined, "{responses}");
        }
        assert!(!has_declined(None));
    }
}
