//! People: one account for the whole server, whatever orgs they belong to; who they are is proved by an identity, a pair
//! of issuer and subject (RFC 8725, section 3.11), and never by an email alone.

use super::Identity;
use crate::error::{Problem, Result};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// What shows in the place of somebody who deleted their account.
pub const DELETED: &str = "deleted person";

/// Whether an account can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It can.
    Active,
    /// The operator stopped it; it can be allowed again.
    Disabled,
    /// Its person ended it: name and email are gone, the id stays.
    Deleted,
}

impl Status {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Deleted => "deleted",
        }
    }
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// `user_…`.
    pub id: String,
    /// 1 to 100 characters.
    pub name: String,
    /// In lower case, unique among people; none for a person of an issuer that tells none.
    pub email: Option<String>,
    /// When the email was proved, in milliseconds since the epoch.
    pub email_verified_at_ms: Option<i64>,
    /// Whether the account can be used.
    pub status: Status,
    /// In milliseconds since the epoch.
    pub created_at_ms: i64,
    /// When name and email were last taken from an issuer.
    pub refreshed_at_ms: i64,
}

impl Person {
    /// The caller id, `person:user_…`.
    pub fn caller_id(&self) -> String {
        format!("{}{}", super::caller::PERSON, self.id)
    }

    /// Whether the account can be used.
    pub fn is_active(&self) -> bool {
        self.status == Status::Active
    }
}

#[derive(sqlx::FromRow)]
struct Stored {
    id: String,
    name: String,
    email: Option<String>,
    email_verified_at: Option<i64>,
    status: String,
    created_at: i64,
    refreshed_at: i64,
}

impl From<Stored> for Person {
    fn from(row: Stored) -> Self {
        let status = match row.status.as_str() {
            "active" => Status::Active,
            "disabled" => Status::Disabled,
            _ => Status::Deleted,
        };
        let name = if status == Status::Deleted { DELETED.to_owned() } else { row.name };
        Self {
            id: row.id,
            name,
            email: row.email,
            email_verified_at_ms: row.email_verified_at,
            status,
            created_at_ms: row.created_at,
            refreshed_at_ms: row.refreshed_at,
        }
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.name, p.email, p.email_verified_at, p.status, p.created_at, p.refreshed_at FROM people p ",
            $rest
        )
    };
}

const ONE: &str = select!("WHERE p.id = $1");
const BY_EMAIL: &str = select!("WHERE p.email = $1");
const BY_IDENTITY: &str = select!("JOIN identities i ON i.person = p.id WHERE i.issuer = $1 AND i.subject = $2");
const ANY: &str = "SELECT id FROM people LIMIT 1";
const INSERT: &str = "INSERT INTO people (id, name, email, email_verified_at, status, created_at, refreshed_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
const VERIFY: &str =
    "UPDATE people SET email_verified_at = $2 WHERE id = $1 AND status = 'active' AND email_verified_at IS NULL";
const LINK: &str = "INSERT INTO identities (issuer, subject, person, linked_at) VALUES ($1, $2, $3, $4)";

/// An email as it is kept and compared: trimmed, in lower case; `None` for what is none or too long (254 bytes).
pub fn email(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, domain) = text.rsplit_once('@')?;
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"<>(),;:\\\"[]".contains(c);
    let fits = !local.is_empty()
        && domain.contains('.')
        && !domain.starts_with('.')
        && !domain.ends_with('.')
        && !local.contains('@')
        && text.chars().all(plain);
    (fits && text.len() <= 254).then_some(text)
}

/// A person's or an org's name as it is kept: trimmed, without control characters, 1 to 100 characters.
pub fn name(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = (1..=100).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
}

/// Writes a new person, inside a commit.
///
/// # Errors
/// 409 kind `taken` when the email has an account, also one that another commit made meanwhile.
pub async fn insert(connection: &mut Connection, person: &Person) -> Result<()> {
    let rows = on_connection!(connection, c => sqlx::query(INSERT)
        .bind(&person.id)
        .bind(&person.name)
        .bind(&person.email)
        .bind(person.email_verified_at_ms)
        .bind(person.status.word())
        .bind(person.created_at_ms)
        .bind(person.refreshed_at_ms)
        .execute(c)
        .await
        .map(|done| done.rows_affected()))?;
    if rows == 1 { Ok(()) } else { Err(taken()) }
}

