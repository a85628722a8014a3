//! What is counted against guessing, in the database, so that it is exact over all servers (`identity.md` 8.4).
//!
//! An attempt is counted before it is made: guesses sent at once do not pass a bound together. Whom a count is for is
//! kept as a digest.

use super::SERVER;
use crate::digest::sha256_hex;
use crate::error::{Problem, Reason, Result};
use crate::identity::Identity;
use crate::on_connection;
use crate::store::Connection;

/// Failures of an account that cost nothing.
const FREE: i64 = 5;
/// The longest wait after a failure, in milliseconds.
const LONGEST_WAIT_MS: i64 = 15 * 60 * 1_000;
/// How long a count of failures is remembered after the last one.
const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1_000;

const READ: &str = "SELECT count, since, until FROM sign_in_counters WHERE subject = $1";
const PUT: &str = "INSERT INTO sign_in_counters (subject, count, since, until) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (subject) DO UPDATE SET count = excluded.count, since = excluded.since, until = excluded.until";
const CLEAR: &str = "DELETE FROM sign_in_counters WHERE subject = $1";
const SWEEP: &str = "DELETE FROM sign_in_counters WHERE until <= $1";

/// How many in how long.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The most.
    pub most: i64,
    /// In this many milliseconds.
    pub in_ms: i64,
}

/// Passwords tried from an address.
pub const ADDRESS: Window = Window { most: 30, in_ms: 10 * 60 * 1_000 };
/// Trips to a provider from an address, which a whole office may share.
pub const UPSTREAM: Window = Window { most: 120, in_ms: 10 * 60 * 1_000 };
/// Codes of the set-up tried from an address.
pub const SET_UP: Window = Window { most: 5, in_ms: 60 * 1_000 };
/// Codes sent to an account by mail.
pub const MAIL_ACCOUNT: Window = Window { most: 5, in_ms: 60 * 60 * 1_000 };
/// Codes asked for from an address.
pub const MAIL_ADDRESS: Window = Window { most: 20, in_ms: 60 * 60 * 1_000 };

/// Something that is counted, by the digest of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject(String);

impl Subject {
    /// What `kind` counts for `whom`.
    pub fn of(kind: &str, whom: &str) -> Self {
        Self(sha256_hex(format!("{kind}\n{whom}")))
    }
}

type Counter = (i64, i64, i64);

async fn read(connection: &mut Connection, subject: &Subject) -> Result<Option<Counter>> {
    Ok(on_connection!(connection, c => sqlx::query_as(READ).bind(&subject.0).fetch_optional(c).await)?)
}

async fn put(connection: &mut Connection, subject: &Subject, (count, since, until): Counter) -> Result<()> {
    on_connection!(connection, c => sqlx::query(PUT)
        .bind(&subject.0).bind(count).bind(since).bind(until).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// Forgets a count, inside a commit.
pub async fn clear(connection: &mut Connection, subject: &Subject) -> Result<()> {
    on_connection!(connection, c => sqlx::query(CLEAR).bind(&subject.0).execute(c).await.map(|_| ()))?;
    Ok(())
}

/// 429: when to come back.
fn wait(ms: i64) -> Problem {
    let seconds = u32::try_from((ms + 999) / 1_000).unwrap_or(u32::MAX).max(1);
    Problem::new(Reason::TooManyRequests, "Too many tries. Wait before the next one.").retry_after(seconds)
}

/// The wait after this many failures.
const fn wait_ms(failures: i64) -> i64 {
    if failures < FREE {
        return 0;
    }
    let over = failures - FREE + 1;
    if over > 10 { LONGEST_WAIT_MS } else { min((1 << over) * 1_000, LONGEST_WAIT_MS) }
}

const fn min(one: i64, other: i64) -> i64 {
    if one < other { one } else { other }
}

async fn try_account(connection: &mut Connection, subject: &Subject, now: i64) -> Result<()> {
    let (count, next) = match read(connection, subject).await? {
        Some((count, next, until)) if now < until => (count, next),
        _ => (0, now),
    };
    if now < next {
        return Err(wait(next - now));
    }
    let next = now + wait_ms(count + 1);
    put(connection, subject, (count + 1, next, next + REMEMBERED_MS)).await
}

async fn try_window(connection: &mut Connection, subject: &Subject, window: Window, now: i64) -> Result<()> {
    let (count, since) = match read(connection, subject).await? {
        Some((count, since, until)) if now < until => (count, since),
        _ => (0, now),
    };
    if count >= window.most {
        return Err(wait(since + window.in_ms - now));
    }
    put(connection, subject, (count + 1, since, since + window.in_ms)).await
}

impl Identity {
    /// Counts a try for an account, and one from an address where it counts; refused while either has to wait.
    pub async fn count_try(&self, account: Subject, address: Option<Subject>) -> Result<()> {
        let now = self.clock.now_ms();
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                if let Some(address) = address {
                    try_window(connection, &address, ADDRESS, now).await?;
                }
                try_account(connection, &account, now).await
            })
        });
        self.ledger.store().housekeeping(SERVER, "a try is told once its end is known", work).await
    }

    /// Counts a try of a code that came by a link.
    pub async fn count_code(&self, address: &str) -> Result<()> {
        self.count_in(vec![(Subject::of("code", address), ADDRESS)]).await
    }

    /// Counts an account made from an address.
    pub async fn count_sign_up(&self, address: &str) -> Result<()> {
        self.count_in(vec![(Subject::of("sign-up", address), ADDRESS)]).await
    }

    /// Counts one of what may be done so often in a while; refused once it was.
    pub async fn count_in(&self, counted: Vec<(Subject, Window)>) -> Result<()> {
        let now = self.clock.now_ms();
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                for (subject, window) in counted {
                    try_window(connection, &subject, window, now).await?;
                }
                Ok(())
            })
        });
        self.ledger.store().housekeeping(SERVER, "a try is told once its end is known", work).await
    }

    /// Forgets counts that no longer refuse anything.
    pub async fn sweep_counters(&self) -> Result<u64> {
        let now = self.clock.now_ms();
        let work: crate::store::Work<u64> = Box::new(move |connection| {
            Box::pin(async move {
                let rows = on_connection!(connection, c => sqlx::query(SWEEP)
                    .bind(now).execute(c).await.map(|done| done.rows_affected()))?;
                Ok(rows)
            })
        });
        self.ledger.store().housekeeping(SERVER, "counts that ended", work).await
    }
}

#[cfg(test)]
mod tests {
    use super::wait_ms;

    #[test]
    fn waits_double_up_to_a_quarter_of_an_hour() {
        let waits: Vec<i64> = (1..=16).map(|failures| wait_ms(failures) / 1_000).collect();
        assert_eq!(waits, [0, 0, 0, 0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
    }
}
