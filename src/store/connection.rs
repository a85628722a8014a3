//! The connection of a write in progress, and what travels on it together.
//!
//! Each statement is a way to the database and back: to SQLite's thread, or over the network to PostgreSQL. So on SQLite a
//! transaction begins with the first statement of its work, and on both the last [`Statement`], whose outcome nobody looks
//! at, goes along with the end where that can be.

use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::{SqliteArguments, SqliteQueryResult, SqliteRow, SqliteStatement, SqliteTypeInfo};
use sqlx::{
    Arguments, AssertSqlSafe, Describe, Either, Encode, Execute, Executor, Postgres, SqlStr, Sqlite, SqliteConnection,
    Type,
};

/// The connection of a write in progress.
pub struct Connection {
    /// Whose it is; for [`crate::on_connection!`].
    pub on: On,
    last: Option<Statement>,
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
        Self { on: On::Sqlite(SqliteWrite { connection, begun: Begun::Yes }), last: None }
    }

    pub(super) fn postgres(connection: PoolConnection<Postgres>) -> Self {
        Self { on: On::Postgres(connection), last: None }
    }

    /// Leaves `statement` to the end of the write; one that was left there before is made now.
    ///
    /// # Errors
    /// That of the earlier statement. One of this statement undoes the write and is told to whoever asked for it.
    pub(crate) async fn leave_to_end(&mut self, statement: Statement) -> Result<(), sqlx::Error> {
        let earlier = self.last.replace(statement);
        self.make(earlier, "").await
    }

    /// Makes the statement left to the end, if there is one.
    pub(super) async fn make_last(&mut self) -> Result<(), sqlx::Error> {
        let last = self.last.take();
        self.make(last, "").await
    }

    /// Makes the statement left to the end, and then `words`, which are whole statements.
    pub(super) async fn end(&mut self, words: &'static str) -> Result<(), sqlx::Error> {
        let last = self.last.take();
        self.make(last, words).await
    }

    /// Forgets the statement left to the end, because its work failed.
    pub(super) fn forget_last(&mut self) {
        self.last = None;
    }

    async fn make(&mut self, statement: Option<Statement>, words: &'static str) -> Result<(), sqlx::Error> {
        match &mut self.on {
            On::Sqlite(write) => {
                let statement = statement.unwrap_or_default();
                if statement.sql.is_empty() && (words.is_empty() || write.is_untouched()) {
                    return Ok(());
                }
                let arguments = statement.arguments::<SqliteArguments>()?;
                let sql = match (statement.sql.as_str(), words) {
                    ("", words) => words.to_owned(),
                    (sql, "") => sql.to_owned(),
                    (sql, words) => format!("{sql}; {words}"),
                };
                sqlx::query_with(AssertSqlSafe(sql), arguments).execute(write).await?;
            }
            On::Postgres(connection) => {
                // Values and several statements do not go together there.
                if let Some(statement) = statement {
                    let arguments = statement.arguments::<PgArguments>()?;
                    sqlx::query_with(AssertSqlSafe(statement.sql), arguments).execute(&mut **connection).await?;
                }
                if !words.is_empty() {
                    sqlx::raw_sql(words).execute(&mut **connection).await?;
                }
            }
        }
        Ok(())
    }
}

/// A statement put together at run time, of our own words and bound values.
#[derive(Debug, Default)]
pub struct Statement {
    sql: String,
    values: Vec<Value>,
}

#[derive(Debug)]
enum Value {
    Text(Option<String>),
    Number(i64),
}

impl Statement {
    /// One that begins with these words.
    pub fn new(words: &'static str) -> Self {
        Self { sql: words.to_owned(), values: Vec::new() }
    }

    /// Adds words; what others say is never among them.
    pub fn push(&mut self, words: &str) {
        self.sql.push_str(words);
    }

    /// Binds a text; gives the number of its parameter.
    pub fn text(&mut self, value: impl Into<Option<String>>) -> usize {
        self.values.push(Value::Text(value.into()));
        self.values.len()
    }

    /// Binds a number; gives the number of its parameter.
    pub fn number(&mut self, value: i64) -> usize {
        self.values.push(Value::Number(value));
        self.values.len()
    }

    fn arguments<A>(&self) -> Result<A, sqlx::Error>
    where
        A: Arguments + Default,
        Option<String>: for<'q> Encode<'q, A::Database> + Type<A::Database>,
        i64: for<'q> Encode<'q, A::Database> + Type<A::Database>,
    {
        let mut arguments = A::default();
        for value in &self.values {
            match value {
                Value::Text(text) => arguments.add(text.clone()),
                Value::Number(number) => arguments.add(*number),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        Ok(arguments)
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
