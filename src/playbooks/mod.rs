//! Playbooks: the org's registry of them. What is inside a playbook belongs to other rooms.
//!
//! A playbook's id is for good, also after it is retired; its name and description may change.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock;
use crate::error::{Problem, Result};
use crate::identity::Caller;
use crate::ledger::{Book, Changed, Event, Ledger};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// What a playbook's id looks like: 3 to 48 lowercase letters, digits and hyphens, beginning with a letter.
pub const ID_PATTERN: &str = "^[a-z][a-z0-9-]{2,47}$";
/// The rule of a name beside its length: it is not blank.
pub const NOT_BLANK: &str = r"\S";

/// Whether `text` has the form of a playbook's id.
pub fn is_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    (3..=48).contains(&text.len())
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Whether a playbook takes commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Takes commands.
    Active,
    /// Readable, for good.
    Retired,
}

/// A playbook, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Playbook {
    /// Its id, unique in the org for good.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether it takes commands.
    pub status: Status,
    /// When it was made.
    pub created_at: String,
    /// The caller that made it.
    pub created_by: String,
    /// When it last changed.
    pub updated_at: String,
    /// When it was retired, once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Stored {
    id: String,
    name: String,
    description: String,
    status: String,
    created_at: i64,
    created_by: String,
    updated_at: i64,
    retired_at: Option<i64>,
}

impl From<Stored> for Playbook {
    fn from(row: Stored) -> Self {
        Self {
            id: row.id,
            name: row.name,
            description: row.description,
            status: if row.status == "retired" { Status::Retired } else { Status::Active },
            created_at: clock::iso(row.created_at),
            created_by: row.created_by,
            updated_at: clock::iso(row.updated_at),
            retired_at: row.retired_at.map(clock::iso),
        }
    }
}

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, description, status, created_at, created_by, updated_at, retired_at FROM playbooks ",
            $rest
        )
    };
}

const ONE: &str = columns!("WHERE org = $1 AND id = $2");
const ALL: &str = columns!("WHERE org = $1 AND (status = 'active' OR $2) ORDER BY id");
const INSERT: &str = "INSERT INTO playbooks (org, id, name, description, status, created_at, created_by, updated_at) \
     VALUES ($1, $2, $3, $4, 'active', $5, $6, $5) ON CONFLICT (org, id) DO NOTHING";
const UPDATE: &str = "UPDATE playbooks SET name = $3, description = $4, updated_at = $5 WHERE org = $1 AND id = $2";
const RETIRE: &str =
    "UPDATE playbooks SET status = 'retired', updated_at = $3, retired_at = $3 WHERE org = $1 AND id = $2";

/// One playbook of the org, retired or not.
pub async fn find(ledger: &Ledger, org: &str, id: &str) -> Result<Option<Playbook>> {
    let read = async {
        let row = on_pool!(ledger.store(), pool => sqlx::query_as::<_, Stored>(ONE)
            .bind(org).bind(id).fetch_optional(pool).await)?;
        Ok(row.map(Playbook::from))
    };
    Ok((*ledger.kept(org, Book::Registry, id, read).await?).clone())
}

/// The org's playbooks by id.
pub async fn list(ledger: &Ledger, org: &str, include_retired: bool) -> Result<Vec<Playbook>> {
    let read = async {
        let rows = on_pool!(ledger.store(), pool => sqlx::query_as::<_, Stored>(ALL)
            .bind(org).bind(include_retired).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(Playbook::from).collect::<Vec<_>>())
    };
    // No id of a playbook has a space.
    let name = if include_retired { "all of them" } else { "active ones" };
    Ok((*ledger.kept(org, Book::Registry, name, read).await?).clone())
}

/// The refusal for a playbook that does not exist.
pub fn unknown() -> Problem {
    Problem::not_found("There is no such playbook. list_playbooks shows those you may use.")
}

/// The refusal of a command to a retired playbook.
pub fn retired() -> Problem {
    Problem::conflict(
        "retired",
        "The playbook is retired for good: its history stays readable, but nothing in it changes.",
    )
}

/// That a playbook is there and not retired, as a condition of a statement whose parameters `$org` and `$playbook` name
/// it: what was seen before its transaction began may have changed since.
macro_rules! is_active {
    ($org:literal, $playbook:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM playbooks WHERE org = ",
            $org,
            " AND id = ",
            $playbook,
            " AND status = 'active')"
        )
    };
}
pub(crate) use is_active;

async fn active(connection: &mut Connection, org: &str, id: &str) -> Result<Stored> {
    let row = stored(connection, org, id).await?;
    if row.status == "retired" { Err(retired()) } else { Ok(row) }
}

