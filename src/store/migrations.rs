//! One sequence of migrations for both databases, embedded, forward only.

use super::Pool;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("./migrations");

/// Applies what is missing; servers that start together take turns by the database's own lock.
pub(super) async fn run(pool: &Pool) -> Result<(), sqlx::migrate::MigrateError> {
    match pool {
        Pool::Sqlite(pool) => MIGRATIONS.run(pool).await,
        Pool::Postgres(pool) => MIGRATIONS.run(pool).await,
    }
}
