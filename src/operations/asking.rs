//! Operations that ask the person something through their client before the call is over (revision 2026-07-28 of MCP,
//! multi round-trip requests). What is asked rides along with a whole answer, so that a client that asks nobody loses
//! nothing.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Answer, Context, Entry, Operation};
use crate::error::{Problem, Result};

/// What the client is to do, and what it gives back with the answers.
pub struct Question {
    /// Each request under a key of its own.
    pub requests: Value,
    /// Sealed by whoever asks: it comes back from the client's hand.
    pub state: String,
}

/// A call that comes again.
pub struct Brought {
    /// The arguments, which must be those of the first call.
    pub arguments: Value,
    /// The answers by their keys; none where the client sent none.
    pub responses: Option<Value>,
    /// The state.
    pub state: String,
}

/// An operation that asks.
pub trait Asking: Operation {
    /// What is asked, once the operation is done with these arguments.
    ///
    /// # Errors
    /// When the state cannot be sealed.
    fn question(context: &Context, arguments: &Value, output: &Self::Output) -> Result<Question>;

    /// The call again: as things stand now, in words too. `None` where the state is not one that was given to this caller
    /// for this call.
    fn again(context: Context, brought: Brought)
    -> impl Future<Output = Result<Option<(Self::Output, String)>>> + Send;
}

type First = fn(Context, Value) -> BoxFuture<'static, Result<(Answer, Question)>>;
type Again = fn(Context, Brought) -> BoxFuture<'static, Result<Option<Answer>>>;

/// The two calls of an operation that asks, with its types taken away.
#[derive(Clone, Copy)]
pub(super) struct Asks {
    first: First,
    again: Again,
}

impl Entry {
    /// The entry of an operation that asks.
    pub(super) fn asking<O: Asking>() -> Self {
        let asks = Asks {
            first: |context, input| first::<O>(context, input).boxed(),
            again: |context, brought| again::<O>(context, brought).boxed(),
        };
        let mut entry = Self::of::<O>();
        entry.asks = Some(asks);
        entry
    }

    /// Runs the operation as [`Entry::run`] does, with what it asks of a client that can be asked.
    ///
    /// # Errors
    /// As the operation.
    pub async fn run_asking(&self, context: Context, input: Value) -> Result<(Answer, Option<Question>)> {
        let Some(asks) = self.asks else { return Ok((self.run(context, input).await?, None)) };
        self.check(&context, &input).await?;
        let (answer, question) = (asks.first)(context, input).await?;
        Ok((answer, Some(question)))
    }

    /// Takes up a call that comes again; `None` where nothing was asked in it.
    ///
    /// # Errors
    /// As the operation.
    pub async fn run_again(&self, context: Context, brought: Brought) -> Result<Option<Answer>> {
        match self.asks {
            Some(asks) => (asks.again)(context, brought).await,
            None => Ok(None),
        }
    }
}

async fn first<O: Asking>(context: Context, arguments: Value) -> Result<(Answer, Question)> {
    let input = serde_json::from_value(arguments.clone()).map_err(|error| Problem::invalid("", error.to_string()))?;
    let output = O::run(context.clone(), input).await?;
    let question = O::question(&context, &arguments, &output)?;
    Ok((Answer::of::<O>(&context, &output)?, question))
}

async fn again<O: Asking>(context: Context, brought: Brought) -> Result<Option<Answer>> {
    let Some((output, summary)) = O::again(context.clone(), brought).await? else { return Ok(None) };
    Ok(Some(Answer { summary, ..Answer::of::<O>(&context, &output)? }))
}
