//! Each row of the audit as a line of the log, where the operator wants them there too (`AUDIT_LOG`).

use super::audit::REFUSED;
use super::{Book, Event, Origin, Via};
use crate::ids::Ids;

/// A row about to be told.
pub(super) struct Line {
    org: String,
    id: String,
    at_ms: i64,
    action: &'static str,
    actor: String,
    target: String,
    via: Option<Via>,
    origin: Option<Origin>,
    changes: String,
}

/// The lines of the events that belong in the audit; each gets its id here.
pub(super) fn lines(org: &str, events: &mut [Event], ids: &Ids, now_ms: i64) -> Vec<Line> {
    let audited = events.iter_mut().filter(|event| event.book == Book::Audit);
    let line = |event: &mut Event| Line {
        org: org.to_owned(),
        id: event.id.get_or_insert_with(|| ids.uuid(now_ms).to_string()).clone(),
        at_ms: now_ms,
        action: event.kind,
        actor: event.actor.id.clone(),
        target: event.stream.clone(),
        via: event.actor.origin.as_ref().map(|origin| origin.via),
        origin: event.actor.origin.as_deref().cloned(),
        changes: event.data.to_string(),
    };
    audited.map(line).collect()
}

impl Line {
    /// Writes it.
    pub(super) fn write(&self) {
        let origin = self.origin.as_ref();
        tracing::info!(
            org.id = self.org,
            audit.id = self.id,
            audit.time = crate::clock::iso(self.at_ms),
            audit.action = self.action,
            audit.actor = self.actor,
            audit.target = self.target,
            audit.result = if REFUSED.contains(&self.action) { "refused" } else { "ok" },
            audit.via = self.via.map(tracing::field::debug),
            audit.changes = self.changes,
            request.id = origin.and_then(|origin| origin.request_id.as_deref()),
            request.address = origin.and_then(|origin| origin.address.as_deref()),
            "audit"
        );
    }
}