async fn stored(connection: &mut Connection, org: &str, id: &str) -> Result<Stored> {
    on_connection!(connection, c => sqlx::query_as::<_, Stored>(ONE).bind(org).bind(id).fetch_optional(c).await)?
        .ok_or_else(unknown)
}

/// Makes a playbook, active and empty. `taken` when the id is or ever was used.
pub async fn create(
    ledger: &Ledger,
    caller: &Caller,
    now_ms: i64,
    id: String,
    name: String,
    description: String,
) -> Result<Playbook> {
    let (org, actor) = (caller.org.clone(), caller.actor());
    ledger
        .commit(
            &caller.org,
            Box::new(move |connection| {
                Box::pin(async move {
                    let made = on_connection!(connection, c => sqlx::query(INSERT)
                        .bind(&org).bind(&id).bind(&name).bind(&description).bind(now_ms).bind(&actor.id)
                        .execute(c).await.map(|done| done.rows_affected()))?;
                    if made == 0 {
                        return Err(Problem::conflict(
                            "taken",
                            "A playbook of this id is or was there, and an id is never used twice. Choose another.",
                        ));
                    }
                    let data = serde_json::json!({ "name": name, "description": description });
                    let event = Event::registry(&id, "playbook_created", actor.clone(), data).about(name.as_str());
                    let playbook = Stored {
                        id,
                        name,
                        description,
                        status: "active".into(),
                        created_at: now_ms,
                        created_by: actor.id,
                        updated_at: now_ms,
                        retired_at: None,
                    };
                    Ok(Changed::by(playbook.into(), event))
                })
            }),
        )
        .await
}

/// Replaces name and description; a change that changes nothing records nothing. The flag tells whether it did.
pub async fn update(
    ledger: &Ledger,
    caller: &Caller,
    now_ms: i64,
    id: String,
    name: String,
    description: String,
) -> Result<(Playbook, bool)> {
    let (org, actor) = (caller.org.clone(), caller.actor());
    ledger
        .commit(
            &caller.org,
            Box::new(move |connection| {
                Box::pin(async move {
                    let mut row = active(connection, &org, &id).await?;
                    if row.name == name && row.description == description {
                        return Ok(Changed::nothing((row.into(), false)));
                    }
                    on_connection!(connection, c => sqlx::query(UPDATE)
                        .bind(&org).bind(&id).bind(&name).bind(&description).bind(now_ms)
                        .execute(c).await.map(|_| ()))?;
                    let data = serde_json::json!({ "name": name, "description": description });
                    (row.name, row.description, row.updated_at) = (name, description, now_ms);
                    Ok(Changed::by((row.into(), true), Event::registry(&id, "playbook_updated", actor, data)))
                })
            }),
        )
        .await
}

/// Retires a playbook for good; again is the same and records nothing.
pub async fn retire(ledger: &Ledger, caller: &Caller, now_ms: i64, id: String) -> Result<Playbook> {
    let (org, actor) = (caller.org.clone(), caller.actor());
    ledger
        .commit(
            &caller.org,
            Box::new(move |connection| {
                Box::pin(async move {
                    let mut row = stored(connection, &org, &id).await?;
                    if row.status == "retired" {
                        return Ok(Changed::nothing(row.into()));
                    }
                    on_connection!(connection, c => sqlx::query(RETIRE)
                        .bind(&org).bind(&id).bind(now_ms).execute(c).await.map(|_| ()))?;
                    (row.status, row.updated_at, row.retired_at) = ("retired".into(), now_ms, Some(now_ms));
                    let event =
                        Event::registry(&id, "playbook_retired", actor, serde_json::json!({})).about(row.name.as_str());
                    Ok(Changed::by(row.into(), event))
                })
            }),
        )
        .await
}

const FORGET_ORG: &str = "DELETE FROM playbooks WHERE org = $1";

/// Forgets the registry of an org that is gone.
pub async fn forget_org(ledger: &Ledger, org: &str) -> Result<()> {
    let of = org.to_owned();
    let work: crate::store::Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            on_connection!(connection, c => sqlx::query(FORGET_ORG).bind(&of).execute(c).await.map(|_| ()))?;
            Ok(())
        })
    });
    ledger.store().housekeeping(org, "the org is gone, which its audit tells", work).await
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn an_id_is_3_to_48_lowercase_letters_digits_and_hyphens_after_a_letter() {
        for good in ["abc", "repair-shop", "a1-", &"a".repeat(48)] {
            assert!(is_id(good), "{good}");
        }
        for bad in ["", "ab", "1ab", "-ab", "Abc", "a_b", "äbc", &"a".repeat(49)] {
            assert!(!is_id(bad), "{bad}");
        }
    }
}
