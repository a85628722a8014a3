//! One-time codes: of the set-up, of a reset, of a change of email. Their digest is kept, and the newest one counts.

use super::SERVER;
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::identity::Identity;
use crate::ids::Ids;
use crate::on_connection;
use crate::store::Connection;

/// What a code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Making the first person.
    SetUp,
    /// Setting a password.
    Reset,
    /// Taking another email.
    Email,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::SetUp => "set_up",
            Self::Reset => "reset",
            Self::Email => "email",
        }
    }

    /// How long one lives, in milliseconds.
    pub const fn life_ms(self) -> i64 {
        match self {
            Self::SetUp => 60 * 60 * 1_000,
            Self::Reset => 30 * 60 * 1_000,
            Self::Email => 24 * 60 * 60 * 1_000,
        }
    }
}

/// A code that still counts.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Code {
    /// Whose it is, `user_…`.
    pub person: Option<String>,
    /// The email it is about.
    pub email: Option<String>,
}

const FIND: &str = "SELECT person, email FROM one_time_codes WHERE digest = $1 AND kind = $2 AND expires_at > $3";
const LIVING: &str = "SELECT person, email FROM one_time_codes WHERE kind = $1 AND expires_at > $2 LIMIT 1";
const INSERT: &str = "INSERT INTO one_time_codes (digest, kind, person, email, created_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const VOID: &str = "DELETE FROM one_time_codes WHERE kind = $1 AND COALESCE(person, '') = $2";
const SPEND: &str = "DELETE FROM one_time_codes WHERE digest = $1 AND kind = $2 AND expires_at > $3";
const WRONG: &str =
    "UPDATE one_time_codes SET wrong_tries = wrong_tries + 1 WHERE kind = $1 AND expires_at > $2 RETURNING wrong_tries";
const SWEEP: &str = "DELETE FROM one_time_codes WHERE expires_at <= $1";
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A code for a link: 27 base62 characters, 160 bits.
pub fn for_link(ids: &Ids) -> String {
    ids.base62("", 27)
}

/// A code to be typed: three groups of five in Crockford's base32, 75 bits.
pub fn for_typing(ids: &Ids) -> String {
    let drawn: [u8; 15] = ids.bytes();
    let letters: Vec<char> = drawn.iter().map(|byte| char::from(CROCKFORD[usize::from(byte & 31)])).collect();
    letters.chunks(5).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// A typed code as it was made: case, spaces and look-alikes do not matter.
pub fn read_typed(text: &str) -> String {
    let letters: Vec<char> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .map(|c| match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            other => other,
        })
        .take(16)
        .collect();
    letters.chunks(5).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// Writes a code in the place of the earlier one of its kind and person, inside a commit.
pub async fn issue(
    connection: &mut Connection,
    kind: Kind,
    code: &str,
    person: Option<&str>,
    email: Option<&str>,
    now_ms: i64,
) -> Result<()> {
    void(connection, kind, person).await?;
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(sha256_hex(code)).bind(kind.word()).bind(person).bind(email).bind(now_ms).bind(now_ms + kind.life_ms())
        .execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Ends the code of a kind and person, inside a commit.
pub async fn void(connection: &mut Connection, kind: Kind, person: Option<&str>) -> Result<()> {
    on_connection!(connection, c => sqlx::query(VOID)
        .bind(kind.word()).bind(person.unwrap_or_default()).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Ends every code of a person, inside a commit that makes their account safe: a link that somebody else asked for in their
/// name must not outlive it, above all not one that gives the account another email.
pub async fn void_all(connection: &mut Connection, person: &str) -> Result<()> {
    for kind in [Kind::Reset, Kind::Email] {
        void(connection, kind, Some(person)).await?;
    }
    Ok(())
}

/// A code that still counts, inside a commit.
pub async fn find(connection: &mut Connection, kind: Kind, code: &str, now_ms: i64) -> Result<Option<Code>> {
    Ok(on_connection!(connection, c => sqlx::query_as(FIND)
        .bind(sha256_hex(code)).bind(kind.word()).bind(now_ms).fetch_optional(c).await)?)
}

/// Whether any code of a kind still counts, inside a commit.
pub async fn is_any(connection: &mut Connection, kind: Kind, now_ms: i64) -> Result<bool> {
    let found: Option<Code> = on_connection!(connection, c => sqlx::query_as(LIVING)
        .bind(kind.word()).bind(now_ms).fetch_optional(c).await)?;
    Ok(found.is_some())
}

/// Spends a code, inside a commit; `false` when it does not count any more.
pub async fn spend(connection: &mut Connection, kind: Kind, code: &str, now_ms: i64) -> Result<bool> {
    let rows = on_connection!(connection, c => sqlx::query(SPEND)
        .bind(sha256_hex(code)).bind(kind.word()).bind(now_ms).execute(c).await.map(|done| done.rows_affected()))?;
    Ok(rows == 1)
}

/// Counts a wrong guess against the living code of a kind, inside a commit; how many there were.
pub async fn guessed_wrong(connection: &mut Connection, kind: Kind, now_ms: i64) -> Result<i64> {
    let row: Option<(i64,)> = on_connection!(connection, c => sqlx::query_as(WRONG)
        .bind(kind.word()).bind(now_ms).fetch_optional(c).await)?;
    Ok(row.map_or(0, |(tries,)| tries))
}

impl Identity {
    /// Forgets codes that have ended.
    pub async fn sweep_codes(&self) -> Result<u64> {
        let now = self.clock.now_ms();
        let work: crate::store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(SWEEP)
                    .bind(now).execute(c).await.map(|done| done.rows_affected()))?;
                Ok(rows)
            })
        });
        self.ledger.store().housekeeping(SERVER, "codes that ended", work).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::SystemEntropy;

    #[test]
    fn a_typed_code_is_read_however_it_was_typed() {
        let ids = Ids::new(Arc::new(SystemEntropy));
        let code = for_typing(&ids);
        assert!(code.len() == 17 && code.split('-').all(|group| group.len() == 5), "{code}");
        let sloppy = code.to_lowercase().replace('-', " ").replace('0', "o").replace('1', "l");
        assert_eq!(read_typed(&sloppy), code);
        assert_ne!(read_typed(&format!("{code}A")), code);
        assert_eq!(for_link(&ids).len(), 27);
    }
}
