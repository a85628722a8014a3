//! An operation done for a page of ours: the checks of its route in their order, its output with its types.

use serde_json::Value;

use super::{Context, Operation, admission};
use crate::error::{Problem, Result};

/// Does `O` for the person at a page, who acts in the org of the context. A refusal is noted in the audit as it is over the
/// operation's route.
///
/// # Errors
/// As the operation's route, with the fields' names of `input` as pointers.
pub async fn perform<O: Operation>(context: Context, input: Value) -> Result<O::Output> {
    let (app, caller) = (context.app.clone(), context.caller.clone());
    let done = async {
        let entry = app.operations.iter().find(|entry| entry.declaration.id == O::DECLARATION.id);
        let entry = entry.ok_or_else(|| Problem::internal("a page's operation is not in the list"))?;
        admission::permission(entry, &caller)?;
        entry.check(&context, &input).await?;
        let input = serde_json::from_value(input).map_err(|error| Problem::invalid("", error.to_string()))?;
        O::run(context, input).await
    };
    done.await.inspect_err(|problem| app.refusals.note(&caller, O::DECLARATION.id, problem))
}
