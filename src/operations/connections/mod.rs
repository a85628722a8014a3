//! The operations on connections (`connections.md` 3 and 5).

mod add_again;
pub mod add_connection;
pub mod get_connection;
pub mod list_connections;
pub mod list_providers;
pub mod remove_connection;

use super::{Context, Offer};
use crate::connections::{Record, View};
use crate::error::{Problem, Result};
use crate::identity::Permission;

/// Whether a caller may add connections here at all (`connections.md` 3.1).
pub fn may_add(offer: &Offer<'_>) -> Result<()> {
    let refuse = |words: &'static str| Err(Problem::forbidden(words).challenge(None));
    if !offer.app.access.is_local() && !offer.app.access.signs_in() {
        return refuse("This server signs nobody in, so nobody could approve a connection.");
    }
    if !offer.caller.is_person() {
        return refuse("A connection is added by a person. Sign in to add one.");
    }
    if !offer.app.people_may_add() {
        return refuse("Whoever runs the server does not let people add connections.");
    }
    Ok(())
}

/// Whether the caller can add connections: it may here, and may write in the org.
pub(super) fn can_add(offer: &Offer<'_>) -> bool {
    offer.caller.may(Permission::OrgWrite) && may_add(offer).is_ok()
}

/// A connection as the caller sees it now.
pub(super) async fn view(context: &Context, record: &Record) -> View {
    let because = match record.status {
        crate::connections::Status::Removed => None,
        _ => context.app.connections.because(record).await,
    };
    record.view(because, context.now_ms())
}
