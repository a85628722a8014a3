//! The connection of a write in progress, and what travels on it together.
//!
//! Each statement is a way to the database and back: to SQLite's thread, or over the network to PostgreSQL. So on SQLite a
//! transaction begins with the first statement of its work, and a [`Statement`] whose rows nobody looks at is left to the
//! end and goes along with it. A write may also be decided there: the rest counts only where its first statement changed a
//! row, so that on SQLite the whole transaction is one way.

use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::{SqliteArguments, SqliteQueryResult, SqliteRow, SqliteStatement, SqliteTypeInfo};
use sqlx::{AssertSqlSafe, Describe, Either, Execute, Executor, Postgres, SqlStr, Sqlite, SqliteConnection};

use super::statement::{Decision, Statement, arguments};

/// The connection of a write in progress.
pub struct Connection {
    /// Whose it is; for [`crate::on_connection!`].
    pub on: On,
    /// Statements for the end, in their order.
    left: Vec<Statement>,
    /// Of the first of them, where it decides about the others.
    decision: Option<Decision>,
}

/// The databases there are.
pub enum On {
    /// The one SQLite writer.
    Sqlite(SqliteWrite),
    /// A PostgreSQL lane.
    Postgres(PoolConnection<Postgres>),
}

impl Connection {
    pub(super) fn sqlite(connection: PoolConnection<Sqlite>) -> Self {
        Self::on(On::Sqlite(SqliteWrite { connection, begun: Begun::Yes }))
    }

    pub(super) fn postgres(connection: PoolConnection<Postgres>) -> Self {
        Self::on(On::Postgres(connection))
    }

    fn on(on: On) -> Self {
        Self { on, left: Vec::new(), decision: None }
    }

    /// A statement that begins with these words, to be left to the end next.
    pub(crate) fn statement(&self, words: &'static str) -> Statement {
        let together = matches!(self.on, On::Sqlite(_)) && self.decision.is_some();
        let before = if together { self.left.iter().map(Statement::values).sum() } else { 0 };
        Statement::new(words, before)
    }

    /// The condition each row of a statement has that is left after one that decides. Only SQLite needs it told.
    pub(crate) fn condition(&self) -> &'static str {
        match (&self.on, &self.decision) {
            (On::Sqlite(_), Some(_)) => " WHERE changes() > 0",
            _ => "",
        }
    }

    /// Leaves `statement` to the end of the write. One that was left there before is made now, unless it decides.
    ///
    /// # Errors
    /// That of the earlier statement. One of this statement undoes the write and is told to whoever asked for it.
    pub(crate) async fn leave_to_end(&mut self, statement: Statement) -> Result<(), sqlx::Error> {
        if self.decision.is_none() {
            self.make_left("").await?;
        }
        self.left.push(statement);
        Ok(())
    }

    /// Leaves `statement` to the end of the write and makes it decide: what is left after it is made only where it changes
    /// a row. What the work changed before stands in either case; after it, it may change things by
    /// [`Self::leave_to_end`] alone.
    ///
    /// # Errors
    /// As [`Self::leave_to_end`].
    pub(crate) async fn leave_to_decide(&mut self, statement: Statement) -> Result<Decision, sqlx::Error> {
        self.leave_to_end(statement).await?;
        Ok(self.decision.insert(Decision::default()).clone())
    }

    /// Makes what was left to the end.
    pub(super) async fn make_last(&mut self) -> Result<(), sqlx::Error> {
        self.make_left("").await
    }

    /// Makes what was left to the end, and then `words`, which are whole statements.
    pub(super) async fn end(&mut self, words: &'static str) -> Result<(), sqlx::Error> {
        self.make_left(words).await
    }

    /// Forgets what was left to the end, because its work failed.
    pub(super) fn forget_left(&mut self) {
        self.left.clear();
        self.decision = None;
    }

    async fn make_left(&mut self, words: &'static str) -> Result<(), sqlx::Error> {
        let (left, decision) = (std::mem::take(&mut self.left), self.decision.take());
        match &mut self.on {
            On::Sqlite(write) => write.make(&left, decision, words).await,
            On::Postgres(connection) => {
                // Values and several statements do not go together there.
                for (at, statement) in left.iter().enumerate() {
                    let values = arguments::<PgArguments>([statement])?;
                    let sql = AssertSqlSafe(statement.sql().to_owned());
                    let done = sqlx::query_with(sql, values).execute(&mut **connection).await?;
                    if let (0, Some(decision)) = (at, &decision) {
                        decision.is(done.rows_affected() > 0);
                        if !decision.stands() {
                            break;
                        }
                    }
                }
                if !words.is_empty() {
                    sqlx::raw_sql(words).execute(&mut **connection).await?;
                }
                Ok(())
            }
        }
    }
}