fn taken() -> Problem {
    Problem::conflict("taken", "This email has an account already: sign in instead.")
}

/// Lets an issuer's subject prove a person, inside a commit.
pub async fn link(connection: &mut Connection, issuer: &str, subject: &str, person: &str, now_ms: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(LINK)
        .bind(issuer)
        .bind(subject)
        .bind(person)
        .bind(now_ms)
        .execute(c)
        .await
        .map(|_| ()))?;
    Ok(())
}

/// A person as they stand, inside a commit.
pub async fn one(connection: &mut Connection, id: &str) -> Result<Option<Person>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(ONE).bind(id).fetch_optional(c).await)?;
    Ok(row.map(Person::from))
}

/// Notes that a person proved their email, inside a commit. [`Identity::forget`] the person after it.
pub async fn verify_email(connection: &mut Connection, id: &str, now_ms: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(VERIFY).bind(id).bind(now_ms).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// The person of an email, inside a commit.
pub async fn of_email(connection: &mut Connection, email: &str) -> Result<Option<Person>> {
    let row: Option<Stored> =
        on_connection!(connection, c => sqlx::query_as(BY_EMAIL).bind(email).fetch_optional(c).await)?;
    Ok(row.map(Person::from))
}

/// Whether there is anybody yet, also somebody who deleted their account, inside a commit.
pub async fn are_there_any(connection: &mut Connection) -> Result<bool> {
    let row: Option<(String,)> = on_connection!(connection, c => sqlx::query_as(ANY).fetch_optional(c).await)?;
    Ok(row.is_some())
}

/// The person an issuer's subject proves, inside a commit.
pub async fn of_subject(connection: &mut Connection, issuer: &str, subject: &str) -> Result<Option<Person>> {
    let row: Option<Stored> = on_connection!(connection, c => sqlx::query_as(BY_IDENTITY)
        .bind(issuer).bind(subject).fetch_optional(c).await)?;
    Ok(row.map(Person::from))
}

impl Identity {
    /// A person, from rows at most five seconds old.
    pub async fn person(&self, id: &str) -> Result<Option<Person>> {
        let read = async {
            let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(ONE)
                .bind(id).fetch_optional(pool).await)?;
            Ok(row.map(Person::from))
        };
        self.recent_people.get(id.to_owned(), self.clock.now_ms(), read).await
    }

    /// The person an email is of, as it stands.
    pub async fn person_of_email(&self, email: &str) -> Result<Option<Person>> {
        let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(BY_EMAIL)
            .bind(email).fetch_optional(pool).await)?;
        Ok(row.map(Person::from))
    }

    /// The person an issuer's subject proves, from rows at most five seconds old.
    pub async fn person_of_subject(&self, issuer: &str, subject: &str) -> Result<Option<Person>> {
        let read = async {
            let row: Option<Stored> = on_pool!(self.ledger.store(), pool => sqlx::query_as(BY_IDENTITY)
                .bind(issuer).bind(subject).fetch_optional(pool).await)?;
            Ok(row.map(Person::from))
        };
        let key = (issuer.to_owned(), subject.to_owned());
        self.recent_subjects.get(key, self.clock.now_ms(), read).await
    }

    /// Whether there is anybody yet, also somebody who deleted their account.
    pub async fn has_people(&self) -> Result<bool> {
        let row: Option<(String,)> =
            on_pool!(self.ledger.store(), pool => sqlx::query_as(ANY).fetch_optional(pool).await)?;
        Ok(row.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_is_kept_in_lower_case_and_what_is_none_is_refused() {
        assert_eq!(email(" Ada@Acme.test ").as_deref(), Some("ada@acme.test"));
        let long = format!("{}@acme.test", "a".repeat(250));
        for bad in
            ["", "ada", "@acme.test", "ada@", "ada@acme", "a b@acme.test", "a@b@acme.test", "a\n@acme.test", &long]
        {
            assert_eq!(email(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_name_is_trimmed_and_bounded() {
        assert_eq!(name("  Ada Lovelace ").as_deref(), Some("Ada Lovelace"));
        assert_eq!(name(&"é".repeat(100)).map(|name| name.chars().count()), Some(100));
        for bad in ["", "  ", "a\u{7}b", &"x".repeat(101)] {
            assert_eq!(name(bad), None, "{bad:?}");
        }
    }
}
