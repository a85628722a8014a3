//! Reading an org's audit: the audit's own book, and what of the registry belongs in it (`identity.md` 10).

use serde_json::Value;

use super::{Actor, Ledger, Order, Origin};
use crate::error::{Problem, Result};
use crate::{on_connection, on_pool};

/// A row of the audit.
#[derive(Debug, Clone)]
pub struct AuditRow {
    /// Its place in the org's ledger.
    pub position: i64,
    /// Its id, a UUIDv7.
    pub id: String,
    /// What it is about: `things/id`.
    pub stream: String,
    /// What was done.
    pub action: String,
    /// When, in milliseconds since the epoch.
    pub at: i64,
    /// Who.
    pub actor: Actor,
    /// The facts of the act.
    pub data: Value,
    /// What the thing was called then.
    pub target_name: Option<String>,
    /// How the request came, where there was one.
    pub origin: Option<Origin>,
}

/// What a page of the audit keeps.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Recorded at this instant or later, in milliseconds.
    pub from_ms: Option<i64>,
    /// Recorded before this instant, in milliseconds.
    pub to_ms: Option<i64>,
    /// One actor, by caller id.
    pub actor: Option<String>,
    /// These actions; all where there is none.
    pub actions: Vec<String>,
    /// One thing, by id.
    pub target: Option<String>,
    /// Only what was refused, or only what was not.
    pub refused: Option<bool>,
}

#[derive(sqlx::FromRow)]
struct Stored {
    position: i64,
    id: String,
    stream: String,
    #[sqlx(rename = "type")]
    action: String,
    at: i64,
    actor: String,
    data: String,
    target_name: Option<String>,
    origin: Option<String>,
}

impl TryFrom<Stored> for AuditRow {
    type Error = Problem;

    fn try_from(row: Stored) -> Result<Self> {
        Ok(Self {
            position: row.position,
            id: row.id,
            stream: row.stream,
            action: row.action,
            at: row.at,
            actor: serde_json::from_str(&row.actor)?,
            data: crate::json::kept(&row.data)?,
            target_name: row.target_name,
            origin: row.origin.as_deref().map(serde_json::from_str).transpose()?,
        })
    }
}

/// The actions that tell of something refused; every other one was done.
pub const REFUSED: [&str; 10] = [
    "access_refused",
    "add_refused",
    "code_reuse",
    "connection_attempt_failed",
    "connection_link_refused",
    "consent_denied",
    "limit_reached",
    "refresh_reuse",
    "setup_refused",
    "sign_in_failed",
];

macro_rules! page {
    ($compare:literal, $order:literal) => {
        concat!(
            "SELECT position, id, stream, type, at, actor, data, target_name, origin FROM events ",
            "WHERE org = $1 AND book <> 'history' ",
            "AND (book = 'audit' OR type IN ('playbook_created', 'playbook_retired', 'definition_retired')) ",
            "AND position ",
            $compare,
            " $2 AND (CAST($3 AS BIGINT) IS NULL OR at >= $3) AND (CAST($4 AS BIGINT) IS NULL OR at < $4) ",
            "AND (CAST($5 AS TEXT) IS NULL OR actor_id = $5) ",
            // A list of words between commas; no word holds one.
            "AND (CAST($6 AS TEXT) IS NULL OR $6 LIKE '%,' || type || ',%') ",
            "AND (CAST($7 AS TEXT) IS NULL OR SUBSTR(stream, LENGTH(stream) - LENGTH($7)) = '/' || $7) ",
            "AND (CAST($8 AS TEXT) IS NULL OR $8 = CASE WHEN type IN ('access_refused', 'add_refused', 'code_reuse', ",
            "'connection_attempt_failed', 'connection_link_refused', 'consent_denied', 'limit_reached', ",
            "'refresh_reuse', 'setup_refused', 'sign_in_failed') THEN 'refused' ELSE 'ok' END) ",
            "ORDER BY position ",
            $order,
            " LIMIT $9"
        )
    };
}

const NEWEST_FIRST: &str = page!("<", "DESC");
const OLDEST_FIRST: &str = page!(">", "ASC");
/// The newest event of an org stays, whatever its age: the next one's position follows it.
const AGED: &str = "DELETE FROM events WHERE org = $1 AND book = 'audit' AND at < $2 \
     AND position < (SELECT MAX(position) FROM events WHERE org = $1) \
     AND position IN (SELECT position FROM events WHERE org = $1 AND book = 'audit' AND at < $2 ORDER BY position LIMIT $3)";
