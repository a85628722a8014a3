//! The day a member was last seen: no more than that is kept of when people work.

use crate::error::Result;
use crate::identity::{Changed as Row, Identity, Membership};
use crate::on_connection;
use crate::store::Work;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const SEEN: &str = "UPDATE memberships SET last_seen_at = $3 WHERE org = $1 AND person = $2 \
     AND COALESCE(last_seen_at, 0) < $3";

impl Identity {
    /// Notes that a member acts today: one write a day. What cannot be noted now is noted by the next request.
    pub(in crate::identity) async fn seen_today(&self, membership: &Membership) {
        let now = self.now_ms();
        let today = now - now.rem_euclid(DAY_MS);
        if membership.last_seen_at_ms.is_some_and(|day| day >= today) {
            return;
        }
        if let Err(problem) = self.note(membership, today).await {
            tracing::warn!(%problem, org.id = membership.org, "the day a member was seen could not be noted");
        }
        self.forget(Row::Membership(&membership.org, &membership.person));
    }

    async fn note(&self, membership: &Membership, today_ms: i64) -> Result<()> {
        let (org, person) = (membership.org.clone(), membership.person.clone());
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(SEEN)
                    .bind(&org).bind(&person).bind(today_ms).execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        let why = "that somebody was here today is nothing that happened to the org";
        self.ledger.store().housekeeping(&membership.org, why, work).await
    }
}
