//! What a fault of the database is to a caller.

use super::Problem;

impl From<sqlx::Error> for Problem {
    /// A database that is away, or that asks for the same again, is no fault of ours: the caller may try again.
    fn from(error: sqlx::Error) -> Self {
        if !passes(&error) {
            return Self::internal(error);
        }
        tracing::warn!(%error, "the database does not answer just now");
        let mut problem = Self::unavailable("The database does not answer just now.");
        problem.0.source = Some(error.into());
        problem
    }
}

/// Whether an error of the database may pass: it cannot be reached, or one of PostgreSQL's classes for that.
fn passes(error: &sqlx::Error) -> bool {
    const CODES: [&str; 6] = ["57P01", "57P02", "57P03", "53300", "40001", "40P01"];
    match error {
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Io(_) | sqlx::Error::Tls(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| CODES.contains(&code.as_ref())),
        _ => false,
    }
}