const ORGS_WITH_AGED: &str =
    "SELECT DISTINCT org FROM events WHERE book = 'audit' AND at < $1 AND org > $2 ORDER BY org LIMIT 100";
/// How many rows go in one commit.
const BATCH: i64 = 500;

impl AuditRow {
    /// Whether it tells of something refused.
    pub fn is_refused(&self) -> bool {
        REFUSED.contains(&self.action.as_str())
    }

    /// The word of the things it is about, and the id of the one.
    pub fn target(&self) -> (&str, &str) {
        self.stream.split_once('/').unwrap_or((&self.stream, ""))
    }
}

impl Ledger {
    /// At most `limit` rows of the org's audit beyond `from` (a position, exclusive; `None` begins).
    pub async fn audit(
        &self,
        org: &str,
        filter: &AuditFilter,
        order: Order,
        from: Option<i64>,
        limit: i64,
    ) -> Result<Vec<AuditRow>> {
        let (sql, start) = match order {
            Order::Asc => (OLDEST_FIRST, 0),
            Order::Desc => (NEWEST_FIRST, i64::MAX),
        };
        let actions = (!filter.actions.is_empty()).then(|| format!(",{},", filter.actions.join(",")));
        let result = filter.refused.map(|refused| if refused { "refused" } else { "ok" });
        let rows: Vec<Stored> = on_pool!(self.store(), pool => sqlx::query_as(sql)
            .bind(org)
            .bind(from.unwrap_or(start))
            .bind(filter.from_ms)
            .bind(filter.to_ms)
            .bind(&filter.actor)
            .bind(&actions)
            .bind(&filter.target)
            .bind(result)
            .bind(limit)
            .fetch_all(pool)
            .await)?;
        rows.into_iter().map(AuditRow::try_from).collect()
    }

    /// Forgets the audit's rows from before `before_ms`, of every org, a batch at a time; how many went.
    pub async fn forget_audit(&self, before_ms: i64) -> Result<u64> {
        let (mut gone, mut after) = (0, None::<String>);
        loop {
            // The server's own rows are of the org "", which comes first.
            let found: Vec<(String,)> = match &after {
                None => vec![(String::new(),)],
                Some(after) => on_pool!(self.store(), pool => sqlx::query_as(ORGS_WITH_AGED)
                    .bind(before_ms).bind(after).fetch_all(pool).await)?,
            };
            let Some((last,)) = found.last() else { return Ok(gone) };
            after = Some(last.clone());
            for (org,) in found {
                while let Some(rows) = Some(self.forget_batch(&org, before_ms).await?).filter(|rows| *rows > 0) {
                    gone += rows;
                }
            }
        }
    }

    async fn forget_batch(&self, org: &str, before_ms: i64) -> Result<u64> {
        let of = org.to_owned();
        let why = "rows of the audit are kept for as long as the operator says and no longer";
        let work: crate::store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(AGED)
                    .bind(&of).bind(before_ms).bind(BATCH).execute(c).await.map(|done| done.rows_affected()))?;
                Ok(rows)
            })
        });
        self.store().housekeeping(org, why, work).await
    }
}

const FORGOTTEN: &str = "DELETE FROM events WHERE org = $1 AND book <> 'audit' AND position IN \
     (SELECT position FROM events WHERE org = $1 AND book <> 'audit' ORDER BY position LIMIT $2)";

impl Ledger {
    /// Forgets the history and the registry of an org that is gone, a batch at a time; its audit, whose last row says that
    /// it is gone, stays for its time.
    pub async fn forget_org(&self, org: &str) -> Result<()> {
        loop {
            let of = org.to_owned();
            let work: crate::store::Work<u64> = Box::new(move |connection| {
                Box::pin(async move {
                    let rows = on_connection!(connection, c => sqlx::query(FORGOTTEN)
                        .bind(&of).bind(BATCH).execute(c).await.map(|done| done.rows_affected()))?;
                    Ok(rows)
                })
            });
            if self.store().housekeeping(org, "the org is gone, which its audit tells", work).await? == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statement_and_the_list_name_the_same_refusals() {
        for sql in [NEWEST_FIRST, OLDEST_FIRST] {
            let named = sql.split("CASE WHEN type IN (").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
            let words: Vec<&str> = named.split(", ").map(|word| word.trim_matches('\'')).collect();
            assert_eq!(words, REFUSED);
        }
    }
}