/// The SQLite writer's connection: what begins a transaction goes along with the first statement.
#[derive(Debug)]
pub struct SqliteWrite {
    connection: PoolConnection<Sqlite>,
    begun: Begun,
}

#[derive(Debug)]
enum Begun {
    /// These words go before the next statement.
    NotYet(&'static str),
    Yes,
    /// SQLite refused to begin: nothing may run on the connection as if it had.
    Failed,
}

impl SqliteWrite {
    /// Begins with `words` when there is a first statement.
    pub(super) fn begin_with(&mut self, words: &'static str) {
        self.begun = Begun::NotYet(words);
    }

    /// Makes statements and then `words` in one way; says of the first statement whether it changed a row.
    async fn make(
        &mut self,
        statements: &[Statement],
        decision: Option<Decision>,
        words: &'static str,
    ) -> Result<(), sqlx::Error> {
        if statements.is_empty() && (words.is_empty() || self.is_untouched()) {
            return Ok(());
        }
        let values = arguments::<SqliteArguments>(statements)?;
        let parts: Vec<&str> =
            statements.iter().map(Statement::sql).chain((!words.is_empty()).then_some(words)).collect();
        let mut made = self.fetch_many(sqlx::query_with(AssertSqlSafe(parts.join("; ")), values));
        let mut decision = decision;
        while let Some(found) = made.try_next().await? {
            if let (Either::Left(done), Some(decision)) = (found, decision.take()) {
                decision.is(done.rows_affected() > 0);
            }
        }
        Ok(())
    }

    /// Whether nothing ran since the beginning, so that there is nothing to end.
    fn is_untouched(&self) -> bool {
        matches!(self.begun, Begun::NotYet(_))
    }

    pub(super) async fn close(self) -> Result<(), sqlx::Error> {
        self.connection.close().await
    }

    /// Whether SQLite refused to begin.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.begun, Begun::Failed)
    }
}

type Rows<'e> = BoxStream<'e, Result<Either<SqliteQueryResult, SqliteRow>, sqlx::Error>>;

impl<'c> Executor<'c> for &'c mut SqliteWrite {
    type Database = Sqlite;

    fn fetch_many<'e, 'q: 'e, E>(self, mut query: E) -> Rows<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let SqliteWrite { connection, begun } = self;
        let connection: &mut SqliteConnection = connection;
        let words = match begun {
            Begun::NotYet(words) => *words,
            Begun::Yes => return connection.fetch_many(query),
            Begun::Failed => return failed(not_begun()),
        };
        let arguments = match query.take_arguments() {
            Ok(arguments) => arguments.unwrap_or_default(),
            Err(error) => return failed(sqlx::Error::Encode(error)),
        };
        let persistent = query.persistent();
        let sql = AssertSqlSafe(format!("{words}; {}", query.sql().as_str()));
        // Until SQLite has said that it began.
        *begun = Begun::Failed;
        let mut beginning = words.split(';').count();
        let found = connection.fetch_many(sqlx::query_with(sql, arguments).persistent(persistent));
        let own = found.filter_map(move |found| {
            let of_beginning = beginning > 0;
            match &found {
                Ok(Either::Left(_)) if of_beginning => {
                    beginning -= 1;
                    if beginning == 0 {
                        *begun = Begun::Yes;
                    }
                }
                Err(error) if of_beginning => tracing::warn!(%error, "SQLite did not begin a transaction"),
                _ => return future::ready(Some(found)),
            }
            future::ready(found.is_err().then_some(found))
        });
        own.boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<SqliteRow>, sqlx::Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let rows = self.fetch_many(query).try_filter_map(|found| future::ready(Ok(found.right())));
        Box::pin(async move { std::pin::pin!(rows).try_next().await })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [SqliteTypeInfo],
    ) -> BoxFuture<'e, Result<SqliteStatement, sqlx::Error>>
    where
        'c: 'e,
    {
        self.connection.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Sqlite>, sqlx::Error>>
    where
        'c: 'e,
    {
        self.connection.describe(sql)
    }
}

pub(super) fn not_begun() -> sqlx::Error {
    sqlx::Error::Protocol("the transaction was not begun".into())
}

fn failed<'e>(error: sqlx::Error) -> Rows<'e> {
    stream::once(future::ready(Err(error))).boxed()
}
