//! What nobody's request does: links that end, what nobody approved, rules that changed while the server was down.

use std::time::Duration;

use super::Connections;
use super::changes::Removal;
use super::links::REMEMBERED_MS;
use super::record::{Record, Stored};
use crate::error::Result;
use crate::ledger::Actor;
use crate::{on_connection, on_pool};

/// How often links are looked at.
const EVERY: Duration = Duration::from_secs(30);

/// How long a connection nobody approves is kept after its link's end.
const NEVER_APPROVED_MS: i64 = 7 * REMEMBERED_MS;

const DUE: &str = "SELECT org, digest, connection FROM connection_links WHERE state = 'open' AND expires_at <= $1 \
     AND (org, digest) > ($2, $3) ORDER BY org, digest LIMIT 100";
const ABANDONED: &str = "SELECT l.org, l.digest, l.connection FROM connection_links l JOIN connections c \
     ON c.org = l.org AND c.id = l.connection WHERE l.state = 'expired' AND l.expires_at <= $1 AND c.status = 'pending' \
     AND (l.org, l.digest) > ($2, $3) ORDER BY l.org, l.digest LIMIT 100";
macro_rules! of_no_use {
    ($verb:literal, $rest:literal) => {
        concat!(
            $verb,
            " FROM connection_links WHERE state <> 'open' AND expires_at <= $1 AND NOT EXISTS (SELECT 1 FROM connections c ",
            "WHERE c.org = connection_links.org AND c.id = connection_links.connection AND c.status = 'pending') ",
            $rest
        )
    };
}
const ENDED: &str = of_no_use!("SELECT DISTINCT org", "AND org > $2 ORDER BY org LIMIT 100");
const FORGET: &str = of_no_use!("DELETE", "AND org = $2");

impl Connections {
    /// Looks at every connection once, for the rules of this start, then at links every half minute until the stop.
    pub fn start_sweep(&self) {
        let (connections, stop) = (self.clone(), self.lifecycle.token().clone());
        self.lifecycle.spawn(async move {
            let looked = tokio::select! {
                looked = connections.look_at_all() => looked,
                () = stop.cancelled() => return,
            };
            if let Err(problem) = looked {
                tracing::warn!(%problem, "connections could not be checked against the rules of this start");
            }
            loop {
                if let Err(problem) = connections.sweep_links(connections.clock.now_ms()).await {
                    tracing::warn!(%problem, "links could not be looked at");
                }
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    /// Tells in the audit what the operator's rules of today refuse or allow again (T14, T15).
    pub async fn look_at_all(&self) -> Result<()> {
        let mut after = (String::new(), String::new());
        loop {
            let rows = on_pool!(self.ledger.store(), pool => sqlx::query_as::<_, Stored>(super::rows::CONNECTED)
                .bind(&after.0).bind(&after.1).fetch_all(pool).await)?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.key();
            for row in rows {
                match Record::try_from(row) {
                    // What stands against it is told in the audit, and is nothing to this sweep.
                    Ok(record) => drop(self.credential(&record).await),
                    Err(problem) => tracing::warn!(%problem, "a connection could not be read"),
                }
            }
        }
    }

    /// Marks links whose ten minutes are over, takes away what nobody approved for seven days, and forgets trips and
    /// links a day after their end. What fails is told in the log and keeps nothing else waiting.
    pub async fn sweep_links(&self, now_ms: i64) -> Result<()> {
        let mut after = <(String, String)>::default();
        while let Some(due) = self.links(DUE, now_ms, &mut after).await? {
            for (org, digest, connection) in due {
                if let Err(problem) = self.expire(&org, &digest, &connection).await {
                    tracing::warn!(%problem, connection.id = %connection, "a link could not be ended");
                }
            }
        }
        after = <(String, String)>::default();
        while let Some(abandoned) = self.links(ABANDONED, now_ms - NEVER_APPROVED_MS, &mut after).await? {
            for (org, _, connection) in abandoned {
                let removed = self.remove(&org, &connection, Actor::system(), now_ms, Removal::NeverApproved).await;
                if let Err(problem) = removed {
                    tracing::warn!(%problem, connection.id = %connection, "what nobody approved could not be removed");
                }
            }
        }
        self.forget_attempts(now_ms - REMEMBERED_MS).await?;
        self.forget_links(now_ms - REMEMBERED_MS).await
    }

    /// The next links of a selection: their org, digest and connection.
    async fn links(
        &self,
        selection: &'static str,
        until_ms: i64,
        after: &mut (String, String),
    ) -> Result<Option<Vec<(String, String, String)>>> {
        let found: Vec<(String, String, String)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(selection)
            .bind(until_ms).bind(&after.0).bind(&after.1).fetch_all(pool).await)?;
        let Some((org, digest, _)) = found.last() else { return Ok(None) };
        *after = (org.clone(), digest.clone());
        Ok(Some(found))
    }

    async fn forget_links(&self, before_ms: i64) -> Result<()> {
        let mut after = String::new();
        loop {
            let orgs: Vec<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ENDED)
                .bind(before_ms).bind(&after).fetch_all(pool).await)?;
            let Some((last,)) = orgs.last() else { return Ok(()) };
            after.clone_from(last);
            for (org,) in orgs {
                if let Err(problem) = self.forget_links_of(&org, before_ms).await {
                    tracing::warn!(%problem, org.id = %org, "ended links could not be forgotten");
                }
            }
        }
    }

    async fn forget_links_of(&self, org: &str, before_ms: i64) -> Result<()> {
        let of = org.to_owned();
        let why = "an ended link is shown for a day; what became of it stays in the audit";
        self.ledger
            .store()
            .housekeeping(
                org,
                why,
                Box::new(move |connection| {
                    Box::pin(async move {
                        on_connection!(connection, c => sqlx::query(FORGET)
                            .bind(before_ms).bind(&of).execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                }),
            )
            .await
    }
}
