//! Making new tokens the connection's: by compare-and-swap on the version that was redeemed (`connections.md` 10.2,
//! steps 7 and 8).

use serde_json::json;

use super::exchange::told;
use super::keep::journal;
use super::{row, timing};
use crate::connections::changes::one;
use crate::connections::oauth::Tokens;
use crate::connections::record::{Because, Record, Status};
use crate::connections::source::Source;
use crate::connections::{Connections, Scopes, revocation};
use crate::error::Result;
use crate::ledger::{Changed, Event};
use crate::on_connection;
use crate::secrets::SecretsStore;

const PUBLISH: &str = "UPDATE connections SET credential_version = $3, expires_at = $4, scopes = $5, last_because = $6, \
     revision = revision + 1 WHERE org = $1 AND id = $2 AND credential_version = $7 AND status = 'connected'";

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// When tokens are due, and when their refresh token is lost if it is not used before.
pub(super) fn times(tokens: &Tokens, source: &Source, ids: &crate::ids::Ids) -> (Option<i64>, Option<i64>) {
    let obtained = tokens.grant.obtained_at_ms;
    let due = tokens.grant.expires_at_ms.map(|end| timing::due_at(obtained, end, source.refresh.margin, ids));
    let idle = source.refresh.idle_days.filter(|_| tokens.refresh_token.is_some());
    (due, idle.map(|days| obtained + (i64::from(days) - 1).max(0) * DAY_MS))
}

impl Connections {
    /// Makes `version`, which is in the store, the connection's. Where the connection moved on or is gone, the tokens are
    /// forgotten, and ended where nobody else has them.
    pub(super) async fn publish(&self, record: &Record, version: i64, tokens: &Tokens, source: &Source) -> Result<()> {
        let (org, id) = (record.org.clone(), record.id.clone());
        let requested = record.scopes.as_ref().map(|scopes| scopes.requested.clone()).unwrap_or_default();
        let granted = tokens.grant.scopes.clone().or_else(|| record.scopes.as_ref().map(|was| was.granted.clone()));
        let scopes = record.scopes.as_ref().map(|_| Scopes::of(&requested, granted.as_deref(), &source.required));
        let (due, lapses) = times(tokens, source, &self.ids);
        let ends = tokens.grant.expires_at_ms;
        let now = self.database_clock.now_ms().await?;
        let ending = revocation::Ending::of(&self.secrets, &self.ids, record, tokens, source, now)?;
        self.ledger
            .commit(
                &record.org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let Some(before) = one(connection, &org, &id).await? else { return Ok(Changed::nothing(())) };
                        let told_because =
                            before.last_because.clone().filter(|word| *word == Because::NotAllowed.word());
                        let text = scopes.as_ref().map(serde_json::to_string).transpose()?;
                        let swapped = on_connection!(connection, c => sqlx::query(PUBLISH)
                            .bind(&org).bind(&id).bind(version).bind(ends).bind(&text).bind(&told_because)
                            .bind(version - 1)
                            .execute(c).await.map(|done| done.rows_affected()))?;
                        SecretsStore::delete_here(connection, &org, &journal(&id)).await?;
                        if swapped == 0 {
                            if before.status == Status::Removed {
                                SecretsStore::delete(connection, &org, &id).await?;
                                return Ok(Changed::of((), revocation::insert(connection, ending).await?));
                            }
                            return Ok(Changed::nothing(()));
                        }
                        let was_failing = match row::read(connection, &org, &id).await? {
                            Some(mut renewal) => {
                                let was_failing = renewal.renewed(due, lapses);
                                row::write(connection, &org, &id, &renewal).await?;
                                was_failing
                            }
                            None => false,
                        };
                        SecretsStore::delete_before(connection, &org, &id, version - 1).await?;
                        Ok(Changed::of((), events(&before, was_failing, scopes.as_ref())))
                    })
                }),
            )
            .await
    }
}

/// What is told of a renewal: that it works again, and which scopes came or went.
fn events(before: &Record, was_failing: bool, scopes: Option<&Scopes>) -> Vec<Event> {
    let mut events = Vec::new();
    let told_down = before.last_because.as_deref().is_some_and(|word| word != Because::NotAllowed.word());
    if was_failing || told_down {
        let cause = if told_down { "provider" } else { "refresh" };
        events.push(told(before, "connection_recovered", json!({ "cause": cause })));
    }
    if let (Some(was), Some(is)) = (&before.scopes, scopes) {
        let only = |of: &Scopes, other: &Scopes| -> Vec<String> {
            of.granted.iter().filter(|scope| !other.granted.contains(scope)).cloned().collect()
        };
        let (lost, gained) = (only(was, is), only(is, was));
        if !lost.is_empty() || !gained.is_empty() {
            let facts = json!({ "lost": lost, "gained": gained });
            events.push(told(before, "connection_scopes_changed", facts));
        }
    }
    events
}
