//! What a membership leaves behind when it ends: what the person held in the org ends in the same commit, so that nothing
//! of it works once the membership is gone; other servers see it within the age of their rows (`identity.md` 1.4).

use crate::error::Result;
use crate::identity::invitations::sending::revoke_beyond;
use crate::identity::keys;
use crate::identity::oauth::grants::{Because, revoke_grants_in};
use crate::ledger::{Actor, Event};
use crate::store::Connection;

/// When the last access token of a grant that is revoked now has ended, whatever the server's setting: an hour and the
/// skew of clocks.
pub const TOKENS_END_MS: i64 = 61 * 60 * 1_000;

/// Ends what a person held in an org, inside the commit that ends the membership; the events say what ended. Each kind of
/// thing a membership carries, such as a person's own keys and the grants they gave, has its line here.
pub async fn on_membership_ended(
    connection: &mut Connection,
    org: &str,
    person: &str,
    now_ms: i64,
    actor: &Actor,
) -> Result<Vec<Event>> {
    let mut events = keys::revoke_of_person(connection, org, person, now_ms, actor, "membership_ended").await?;
    let span = (now_ms, now_ms + TOKENS_END_MS);
    events.extend(revoke_grants_in(connection, org, person, actor, Because::PersonLeft, span).await?);
    events.extend(revoke_beyond(connection, org, person, None, (now_ms, actor)).await?);
    Ok(events)
}
