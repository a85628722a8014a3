//! What an operation answers, whichever way it was called.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{Context, Operation};
use crate::error::Result;

/// An operation's answer: its output, written once, and its words.
pub struct Answer {
    /// The output as JSON.
    pub output: Box<RawValue>,
    /// The output in words.
    pub summary: String,
    /// The output as Markdown, where there is one.
    pub markdown: Option<&'static str>,
    /// What the answer is in truth, where it comes a line at a time.
    pub lines: Option<Lines>,
    /// What the browser keeps, beside the output.
    pub browser_keeps: Option<BrowserSecret>,
}

/// A secret that the person's browser holds until they are back from a trip. Never printed.
#[derive(Default)]
pub struct BrowserSecret {
    /// The digest of the state the person comes back with; its cookie is named by it.
    pub of: String,
    /// The secret.
    pub value: Zeroizing<String>,
    /// How long it is held, in seconds.
    pub for_s: i64,
}

/// An answer of any length: JSON Lines, as they are read.
pub type Lines = BoxStream<'static, Result<Bytes>>;

impl Answer {
    /// An output and its words.
    pub(super) fn of<O: Operation>(context: &Context, output: &O::Output) -> Result<Self> {
        Ok(Self {
            lines: None,
            browser_keeps: None,
            summary: O::summary(context, output),
            markdown: O::markdown(output),
            output: serde_json::value::to_raw_value(output)?,
        })
    }
}
