//! Statements put together at run time, and those a write leaves to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{Arguments, Encode, Type};

/// A statement put together at run time, of our own words and bound values.
///
/// [`super::Connection::statement`] begins one that is to be left to the end of a write.
#[derive(Debug, Default)]
pub struct Statement {
    sql: String,
    values: Vec<Value>,
    /// Values of statements before it that travel with it, and so are counted first.
    before: usize,
}

#[derive(Debug)]
enum Value {
    Text(Option<String>),
    Number(i64),
    Truth(bool),
}

impl Statement {
    pub(super) fn new(words: &'static str, before: usize) -> Self {
        Self { sql: words.to_owned(), values: Vec::new(), before }
    }

    /// Adds words; what others say is never among them.
    pub fn push(&mut self, words: &str) {
        self.sql.push_str(words);
    }

    /// Binds a text; gives the number of its parameter.
    pub fn text(&mut self, value: impl Into<Option<String>>) -> usize {
        self.bind(Value::Text(value.into()))
    }

    /// Binds a number; gives the number of its parameter.
    pub fn number(&mut self, value: i64) -> usize {
        self.bind(Value::Number(value))
    }

    /// Binds what is true or false; gives the number of its parameter.
    pub fn truth(&mut self, value: bool) -> usize {
        self.bind(Value::Truth(value))
    }

    fn bind(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.before + self.values.len()
    }

    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    pub(super) fn values(&self) -> usize {
        self.values.len()
    }
}

/// The values of several statements, one after the other.
pub(super) fn arguments<'s, A>(statements: impl IntoIterator<Item = &'s Statement>) -> Result<A, sqlx::Error>
where
    A: Arguments + Default,
    Option<String>: for<'q> Encode<'q, A::Database> + Type<A::Database>,
    i64: for<'q> Encode<'q, A::Database> + Type<A::Database>,
    bool: for<'q> Encode<'q, A::Database> + Type<A::Database>,
{
    let mut arguments = A::default();
    for value in statements.into_iter().flat_map(|statement| &statement.values) {
        match value {
            Value::Text(text) => arguments.add(text.clone()),
            Value::Number(number) => arguments.add(*number),
            Value::Truth(truth) => arguments.add(*truth),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// Whether the statement that decides a write changed a row; known once the write stands.
#[derive(Debug, Clone, Default)]
pub struct Decision(Arc<AtomicBool>);

impl Decision {
    /// Whether it did, and so the write stands with everything that was left after it.
    pub fn stands(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn is(&self, changed: bool) {
        self.0.store(changed, Ordering::Release);
    }
}
